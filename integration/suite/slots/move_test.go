package slots_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/integration/harness/faulty"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// ofDay reads the slots of the day as they are decided, in one read of their partition. Such a read can time out as a transaction can.
func ofDay(t *testing.T, p *reading.Place) (out []slots.Slot) {
	t.Helper()
	var err error
	for range 20 {
		if out, err = tryOfDay(p); err == nil {
			return out
		}
	}
	t.Error(err)
	return nil
}

func tryOfDay(p *reading.Place) (out []slots.Slot, err error) {
	iter := p.Session.Reads().Query("SELECT start_time, delivery_team_id, confirmed, customer_id, reservation_expiry, change_id FROM delivery_timeslots "+
		"WHERE delivery_date = ?", day).Consistency(gocql.Consistency(gocql.Serial)).Iter()
	for s := (slots.Slot{DeliveryDate: day}); iter.Scan(&s.StartTime, &s.DeliveryTeamID, &s.Confirmed, &s.CustomerID, &s.ReservationExpiry, &s.ChangeID); {
		out = append(out, s)
		s = slots.Slot{DeliveryDate: day}
	}
	return out, iter.Close()
}

// Of customers who move between the slots of a day, each to whichever is free, while answers are lost: at any moment everybody has
// one slot, and what they are told is so.
func TestMovesChangeBothSlotsOrNeither(t *testing.T) {
	t.Parallel()
	length := 5 * time.Second
	if *long {
		length = time.Minute
	}
	const movers, places = 4, 7
	p, _ := open(t)
	dialer := &faulty.Dialer{}
	client := p.Client(t, func(c *gocql.ClusterConfig) { c.Dialer = dialer }, session.Keyspaces(keyspaces(p)))
	w, err := writer.New(client, writer.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for hour := range places {
		s := slots.Slot{DeliveryDate: day, StartTime: time.Duration(hour) * time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
		if hour < movers {
			id := gocql.MustRandomUUID()
			s.CustomerID, s.Confirmed = &id, true
		}
		if _, err := w.Write(t.Context(), "planSlot", slots.Slots.Insert(s)); err != nil {
			t.Fatal(err)
		}
	}
	first := ofDay(t, p)
	told := make([]map[writer.Outcome]int, movers)
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for m := range movers {
		told[m] = make(map[writer.Outcome]int)
		all.Go(func() {
			mine := *first[m].CustomerID
			// A move that was told unknown can still come, as long as the slots are as it read them, or are so again: see tables.Compare.
			late := make(map[[2]int]bool)
			for n := 0; time.Now().Before(end); n++ {
				if n%8 == m {
					dialer.LoseReplies(1)
				}
				now := ofDay(t, p)
				if t.Failed() {
					return
				}
				at := where(t, now, mine)
				to := rand.IntN(places)
				if now[to].CustomerID != nil {
					continue
				}
				outcome := writer.OutcomeOf(slots.Move(t.Context(), w, now[at], now[to]))
				told[m][outcome]++
				after := where(t, ofDay(t, p), mine)
				switch {
				case outcome == writer.Unknown:
					late[[2]int{at, to}] = true
				case outcome == writer.Applied && after != to && !late[[2]int{to, after}]:
					t.Errorf("told that the move was made, and it was not")
				case outcome != writer.Applied && after != at && !late[[2]int{at, after}]:
					t.Errorf("told %v, and the move was made", outcome)
				}
			}
		})
	}
	all.Wait()
	sum := make(map[writer.Outcome]int)
	for _, of := range told {
		for outcome, n := range of {
			sum[outcome] += n
		}
	}
	t.Logf("moves by what was told: %v", sum)
	if sum[writer.Applied] == 0 || sum[writer.Conflict] == 0 {
		t.Errorf("not the premise: %v", sum)
	}
}

// where is the one slot of a customer.
func where(t *testing.T, day []slots.Slot, customer gocql.UUID) int {
	t.Helper()
	at := -1
	for i, s := range day {
		if s.CustomerID != nil && *s.CustomerID == customer {
			if at >= 0 {
				t.Errorf("a customer has two slots")
			}
			at = i
		}
	}
	if at < 0 {
		t.Error("a customer has no slot")
		return 0
	}
	return at
}

// An insert, an update and a delete of one day are one transaction: all are applied, or none.
func TestChangesOfEveryKindTogether(t *testing.T) {
	t.Parallel()
	p, w := open(t)
	one, two := planned(t, w, 1), planned(t, w, 2)
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
		now := ofDay(t, p)
		if writer.OutcomeOf(err) != writer.Conflict || len(now) != 2 || now[0].Confirmed {
			t.Errorf("%s: %v: %+v", name, err, now)
		}
	}
	_, err := w.Write(t.Context(), "change", all...)
	if now := ofDay(t, p); err != nil || len(now) != 2 || !now[0].Confirmed || now[1].StartTime != three.StartTime {
		t.Errorf("%v: %+v", err, now)
	}
}
