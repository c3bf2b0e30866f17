package slots_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/integration/harness/faulty"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

var day = time.Date(2026, time.December, 24, 0, 0, 0, 0, time.UTC)

func open(t *testing.T) (*reading.Place, *writer.Writer) {
	t.Helper()
	p := reading.Open(t, 3, slots.Schema.In(map[string]string{"order_delivery": ""}).Statements()...)
	p.Map(keyspaces(p))
	return p, p.Writer
}

func keyspaces(p *reading.Place) map[string]string {
	return map[string]string{"order_delivery": p.Keyspace}
}

func planned(t *testing.T, w *writer.Writer, hour int) slots.Slot {
	t.Helper()
	s := slots.Slot{DeliveryDate: day, StartTime: time.Duration(hour) * time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
	if err := slots.Plan(t.Context(), w, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A slot is reserved, rejected to others, confirmed; another expires and goes to the next; a third is given back.
func TestSlots(t *testing.T) {
	t.Parallel()
	_, w := open(t)
	now := time.Now()
	ann, bob := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	s := planned(t, w, 9)
	reserved, err := slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slots.Reserve(t.Context(), w, s, bob, now, now.Add(time.Minute)); !errors.Is(err, slots.ErrReserved) {
		t.Errorf("a slot that is reserved: %v", err)
	}
	if err := slots.Plan(t.Context(), w, s); err != nil {
		t.Errorf("planned again: %v", err)
	}
	if _, err := w.Write(t.Context(), "confirmSlot", slots.Confirm(reserved)); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(t.Context(), "confirmSlot", slots.Confirm(reserved))
	if now, ok := writer.Current[slots.Slot](err); !errors.Is(err, writer.ErrConflict) || !ok || !now.Confirmed || *now.CustomerID != ann {
		t.Errorf("confirmed twice: %v, now %+v, %t", err, now, ok)
	}
	if _, err := slots.Release(t.Context(), w, s, ann); !errors.Is(err, slots.ErrLost) {
		t.Errorf("release of what is confirmed: %v", err)
	}
	s = planned(t, w, 10)
	if _, err := slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := slots.Reserve(t.Context(), w, s, bob, now.Add(2*time.Second), now.Add(time.Minute)); err != nil {
		t.Errorf("a reservation that has expired: %v", err)
	}
	if _, err := slots.Release(t.Context(), w, s, bob); err != nil {
		t.Errorf("release: %v", err)
	}
	if s, err := slots.Reserve(t.Context(), w, s, ann, now, now.Add(time.Minute)); err != nil || *s.CustomerID != ann {
		t.Errorf("a slot that was given back: %+v, %v", s, err)
	}
}

// Bad input is rejected before anything is sent, and a slot that was never planned cannot be had.
func TestBadInput(t *testing.T) {
	t.Parallel()
	p, w := open(t)
	never := slots.Slot{DeliveryDate: day, StartTime: time.Hour, DeliveryTeamID: gocql.MustRandomUUID()}
	if _, err := slots.Reserve(t.Context(), w, never, gocql.MustRandomUUID(), day, day); !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("reserve what was never planned: %v", err)
	}
	customer := gocql.MustRandomUUID()
	taken := never
	taken.CustomerID = &customer
	if _, err := w.Write(t.Context(), "reserveSlot", slots.Slots.Update(never, taken)); !errors.Is(err, writer.ErrConflict) {
		t.Errorf("update of what was never planned: %v", err)
	}
	for s, err := range slots.OfDay(t.Context(), p.Reader, day) {
		t.Errorf("it is there after all: %+v, %v", s, err)
	}
	if err := slots.Plan(t.Context(), w, slots.Slot{DeliveryDate: day}); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("no team: %v", err)
	}
	other := never
	other.StartTime, other.DeliveryDate = 2*time.Hour, day.AddDate(0, 0, 1)
	for what, write := range map[string]func() error{
		"two days": func() error {
			_, err := w.Write(t.Context(), "planSlots", slots.Slots.Insert(never), slots.Slots.Insert(other))
			return err
		},
		"an upsert": func() error {
			_, err := w.Write(t.Context(), "planSlot", slots.Slots.Upsert(never))
			return err
		},
		"another key": func() error {
			_, err := w.Write(t.Context(), "moveSlot", slots.Slots.Update(never, other))
			return err
		},
	} {
		if err := write(); !errors.Is(err, writer.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		} else {
			t.Logf("%s: %v", what, err)
		}
	}
}

const customers = 50

// Fifty customers race for one slot, again and again, while answers are lost: exactly one gets it each time, and whoever
// was told so is the one who has it.
func TestRaceForOneSlot(t *testing.T) {
	t.Parallel()
	races := 20
	if *long {
		races = 200
	}
	p, _ := open(t)
	dialer := &faulty.Dialer{}
	client := p.Client(t, func(c *gocql.ClusterConfig) { c.Dialer = dialer }, session.Keyspaces(keyspaces(p)))
	w, err := writer.New(client, writer.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var won, unknown, refused int
	for race := range races {
		s := planned(t, w, race%24)
		until := time.Now().Add(time.Hour)
		dialer.LoseReplies(1 + race%4)
		errs := make([]error, customers)
		ids := make([]gocql.UUID, customers)
		var all sync.WaitGroup
		for i := range customers {
			ids[i] = gocql.MustRandomUUID()
			all.Go(func() { _, errs[i] = slots.Reserve(t.Context(), w, s, ids[i], time.Now(), until) })
		}
		all.Wait()
		var owner *gocql.UUID
		read := func() error {
			return p.Session.Reads().Query("SELECT customer_id FROM delivery_timeslots WHERE delivery_date = ? AND start_time = ? AND delivery_team_id = ?",
				s.DeliveryDate, s.StartTime, s.DeliveryTeamID).Consistency(gocql.Consistency(gocql.Serial)).Scan(&owner)
		}
		err := read()
		for range 20 { // transactions of the race that are not finished yet are in the way of a read at SERIAL
			if err == nil || errors.Is(err, gocql.ErrNotFound) {
				break
			}
			time.Sleep(time.Second)
			err = read()
		}
		if err != nil || owner == nil {
			t.Fatalf("race %d: nobody has the slot: %v", race, err)
		}
		winners := 0
		for i, err := range errs {
			switch {
			case err == nil:
				winners++
				if ids[i] != *owner {
					t.Errorf("race %d: told that the slot is theirs, and it is not", race)
				}
			case errors.Is(err, slots.ErrReserved):
				refused++
				if ids[i] == *owner {
					t.Errorf("race %d: told that the slot is somebody else's, and it is theirs", race)
				}
			case errors.Is(err, writer.ErrUnknown):
				unknown++
			default:
				refused++ // surely not applied, as under contention beyond the retries; or the slot could not be read
				var failed *writer.Error
				if errors.As(err, &failed) && !failed.NotApplied() {
					t.Errorf("race %d: %v", race, err)
				}
				if ids[i] == *owner {
					t.Errorf("race %d: told that it is surely not theirs, and it is: %v", race, err)
				}
			}
		}
		if winners > 1 {
			t.Errorf("race %d: %d owners", race, winners)
		}
		won += winners
	}
	t.Logf("%d races of %d customers: %d winners told at once, %d answers unknown, %d refused, %d replies left to lose",
		races, customers, won, unknown, refused, dialer.Left())
}
