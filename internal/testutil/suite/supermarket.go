package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/examples/supermarket"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
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
