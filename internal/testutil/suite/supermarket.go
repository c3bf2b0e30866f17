package suite

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/examples/supermarket"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// supermarketTests have the two keyspaces of a supermarket.
type supermarketTests struct {
	*Place
	keyspaces map[string]string
	customers *gocql.Session // of the keyspace customer
}

func openSupermarket(t *testing.T, shared *Place) any {
	t.Helper()
	s := supermarketTests{Place: shared.open(t, supermarket.Schema.In(map[string]string{"order_delivery": ""}))}
	customer := s.MakeKeyspace(t, 3, schema.Add(baskets.Schema, customers.Schema).In(map[string]string{"customer": ""}).
		Statements()...)
	s.customers = s.Dial(t, customer, patient)
	s.keyspaces = map[string]string{"order_delivery": s.Keyspace, "customer": customer}
	s.Map(s.keyspaces)
	return s
}

// purchase is an order that is about to be submitted.
type purchase struct {
	order  supermarket.Order
	basket baskets.Basket
	slot   slots.Slot
}

func (s supermarketTests) prepare(t *testing.T) purchase {
	t.Helper()
	// A day is a partition: transactions of purchases that run at the same time would get in each other's way.
	day := dayOf(int(rand.Int32N(1_000_000)))
	p := purchase{
		order: supermarket.Order{
			OrderID: gocql.MustRandomUUID(), SubmissionTime: time.Now().UTC().Truncate(time.Millisecond),
			DeliveryAddressKey: "home",
		},
		basket: baskets.Basket{
			CustomerID: gocql.MustRandomUUID(), Products: map[gocql.UUID]int32{
				gocql.MustRandomUUID(): 2,
				gocql.MustRandomUUID(): 1,
			},
		},
		slot: slots.Slot{DeliveryDate: day, StartTime: 9 * time.Hour, DeliveryTeamID: gocql.MustRandomUUID()},
	}
	must(t, slots.Plan(t.Context(), s.Writer, p.slot))
	until := time.Now().Add(time.Hour)
	p.slot = value(slots.Reserve(t.Context(), s.Writer, p.slot, p.basket.CustomerID, time.Now(), until))(t)
	must(t, errorOf(s.Writer.Write(t.Context(), "fillBasket", baskets.Baskets.Insert(p.basket))))
	return p
}

// seen is what readers of the four tables see.
type seen struct{ confirmed, ofCustomer, ofTeam, basket bool }

var (
	nothingSeen    = seen{basket: true}
	everythingSeen = seen{confirmed: true, ofCustomer: true, ofTeam: true}
)

func (s supermarketTests) view(t *testing.T, p purchase) (v seen) {
	t.Helper()
	must(t, s.Session.Reads().Query(
		"SELECT confirmed FROM delivery_timeslots WHERE delivery_date = ? AND start_time = ? AND delivery_team_id = ?",
		p.slot.DeliveryDate, p.slot.StartTime, p.slot.DeliveryTeamID).Consistency(gocql.Consistency(gocql.Serial)).
		Scan(&v.confirmed))
	for _, o := range all(t, supermarket.OfCustomer(t.Context(), s.Reader, p.basket.CustomerID)) {
		v.ofCustomer = o.OrderID == p.order.OrderID && len(o.Products) == 2
	}
	for _, o := range all(t, supermarket.OfTeam(t.Context(), s.Reader, p.slot.DeliveryDate, p.slot.DeliveryTeamID)) {
		v.ofTeam = o.OrderID == p.order.OrderID && len(o.Products) == 2
	}
	err := s.customers.Query("SELECT customer_id FROM basket_by_customer WHERE customer_id = ?", p.basket.CustomerID).
		Consistency(gocql.Quorum).Scan(&gocql.UUID{})
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		t.Fatal(err)
	}
	v.basket = err == nil
	return v
}

// want compares what readers see.
func (s supermarketTests) want(t *testing.T, when string, p purchase, want seen) {
	t.Helper()
	v := s.view(t, p)
	wrong(t, v != want, "%s: readers see %+v, want %+v", when, v, want)
}

