package suite

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

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
