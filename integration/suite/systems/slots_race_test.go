package systems

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

var day = time.Date(2026, time.December, 24, 0, 0, 0, 0, time.UTC)

// lossySlots is a place with slots, and a writer that loses answers as the dialer says.
func lossySlots(t *testing.T) (*suite.Place, *writer.Writer, *faulty.Dialer) {
	t.Helper()
	p, dialer := suite.OpenSlots(t, nodes.Cassandra), new(faulty.Dialer)
	client := p.Faulty(t, dialer, session.Keyspaces(map[string]string{"order_delivery": p.Keyspace}))
	return p, suite.NewWriter(t, client, writer.Timeout(30*time.Second)), dialer
}

const customers = 50

// Fifty customers race for one slot, again and again, while answers are lost: exactly one gets it each time, and
// whoever was told so is the one who has it. Two races run at a time, each on a day of its own, as a day is a
// partition.
func TestRaceForOneSlot(t *testing.T) {
	t.Parallel()
	races := 20
	if *long {
		races = 200
	}
	const atOnce = 2
	r := race{}
	r.place, r.writer, r.dialer = lossySlots(t)
	var all sync.WaitGroup
	for lane := range atOnce {
		all.Go(func() {
			for n := lane; n < races && !t.Failed(); n += atOnce {
				r.run(t, n, day.AddDate(0, 0, lane))
			}
		})
	}
	all.Wait()
	t.Logf("%d races of %d customers: %d winners told at once, %d answers unknown, %d refused, %d replies left to lose",
		races, customers, r.won.Load(), r.unknown.Load(), r.refused.Load(), r.dialer.Left())
}

// race is a place, and what customers of all races were told.
type race struct {
	place                 *suite.Place
	writer                *writer.Writer
	dialer                *faulty.Dialer
	won, unknown, refused atomic.Int64
}

func (r *race) run(t *testing.T, n int, day time.Time) {
	t.Helper()
	s := suite.PlannedSlot(t, r.place.Writer, day, n%24) // loses no answers, and has retries of its own
	until := time.Now().Add(time.Hour)
	r.dialer.LoseReplies(1 + n%4)
	errs := make([]error, customers)
	ids := make([]gocql.UUID, customers)
	var all sync.WaitGroup
	for i := range customers {
		ids[i] = gocql.MustRandomUUID()
		all.Go(func() { _, errs[i] = slots.Reserve(t.Context(), r.writer, s, ids[i], time.Now(), until) })
	}
	all.Wait()
	owner, err := r.owner(s)
	if err != nil || owner == nil {
		t.Errorf("race %d: nobody has the slot: %v", n, err)
		return
	}
	winners := 0
	for i, err := range errs {
		switch {
		case err == nil:
			winners++
			if ids[i] != *owner {
				t.Errorf("race %d: told that the slot is theirs, and it is not", n)
			}
		case errors.Is(err, slots.ErrReserved):
			r.refused.Add(1)
			if ids[i] == *owner {
				t.Errorf("race %d: told that the slot is somebody else's, and it is theirs", n)
			}
		case errors.Is(err, writer.ErrUnknown):
			r.unknown.Add(1)
		default:
			r.refused.Add(1) // surely not applied, as under contention beyond the retries; or the slot could not be read
			var failed *writer.Error
			if errors.As(err, &failed) && !failed.NotApplied() {
				t.Errorf("race %d: %v", n, err)
			}
			if ids[i] == *owner {
				t.Errorf("race %d: told that it is surely not theirs, and it is: %v", n, err)
			}
		}
	}
	if winners > 1 {
		t.Errorf("race %d: %d owners", n, winners)
	}
	r.won.Add(int64(winners))
}

// owner reads who has a slot. Transactions of the race that are not finished yet are in the way of a read at SERIAL.
func (r *race) owner(s slots.Slot) (owner *gocql.UUID, err error) {
	for range 20 {
		err = r.place.Session.Reads().Query("SELECT customer_id FROM delivery_timeslots WHERE delivery_date = ? AND start_time = ? AND delivery_team_id = ?",
			s.DeliveryDate, s.StartTime, s.DeliveryTeamID).Consistency(gocql.Consistency(gocql.Serial)).Scan(&owner)
		if err == nil || errors.Is(err, gocql.ErrNotFound) {
			break
		}
		time.Sleep(time.Second)
	}
	return owner, err
}