func (s supermarketTests) Submit(t *testing.T) {
	p := s.prepare(t)
	s.want(t, "before", p, nothingSeen)
	result := value(supermarket.Submit(t.Context(), s.Writer, p.order, p.basket, p.slot))(t)
	s.want(t, "after ("+result.Mode.String()+")", p, everythingSeen)
	home := &customers.Address{StreetName: "1 Long Road", City: "Leeds", Country: "GB"}
	Write(t, s.Writer, "saveAddress", customers.Addresses.Insert(
		customers.CustomerAddress{CustomerID: p.basket.CustomerID, AddressKey: "home", Address: home}))
	for _, o := range all(t, supermarket.OfCustomer(t.Context(), s.Reader, p.basket.CustomerID)) {
		got, err := supermarket.DeliveryAddress(t.Context(), s.Reader, o)
		wrong(t, err != nil || !reflect.DeepEqual(got, home), "delivered to %+v, %v", got, err)
	}
	_, err := supermarket.Submit(t.Context(), s.Writer, p.order, p.basket, p.slot)
	wrong(t, !errors.Is(err, writer.ErrConflict) || !failedOf(t, err).NotApplied(), "submitted twice: %v", err)
	other := s.prepare(t)
	must(t, errorOf(slots.Release(t.Context(), s.Writer, other.slot, other.basket.CustomerID)))
	wantError(t, "the slot was lost",
		errorOf(supermarket.Submit(t.Context(), s.Writer, other.order, other.basket, other.slot)), writer.ErrConflict)
	s.want(t, "the slot was lost", other, nothingSeen)
}

// The client dies after each step; what readers then see is what docs/ref/guarantees.md says.
func (s supermarketTests) ClientDiesAfterEachStep(t *testing.T) {
	for steps, want := range []seen{
		0: nothingSeen,
		1: {confirmed: true, basket: true}, // the slot's condition, and nothing after it
		2: everythingSeen,                  // the batchlog completes the rest
	} {
		p, _, err := s.interrupted(t, retry.Policy{MaxAttempts: 3}, min(steps, 1), max(steps-1, 0), func(d *faulty.Dialer) {
			d.DieAfter(steps)
		})
		failed := failedOf(t, err)
		wrong(t, steps > 0 && failed.NotApplied(), "after %d steps the client would have been told: %v", steps, err)
		s.want(t, fmt.Sprint("the client dies, steps ", steps), p, want)
		// Another process gets the error out of a queue, and finishes what it says.
		result := value(s.Writer.Resume(t.Context(), stored(t, failed)))(t)
		s.want(t, fmt.Sprint("resumed (", result.Mode, "), steps ", steps), p, everythingSeen)
	}
}

// interrupted submits a purchase, by a client of its own whose connections fail as is said, so that the replies of lost
// writes that were applied do not arrive. An error names the tables known to be written. Where the servers were too
// busy for that, it is done again.
func (s supermarketTests) interrupted(t *testing.T, policy retry.Policy, lost, known int,
	fail func(*faulty.Dialer),
) (purchase, *writer.Writer, error) {
	t.Helper()
	for range 10 {
		p, warm := s.prepare(t), s.prepare(t)
		dialer := new(faulty.Dialer)
		w := NewWriter(t, s.Faulty(t, dialer, session.Keyspaces(s.keyspaces)), writer.Timeout(20*time.Second),
			writer.Retry(policy))
		if _, err := supermarket.Submit(t.Context(), w, warm.order, warm.basket, warm.slot); err != nil {
			t.Log("not the premise:", err)
			continue
		}
		fail(dialer)
		_, err := supermarket.Submit(t.Context(), w, p.order, p.basket, p.slot)
		var failed *writer.Error
		if dialer.Lost() == lost && (!errors.As(err, &failed) || applied(failed) == known) {
			return p, w, err
		}
		t.Log("not the premise:", err)
	}
	t.Fatal("the servers are too busy for this test")
	return purchase{}, nil, nil
}

