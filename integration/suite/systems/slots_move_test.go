package systems

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/writer"
)

// Of customers who move between the slots of a day, each to whichever is free, while answers are lost: at any moment
// everybody has one slot, and what they are told is so.
func TestMovesChangeBothSlotsOrNeither(t *testing.T) {
	t.Parallel()
	length := 5 * time.Second
	if *long {
		length = time.Minute
	}
	const movers, places = 4, 7
	p, w, dialer := lossySlots(t)
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
	first := suite.SlotsOfDay(t, p, day)
	told := make([]map[writer.Outcome]int, movers)
	end, latest := time.Now().Add(length), time.Now().Add(length+2*time.Minute)
	var applied, conflicts atomic.Bool
	more := func() bool { // a slow machine needs longer to make what the test is about
		return time.Now().Before(end) || (!applied.Load() || !conflicts.Load()) && time.Now().Before(latest)
	}
	var all sync.WaitGroup
	for m := range movers {
		told[m] = make(map[writer.Outcome]int)
		all.Go(func() {
			mine := *first[m].CustomerID
			// A move that was told unknown can still come, as long as the slots are as it read them: after a move that was made
			// they are not.
			late := make(map[[2]int]bool)
			for n := 0; more(); n++ {
				if n%8 == m {
					dialer.LoseReplies(1)
				}
				now := suite.SlotsOfDay(t, p, day)
				if t.Failed() {
					return
				}
				at := where(t, now, mine)
				to := rand.IntN(places)
				if now[to].CustomerID != nil {
					continue
				}
				outcome := writer.OutcomeOf(slots.Move(t.Context(), w, now[at], now[to], day.Add(time.Duration(m*1_000_000+n)*time.Millisecond)))
				told[m][outcome]++
				applied.CompareAndSwap(false, outcome == writer.Applied)
				conflicts.CompareAndSwap(false, outcome == writer.Conflict)
				after := where(t, suite.SlotsOfDay(t, p, day), mine)
				switch {
				case outcome == writer.Unknown:
					late[[2]int{at, to}] = true
				case outcome == writer.Applied:
					if after != to {
						t.Errorf("told that the move from %d to %d was made, and it was not: now %d, late %v", at, to, after, late)
					}
					clear(late)
				case !reaches(late, at, after):
					t.Errorf("told %v of the move from %d to %d, and now %d, late %v", outcome, at, to, after, late)
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
	if !applied.Load() || !conflicts.Load() {
		t.Errorf("not the premise: %v", sum)
	}
}

// reaches says whether late moves, one after the other, lead from one slot to another.
func reaches(late map[[2]int]bool, from, to int) bool {
	seen := map[int]bool{from: true}
	for grown := true; grown; {
		grown = false
		for move := range late {
			if seen[move[0]] && !seen[move[1]] {
				seen[move[1]], grown = true, true
			}
		}
	}
	return seen[to]
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
