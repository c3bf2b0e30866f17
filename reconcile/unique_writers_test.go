package reconcile_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/writer"
)

var seeds = flag.Uint64("unique-seeds", 3, "how many runs of TestUniqueKeysNextToWriters")

// Users take, swap and release addresses, some of their clients die on the way, and claims are late: no finding is
// false, claims that are lost are found and made again, and no address gets two owners.
func TestUniqueKeysNextToWriters(t *testing.T) {
	t.Parallel()
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) { nextToWriters(t, c, seed) })
		})
	}
}

const addresses = 6

func nextToWriters(t *testing.T, c *cassandratest.Cluster, seed uint64) {
	t.Helper()
	options := []reconcile.Option{reconcile.Settle(20 * time.Second), handed}
	if seed%2 == 0 {
		options = append(options, reconcile.Lookup())
	}
	s, w, r := openSet(t, c, users, options...)
	x := usersWorld{t, s, w, r}
	for _, what := range []cassandratest.Matcher{
		cassandratest.Text("INSERT INTO shop.users_by_email"), cassandratest.Text("DELETE FROM shop.users_by_email"), cassandratest.Text("UPDATE shop.users "),
	} {
		c.When(cassandratest.Execute, what).Do(cassandratest.Delay(300 * time.Millisecond))
	}
	// Between the reads of one look there is time for a move.
	c.When(cassandratest.Execute, cassandratest.Text("version, pending FROM shop.users ")).Do(cassandratest.Delay(700 * time.Millisecond))
	over := make(chan struct{})
	var clients sync.WaitGroup
	var done [3]atomic.Int32 // applied, taken, given up
	for n := range 4 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			mine := w.With(writer.Timeout(5*time.Second), writer.ClaimGrace(2*time.Second))
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(random.IntN(1500)) * time.Millisecond):
				}
				now := mine
				if random.IntN(6) == 0 { // its client dies
					now = mine.With(writer.Timeout(time.Duration(1+random.IntN(1500)) * time.Millisecond))
				}
				u := user{ID: 1 + random.IntN(5), Name: "ada", Email: fmt.Sprint("a", random.IntN(addresses))}
				_, err := writer.Modify(t.Context(), now, "move", users, u, func(before user) (user, error) {
					before.Email = u.Email
					return before, nil
				})
				switch {
				case errors.Is(err, writer.ErrNotFound):
					_, err = now.Write(t.Context(), "insert", users.Insert(u))
				case err == nil && random.IntN(8) == 0:
					if u, err = writer.Load(t.Context(), now, "load", users, u); err == nil {
						_, err = now.Write(t.Context(), "delete", users.Delete(u))
					}
				}
				switch {
				case err == nil:
					done[0].Add(1)
				case errors.Is(err, writer.ErrTaken):
					done[1].Add(1)
				default:
					done[2].Add(1)
				}
			}
		})
	}
	for range 12 {
		if report, err := r.Verify(t.Context(), users); len(foundClaims(report)) > 0 {
			for _, f := range foundClaims(report) {
				t.Errorf("a false finding: %v: %s", err, f)
			}
		}
		<-time.After(3 * time.Second)
	}
	// Claims that are lost, of rows that are written all the time: no second user may get such an address once it is
	// claimed again.
	for _, id := range []int{901, 902} {
		x.insert(id, fmt.Sprint("mine", id))
		x.free(fmt.Sprint("mine", id))
	}
	report, err := r.Repair(t.Context(), users)
	repaired := 0
	for f := range report.Findings() {
		if f.Class == reconcile.Unclaimed && f.Outcome == reconcile.Repaired {
			repaired++
		}
	}
	if repaired != 2 || x.owner("mine901") != 901 || x.owner("mine902") != 902 {
		t.Errorf("%d of 2 are claimed again: %v\n%v", repaired, err, report)
	}
	close(over)
	clients.Wait()
	if done[0].Load() < 10 || done[1].Load() < 5 || done[2].Load() == 0 {
		t.Errorf("%d writes, %d taken, %d given up", done[0].Load(), done[1].Load(), done[2].Load())
	}
	<-time.After(time.Minute)
	owners := make(map[string]int)
	iter := s.Reads().Query("SELECT id, email FROM users").Iter()
	var id int
	for email := new(string); iter.Scan(&id, &email); email = new(string) {
		if email == nil {
			continue
		}
		if owners[*email] != 0 || x.owner(*email) != id {
			t.Errorf("%s is of %d and %d, and claimed for %d", *email, owners[*email], id, x.owner(*email))
		}
		owners[*email] = id
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := r.Repair(t.Context(), users); err != nil {
		t.Errorf("%v\n%v", err, report)
	}
	if report, err := r.Verify(t.Context(), users); err != nil || report.Tables[2].Unheld+len(owners) < addresses/2 {
		t.Errorf("%v\n%v", err, report)
	}
}