func applied(failed *writer.Error) (n int) {
	for _, table := range failed.Tables {
		if table.Outcome == writer.Applied {
			n++
		}
	}
	return n
}

// An answer is lost after each step: the condition's, or the batch's. If nothing is tried again the error says what is
// known, and Resume finishes; otherwise the writer does.
func (s supermarketTests) AnswerLostAfterEachStep(t *testing.T) {
	confirmed := seen{confirmed: true, basket: true}
	for step, seen := range []seen{confirmed, everythingSeen} {
		for _, policy := range []retry.Policy{{MaxAttempts: 1}, {}} {
			what := fmt.Sprintf("step %d, %+v", step, policy)
			p, w, err := s.interrupted(t, policy, 1, step, func(d *faulty.Dialer) { d.LoseRepliesAfter(step, 1) })
			if policy.MaxAttempts == 1 {
				wantError(t, what, err, writer.ErrUnknown)
				s.want(t, what, p, seen)
				_, err = w.Resume(t.Context(), failedOf(t, err))
			}
			wantError(t, what, err, nil)
			s.want(t, what, p, everythingSeen)
		}
	}
}

// dayOf is a day that one test has to itself.
func dayOf(test int) time.Time { return time.Date(2026, time.December, test, 0, 0, 0, 0, time.UTC) }

type slotTests struct{ *Place }

// OpenSlots makes a keyspace with the slots.
func OpenSlots(t *testing.T, c Cassandra) *Place {
	t.Helper()
	return c.openIn(t, "order_delivery", slots.Schema)
}

// PlannedSlot is a free one of an hour of a day.
func PlannedSlot(t *testing.T, w *writer.Writer, day time.Time, hour int) slots.Slot {
	t.Helper()
	s := slots.Slot{DeliveryDate: day, StartTime: time.Duration(hour) * time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
	must(t, slots.Plan(t.Context(), w, s))
	return s
}

// A slot is reserved, rejected to others, confirmed; another expires and goes to the next; a third is given back.
func (p slotTests) Life(t *testing.T) {
	w, day := p.Writer, dayOf(1)
	now := time.Now()
	ann, bob := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	s := PlannedSlot(t, w, day, 9)
	reserved := value(slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Minute)))(t)
	wantError(t, "a slot that is reserved", errorOf(slots.Reserve(t.Context(), w, s, bob, now, now.Add(time.Minute))),
		slots.ErrReserved)
	wantError(t, "planned again", slots.Plan(t.Context(), w, s), nil)
	Write(t, w, "confirmSlot", slots.Confirm(reserved))
	_, err := w.Write(t.Context(), "confirmSlot", slots.Confirm(reserved))
	is := conflict[slots.Slot](t, "confirmed twice", err)
	wrong(t, !is.Confirmed || *is.CustomerID != ann, "confirmed twice: now %+v", is)
	wantError(t, "release of what is confirmed", errorOf(slots.Release(t.Context(), w, s, ann)), slots.ErrLost)
	s = PlannedSlot(t, w, day, 10)
	must(t, errorOf(slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Second))))
	wantError(t, "a reservation that has expired",
		errorOf(slots.Reserve(t.Context(), w, s, bob, now.Add(2*time.Second), now.Add(time.Minute))), nil)
	wantError(t, "release", errorOf(slots.Release(t.Context(), w, s, bob)), nil)
	s = value(slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Minute)))(t)
	wrong(t, *s.CustomerID != ann, "a slot that was given back: %+v", s)
}

