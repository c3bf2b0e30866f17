package systems

import (
	"errors"
	"sync"
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

// Fifty customers race for one slot, again and again, while answers are lost: exactly one gets it each time, and whoever
// was told so is the one who has it.
func TestRaceForOneSlot(t *testing.T) {
	t.Parallel()
	races := 20
	if *long {
		races = 200
	}
	p, w, dialer := lossySlots(t)
	var won, unknown, refused int
	for race := range races {
		s := suite.PlannedSlot(t, w, day, race%24)
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
