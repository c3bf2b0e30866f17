//go:build regions

package regions_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/writer"
)

var rounds = flag.Int("rounds", 200, "how often both datacentres write")

// With LocalDC no request leaves the datacentre.
func TestRequestsStayInTheirDatacentre(t *testing.T) {
	_, one, two := both(t)
	for _, r := range []*region{one, two} {
		for range 100 {
			o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0))
			_, written := r.w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
			_, unread := writer.Load(t.Context(), r.w, "showOrder", orders.Orders, o)
			if err := errors.Join(written, unread); err != nil {
				t.Fatal(err)
			}
		}
		sum := 0
		for _, n := range r.asked.in {
			sum += n
		}
		if sum < 400 || r.asked.in[r.name] != sum {
			t.Errorf("requests of %s by the datacentre of their coordinators: %v", r.name, r.asked.in)
		}
		t.Logf("requests of %s by the datacentre of their coordinators: %v", r.name, r.asked.in)
	}
}

// A set with LocalSerial is rejected by a session without a datacentre, as its keyspace has two, and noted by the
// others.
func TestLocalSerialIsValidated(t *testing.T) {
	keyspace, one, _ := both(t)
	nowhere := open(t, keyspace, "")
	err := schema.Validate(t.Context(), nowhere.s, schema.Sets(tallies, locals))
	var different *schema.DifferenceError
	if !errors.As(err, &different) || len(different.Differences) != 1 || different.Differences[0].Table != "local_tallies" {
		t.Errorf("without LocalDC: %v", err)
	}
	if err := schema.Validate(t.Context(), one.s, schema.Sets(tallies, locals)); err != nil {
		t.Errorf("with LocalDC: %v", err)
	}
	found, err := schema.Differences(t.Context(), one.s, schema.Sets(locals))
	if err != nil || !slices.ContainsFunc(found, func(d schema.Difference) bool { return d.Note && strings.Contains(d.Reason, "updates are lost") }) {
		t.Errorf("with LocalDC: %v, %v", found, err)
	}
}

// each calls f for every round, some at a time.
func each(rounds int, f func(round int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 4 {
		wg.Go(func() {
			for n := int(next.Add(1)); n <= rounds; n = int(next.Add(1)) {
				f(n)
			}
		})
	}
	wg.Wait()
}

// OneOf moves from both datacentres at LOCAL_QUORUM converge: each order is in one status, the one of its base row.
func TestBothMoveOrders(t *testing.T) {
	_, one, two := both(t)
	made := make([]orders.Order, 20)
	for i := range made {
		made[i] = orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0))
		if _, err := one.w.Write(t.Context(), "createOrder", orders.Orders.Insert(made[i])); err != nil {
			t.Fatal(err)
		}
	}
	_ = sleep.For(t.Context(), 2*time.Second) // until the other datacentre has them
	var acknowledged atomic.Int64
	each(*rounds, func(round int) {
		o := made[round%len(made)]
		var wg sync.WaitGroup
		for _, r := range []*region{one, two} {
			wg.Go(func() {
				if _, err := writer.Modify(t.Context(), r.w, "move", orders.Orders, o, func(o orders.Order) (orders.Order, error) {
					o.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
					return o, nil
				}); err == nil {
					acknowledged.Add(1)
				} else {
					t.Logf("round %d in %s: %v", round, r.name, err)
				}
			})
		}
		wg.Wait()
	})
	_ = sleep.For(t.Context(), 3*time.Second)
	differ := 0
	for _, o := range made {
		var base string
		if err := one.s.Reads().Query("SELECT status FROM orders_by_id WHERE order_id = ?", o.OrderID).Consistency(gocql.All).Scan(&base); err != nil {
			t.Fatal(err)
		}
		var in []string
		for _, status := range orders.Statuses {
			var id gocql.UUID
			err := one.s.Reads().Query("SELECT order_id FROM orders_by_status WHERE status = ? AND order_id = ?", string(status), o.OrderID).
				Consistency(gocql.All).Scan(&id)
			if err == nil {
				in = append(in, string(status))
			} else if !errors.Is(err, gocql.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if len(in) != 1 || in[0] != base {
			differ++
			t.Errorf("order %v is %s, and listed as %v", o.OrderID, base, in)
		}
	}
	t.Logf("OneOf: %d of %d moves acknowledged, %d of %d orders differ at ALL", acknowledged.Load(), 2*(*rounds), differ, len(made))
}

// Versioned rows that both datacentres count up at SERIAL lose nothing.
func TestBothCount(t *testing.T) {
	_, one, two := both(t)
	const rows = 10
	for i := range rows {
		if _, err := one.w.Write(t.Context(), "begin", tallies.Insert(tally{ID: fmt.Sprint(i)})); err != nil {
			t.Fatal(err)
		}
	}
	var applied, unknown, other atomic.Int64
	each(*rounds, func(round int) {
		var wg sync.WaitGroup
		for _, r := range []*region{one, two} {
			wg.Go(func() {
				_, err := writer.Modify(t.Context(), r.w, "count", tallies, tally{ID: fmt.Sprint(round % rows)}, func(c tally) (tally, error) {
					c.N++
					return c, nil
				})
				if outcome(err) == writer.Unknown {
					unknown.Add(1)
					err = r.resume(t.Context(), stored(t, err))
				}
				switch outcome(err) {
				case writer.Applied:
					applied.Add(1)
				case writer.Conflict, writer.NotApplied:
					other.Add(1)
				default:
					t.Errorf("round %d in %s: %v", round, r.name, err)
				}
			})
		}
		wg.Wait()
	})
	sum := 0
	for i := range rows {
		var n int
		if err := two.s.Reads().Query("SELECT n FROM tallies WHERE id = ?", fmt.Sprint(i)).Consistency(gocql.Consistency(gocql.Serial)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if int64(sum) != applied.Load() {
		t.Errorf("%d counts are acknowledged, and the rows have %d", applied.Load(), sum)
	}
	t.Logf("SERIAL: %d counts acknowledged, %d unknown before Resume, %d conflicts; %d lost", applied.Load(), unknown.Load(), other.Load(), applied.Load()-int64(sum))
}

// An address that two users of two datacentres want at the same time gets one owner.
func TestBothWantAnAddress(t *testing.T) {
	_, one, two := both(t)
	var owners, none, twice atomic.Int64
	each(*rounds, func(round int) {
		address := fmt.Sprintf("%d@example.org", round)
		var wg sync.WaitGroup
		var got atomic.Int64
		for _, r := range []*region{one, two} {
			wg.Go(func() {
				_, err := users.SignUp(t.Context(), r.w, users.User{UserID: gocql.MustRandomUUID(), Email: address, Name: r.name})
				if outcome(err) == writer.Unknown {
					err = r.resume(t.Context(), stored(t, err))
				}
				switch outcome(err) {
				case writer.Applied:
					got.Add(1)
				case writer.Taken, writer.NotApplied, writer.Conflict:
				default:
					t.Errorf("round %d in %s: %v", round, r.name, err)
				}
			})
		}
		wg.Wait()
		switch got.Load() {
		case 0:
			none.Add(1)
		case 1:
			owners.Add(1)
		default:
			twice.Add(1)
			t.Errorf("%s has two owners", address)
		}
	})
	t.Logf("Unique at SERIAL: %d addresses with an owner, %d without, %d with two", owners.Load(), none.Load(), twice.Load())
}