// Bad input is rejected before anything is sent, and a slot that was never planned cannot be had.
func (p slotTests) BadInput(t *testing.T) {
	w, day := p.Writer, dayOf(2)
	never := slots.Slot{DeliveryDate: day, StartTime: time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
	wantError(t, "reserve what was never planned",
		errorOf(slots.Reserve(t.Context(), w, never, gocql.MustRandomUUID(), day, day)), writer.ErrNotFound)
	customer := gocql.MustRandomUUID()
	taken := never
	taken.CustomerID = &customer
	wantError(t, "update of what was never planned",
		errorOf(w.Write(t.Context(), "reserveSlot", slots.Slots.Update(never, taken))), writer.ErrConflict)
	for s, err := range slots.OfDay(t.Context(), p.Reader, day) {
		t.Errorf("it is there after all: %+v, %v", s, err)
	}
	wantError(t, "no team", slots.Plan(t.Context(), w, slots.Slot{DeliveryDate: day}), writer.ErrInvalid)
	other := never
	other.StartTime, other.DeliveryDate = 2*time.Hour, day.AddDate(0, 0, 1)
	for what, changes := range map[string][]tables.Change{
		"two days":    {slots.Slots.Insert(never), slots.Slots.Insert(other)},
		"an upsert":   {slots.Slots.Upsert(never)},
		"another key": {slots.Slots.Update(never, other)},
	} {
		wantInvalid(t, w, what, changes...)
	}
}

// An insert, an update and a delete of one day are one transaction: all are applied, or none.
func (p slotTests) ChangesOfEveryKindTogether(t *testing.T) {
	w, day := p.Writer, dayOf(3)
	one, two := PlannedSlot(t, w, day, 1), PlannedSlot(t, w, day, 2)
	three := slots.Slot{DeliveryDate: day, StartTime: 3 * time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
	booked, other := one, two
	booked.Confirmed, other.Confirmed = true, true
	all := []tables.Change{slots.Slots.Insert(three), slots.Slots.Update(one, booked), slots.Slots.Delete(two)}
	for name, changes := range map[string][]tables.Change{
		"the insert's row is there":     {slots.Slots.Insert(one), all[2]},
		"the update's row has changed":  {all[0], slots.Slots.Update(booked, one), all[2]},
		"the delete's row has changed":  {all[0], all[1], slots.Slots.Delete(other)},
		"the delete's row is not there": {all[1], slots.Slots.Delete(three)},
	} {
		_, err := w.Write(t.Context(), "change", changes...)
		now := SlotsOfDay(t, p.Place, day)
		wrong(t, writer.OutcomeOf(err) != writer.Conflict || len(now) != 2 || now[0].Confirmed, "%s: %v: %+v", name, err, now)
	}
	_, err := w.Write(t.Context(), "change", all...)
	now := SlotsOfDay(t, p.Place, day)
	wrong(t, err != nil || len(now) != 2 || !now[0].Confirmed || now[1].StartTime != three.StartTime, "%v: %+v", err, now)
}

// SlotsOfDay reads the slots of the day as they are decided, in one read of their partition. Such a read can time out
// as a transaction can.
func SlotsOfDay(t *testing.T, p *Place, day time.Time) (out []slots.Slot) {
	t.Helper()
	var err error
	for range 20 {
		if out, err = rowsOf[slots.Slot](p.Session.Reads().Query("SELECT delivery_date, start_time, delivery_team_id, "+
			"confirmed, customer_id, reservation_expiry, change_id FROM delivery_timeslots WHERE delivery_date = ?", day).
			Consistency(gocql.Consistency(gocql.Serial))); err == nil {
			return out
		}
	}
	t.Error(err)
	return nil
}

type basketTests struct{ *Place }

func (p basketTests) want(t *testing.T, what string, customer gocql.UUID, want map[gocql.UUID]int32) {
	t.Helper()
	got := value(baskets.Of(t.Context(), p.Reader, customer))(t)
	wrong(t, !maps.Equal(got.Products, want), "%s: %v, want %v", what, got.Products, want)
}

// Validate finds the table as it is declared.
func (p basketTests) Check(t *testing.T) {
	p.check(t, baskets.Baskets)
}

func (p basketTests) Basket(t *testing.T) {
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	type products = map[gocql.UUID]int32
	p.want(t, "never used", customer, nil)
	for _, step := range []struct {
		op     string
		change tables.Change
		want   products
	}{
		{"add", baskets.Put(customer, apples, 3), products{apples: 3}},
		{"add another", baskets.Put(customer, bread, 1), products{apples: 3, bread: 1}},
		{"change", baskets.Put(customer, apples, 5), products{apples: 5, bread: 1}},
		{"remove", baskets.Remove(customer, apples), products{bread: 1}},
		{"exchange", baskets.Exchange(customer, bread, apples, 4), products{apples: 4}},
		{
			"exchange what is not there", baskets.Exchange(customer, gocql.MustRandomUUID(), bread, 2),
			products{apples: 4, bread: 2},
		},
		{"exchange back", baskets.Exchange(customer, apples, bread, 1), products{bread: 1}},
		{"remove what is not there", baskets.Remove(customer, apples), products{bread: 1}},
		{"none of it", baskets.Put(customer, bread, 0), nil},
		{"add again", baskets.Put(customer, apples, 2), products{apples: 2}},
		{"clear", baskets.Clear(customer), nil},
		{"clear the empty one", baskets.Clear(customer), nil},
		{"add after that", baskets.Put(customer, bread, 9), products{bread: 9}},
		{"remove the last", baskets.Remove(customer, bread, apples), nil},
	} {
		res := Write(t, p.Writer, step.op, step.change)
		want := writer.SamePartition
		wrong(t, step.change.Kind() == tables.Patch && res.Mode != want, "%s: %v, want %v", step.op, res.Mode, want)
		p.want(t, step.op, customer, step.want)
	}
}

// Nobody reads before writing, so nobody's product is lost, however many write at the same time.
func (p basketTests) ConcurrentPuts(t *testing.T) {
	customer, want := gocql.MustRandomUUID(), make(map[gocql.UUID]int32)
	var wait sync.WaitGroup
	for i := range int32(40) {
		product := gocql.MustRandomUUID()
		want[product] = i + 1
		wait.Go(func() {
			wantError(t, "write", errorOf(p.Writer.Write(t.Context(), "put", baskets.Put(customer, product, i+1))), nil)
		})
	}
	wait.Wait()
	p.want(t, "all of them", customer, want)
}

// What arrives late takes the place that its timestamp gives it: before the clear, the removal, the newer number.
func (p basketTests) LateArrival(t *testing.T) {
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	cleared := Write(t, p.Writer, "clear", baskets.Clear(customer)).Timestamp
	Write(t, p.Writer.With(writer.At(cleared-1)), "put", baskets.Put(customer, apples, 1))
	p.want(t, "put before the clear", customer, nil)
	removed := Write(t, p.Writer, "remove", baskets.Remove(customer, apples)).Timestamp
	Write(t, p.Writer.With(writer.At(removed-1)), "put", baskets.Put(customer, apples, 1))
	p.want(t, "put before the removal", customer, nil)
	changed := Write(t, p.Writer, "put", baskets.Put(customer, bread, 2)).Timestamp
	Write(t, p.Writer.With(writer.At(changed-1)), "put", baskets.Put(customer, bread, 1))
	p.want(t, "put before the change", customer, map[gocql.UUID]int32{bread: 2})
}

func (p basketTests) BadInput(t *testing.T) {
	customer := gocql.MustRandomUUID()
	for name, change := range map[string]tables.Change{
		"nobody's basket":          baskets.Put(gocql.UUID{}, customer, 1),
		"removal of nothing":       baskets.Remove(customer),
		"elements of an empty map": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Elements("products")),
		"product of another type": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer},
			tables.Without("products", "apples")),
		"change of the customer": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Column("customer_id")),
	} {
		wantInvalid(t, p.Writer, name, change)
	}
	p.want(t, "afterwards", customer, nil)
}

