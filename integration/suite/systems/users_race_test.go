package systems

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// grace is how long a claim of somebody who does not hold the address is left alone in these tests.
const grace = time.Second

// rivals are two services that sign users up, and lose answers.
type rivals struct {
	*suite.Place
	dialer faulty.Dialer
	writer [3]*writer.Writer // the third loses nothing
}

func newRivals(t *testing.T) *rivals {
	t.Helper()
	r := &rivals{Place: nodes.Cassandra.Open(t, 3, users.Schema.Statements()...)}
	for i := range r.writer {
		client := r.Session
		if i < 2 {
			client = r.Faulty(t, &r.dialer)
		}
		r.writer[i] = suite.NewWriter(t, client, writer.ClaimGrace(grace), writer.Timeout(time.Minute),
			writer.Retry(retry.Policy{AttemptTimeout: 5 * time.Second, MaxElapsedTime: time.Minute})) // Paxos on a loaded machine
	}
	return r
}

// holds says whether the user has the address, as the row of the user tells.
func (r *rivals) holds(t *testing.T, u users.User) bool {
	t.Helper()
	var email *string
	err := r.Session.Reads().Query("SELECT email FROM users WHERE user_id = ?", u.UserID).Consistency(gocql.Consistency(gocql.Serial)).Scan(&email)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		t.Error(err)
	}
	return err == nil && email != nil && *email == u.Email
}

// Two users want one address at the same time, while answers are lost and clients die at any moment. Never do both get
// it; who was told to have it has it; and if nobody has it, a third one gets it a second after the claims have expired.
func TestOneAddressOneOwner(t *testing.T) {
	t.Parallel()
	rounds, atOnce := 60, 10
	if *long {
		rounds, atOnce = 1000, 20
	}
	r := newRivals(t)
	var acknowledged, killed, unclaimed, taken atomic.Int64
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for round := range rounds {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			email := fmt.Sprintf("%d@example.org", round)
			contenders := []users.User{
				{UserID: gocql.MustRandomUUID(), Email: email, Name: "A"}, {UserID: gocql.MustRandomUUID(), Email: email, Name: "B"},
			}
			var errs [2]error
			var both sync.WaitGroup
			for i, u := range contenders {
				both.Go(func() {
					ctx := t.Context()
					if rand.IntN(3) == 0 { // dies
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, rand.N(60*time.Millisecond))
						defer cancel()
						killed.Add(1)
					}
					if rand.IntN(4) == 0 {
						r.dialer.LoseReplies(1)
					}
					_, errs[i] = users.SignUp(ctx, r.writer[i], u)
				})
			}
			both.Wait()
			owners := 0
			for i, u := range contenders {
				holds := r.holds(t, u)
				var failed *writer.Error
				switch {
				case holds:
					owners++
					if errors.As(errs[i], &failed) && failed.NotApplied() {
						t.Errorf("round %d: told not to have the address, and has it: %v", round, errs[i])
					}
				case errs[i] == nil:
					t.Errorf("round %d: told to have the address, and has it not", round)
				}
				if errs[i] == nil {
					acknowledged.Add(1)
				}
			}
			if owners > 1 {
				t.Errorf("round %d: two owners", round)
			}
			third := users.User{UserID: gocql.MustRandomUUID(), Email: email, Name: "C"}
			if owners == 0 {
				unclaimed.Add(1)
				timer := time.NewTimer(grace + time.Second)
				<-timer.C
			}
			_, err := users.SignUp(t.Context(), r.writer[2], third)
			for _, u := range contenders { // a write that was on its way may have come late
				if r.holds(t, u) {
					if owners++; err == nil {
						t.Errorf("round %d: two owners after a third has signed up", round)
					}
				}
			}
			switch {
			case err == nil:
				taken.Add(1)
				if !r.holds(t, third) {
					t.Errorf("round %d: the third was told to have the address, and has it not", round)
				}
			case owners == 0:
				t.Errorf("round %d: an address that nobody has cannot be had: %v", round, err)
			case !errors.Is(err, users.ErrTaken):
				t.Errorf("round %d: an address that somebody has: %v", round, err)
			}
		})
	}
	all.Wait()
	t.Logf("%d rounds: %d signed up at once, %d clients killed, %d addresses left to nobody, %d taken by a third",
		rounds, acknowledged.Load(), killed.Load(), unclaimed.Load(), taken.Load())
}