type customerTests struct{ *Place }

var (
	homeAddress = &customers.Address{StreetName: "Rue de la Paix", City: "Paris", Country: "FR", Zipcode: ptr("75002")}
	// Hong Kong has no such codes.
	workAddress = &customers.Address{StreetName: "Main Street", City: "Hong Kong", Country: "HK"}
)

func (p customerTests) Addresses(t *testing.T) {
	p.check(t, customers.Customers, customers.Addresses, customers.UnfrozenAddresses)
	customer := customers.Customer{ID: gocql.MustRandomUUID(), Name: ptr("Ann")}
	first := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "home", Address: homeAddress}
	second := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "work", Address: workAddress}
	Write(t, p.Writer, "register", customers.Customers.Insert(customer), customers.Addresses.Insert(second),
		customers.Addresses.Insert(first))
	p.wantAddresses(t, customer.ID, first, second)
	got, err := customers.Get(t.Context(), p.Reader, customer.ID, "work")
	wrong(t, err != nil || !reflect.DeepEqual(got, workAddress), "by key: %v, %v, want %v", got, err, workAddress)
	got, err = customers.Get(t.Context(), p.Reader, customer.ID, "holiday")
	wrong(t, err != nil || got != nil, "a key that is not there: %v, %v", got, err)

	moved, unknown := first, first
	moved.Address, unknown.Address = &customers.Address{StreetName: "Elm Street"}, nil
	Write(t, p.Writer, "saveAddress", customers.Addresses.Update(first, moved))
	Write(t, p.Writer, "saveAddress", customers.Addresses.Delete(second))
	p.wantAddresses(t, customer.ID, moved)
	Write(t, p.Writer, "saveAddress", customers.Addresses.Update(moved, unknown))
	p.wantAddresses(t, customer.ID, unknown)
}

func (p customerTests) wantAddresses(t *testing.T, customer gocql.UUID, want ...customers.CustomerAddress) {
	t.Helper()
	got := all(t, customers.Of(t.Context(), p.Reader, customer))
	wrong(t, !reflect.DeepEqual(got, want), "%v, want %v", got, want)
}

// An address that replaces another one leaves no field of it behind, also where each field is a cell of its own.
func (p customerTests) UnfrozenAddresses(t *testing.T) {
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home"}
	for _, address := range []*customers.Address{homeAddress, workAddress, nil, homeAddress, {}} {
		before := row
		row.Address = address
		Write(t, p.Writer, "saveAddress", customers.UnfrozenAddresses.Update(before, row))
		_, text, key, err := customers.UnfrozenAddresses.Internal().SelectRow(p.Keyspace, row)
		must(t, err)
		got := value(rowsOf[customers.CustomerAddress](p.Session.Reads().Query(text, statement.AppendArgs(nil, key)...)))(t)
		wrong(t, len(got) != 1 || !reflect.DeepEqual(got[0], row), "%d rows, want one with %v", len(got), row.Address)
	}
}

// A live type that is another than the declared one is found at the start of a service. One that only has more fields
// is of a newer release.
func (p customerTests) AnotherType(t *testing.T) {
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: homeAddress}
	for name, c := range map[string]struct {
		alter, is string
		want      string // of a write, empty if it is taken
	}{
		"a field renamed": {
			"RENAME city TO town", "address_type: column city: the field is called town",
			"declared is frozen<address_type>",
		},
		"a field more": {"ADD floor int", "", ""},
	} {
		if strings.HasPrefix(c.alter, "RENAME") && !p.Real {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p.openIn(t, "customer", customers.Schema)
			p.ChangeSchema(t, p.Keyspace, `ALTER TYPE address_type `+c.alter)
			err := schema.Validate(t.Context(), p.Session, schema.Sets(customers.Addresses))
			var different *schema.DifferenceError
			wrong(t, (err == nil) != (c.is == "") || errors.As(err, &different) &&
				(len(different.Differences) != 1 || !strings.Contains(err.Error(), c.is)),
				"Validate: %v", err)
			_, err = p.Writer.Write(t.Context(), "saveAddress", customers.Addresses.Insert(row))
			wrong(t, (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want), "Write: %v", err)
		})
	}
}

func (p customerTests) BadInput(t *testing.T) {
	for name, row := range map[string]customers.CustomerAddress{
		"nobody's": {AddressKey: "home", Address: homeAddress},
		"no key":   {CustomerID: gocql.MustRandomUUID(), Address: homeAddress},
		"invalid UTF-8": {
			CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: &customers.Address{City: "\xff"},
		},
	} {
		wantInvalid(t, p.Writer, name, customers.Addresses.Insert(row))
	}
}
