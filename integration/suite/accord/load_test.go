//go:build accord

package accord

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

var load = flag.Duration("load", 20*time.Second, "how long each load lasts")

// away is a fault that takes a node away and brings it back.
type away struct {
	name        string
	stop, start func(context.Context, *cluster.Node) error
}

// It kills no node: one of 6.0-alpha2 does not come back (docs/why/accord.md).
var faults = []away{
	{"no fault", nil, nil},
	{
		"a node unresponsive", func(ctx context.Context, n *cluster.Node) error { return n.Pause(ctx) },
		func(ctx context.Context, n *cluster.Node) error { return errors.Join(n.Continue(ctx), n.Ready(ctx)) },
	},
}

// impatient is a writer that leaves a node without an answer soon.
func (s shop) impatient() *writer.Writer {
	return s.Writer.With(writer.Timeout(10*time.Second), writer.Retry(retry.Policy{AttemptTimeout: 2 * time.Second, MaxElapsedTime: 8 * time.Second}))
}

// during runs work until the load is over, with a node away for a third of it.
func during(t *testing.T, fault away, work func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *load)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	if fault.stop != nil {
		node := cluster.Nodes(t)[1]
		time.Sleep(*load / 3)
		err := fault.stop(t.Context(), node)
		time.Sleep(*load / 3)
		if err := errors.Join(err, fault.start(t.Context(), node)); err != nil {
			t.Fatal(err)
		}
	}
	<-done
}

// edge is a write that may have made version out of before.
type edge struct{ before, version gocql.UUID }

// history is what writers were told of the orders.
type history struct {
	mu                       sync.Mutex
	acked, unknown           map[edge]bool
	conflicts, resumed, lost int
}

func (h *history) note(err error, e edge) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch outcome := writer.OutcomeOf(err); outcome {
	case writer.Applied:
		h.acked[e] = true
	case writer.Conflict:
		h.conflicts++
	case writer.NotApplied:
		h.lost++
	default:
		h.unknown[e] = true
	}
}

// Many writers change a few orders while a node is away: none of what was acknowledged is lost, nothing is applied
// twice, and no table has a row that another one lacks.
func TestHotOrders(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			s := kinds["transactional"].open(t)
			w := s.impatient()
			var orders []Order
			for range 4 {
				o := newOrder()
				o.Total = 0
				result, err := w.Write(t.Context(), "createOrder", s.orders.Insert(o))
				if err != nil {
					t.Fatal(err)
				}
				o.Version = result.Version
				orders = append(orders, o)
			}
			h := history{acked: make(map[edge]bool), unknown: make(map[edge]bool)}
			during(t, fault, func(ctx context.Context) {
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						for ctx.Err() == nil {
							var e edge
							row, err := writer.Modify(t.Context(), w, "change", s.orders, orders[rand.N(len(orders))], func(o Order) (Order, error) {
								e.before = o.Version
								o.Status, o.Total = statuses[rand.N(len(statuses))], o.Total+1
								return o, nil
							})
							e.version = row.Version
							var failed *writer.Error
							for tries := 0; errors.As(err, &failed) && failed.Resumable() && tries < 5; tries++ {
								_, err = w.Resume(t.Context(), failed)
								h.mu.Lock()
								h.resumed++
								h.mu.Unlock()
							}
							h.note(err, e)
						}
					})
				}
				wg.Wait()
			})
			t.Logf("%d acknowledged, %d unknown, %d conflicts, %d not applied, %d resumed", len(h.acked), len(h.unknown), h.conflicts, h.lost, h.resumed)
			if len(h.acked) < 30 { // they wait for each other, and the machine may have other load
				t.Error("too few writes")
			}
			s.agree(t, len(orders))
			h.check(t, s, orders)
		})
	}
}

// check follows the versions of each order from its last one to its first.
func (h *history) check(t *testing.T, s shop, orders []Order) {
	t.Helper()
	from := make(map[gocql.UUID]edge)
	for _, edges := range []map[edge]bool{h.unknown, h.acked} {
		for e := range edges {
			if other, twice := from[e.version]; twice && other != e {
				t.Errorf("%v was made twice", e.version)
			}
			from[e.version] = e
		}
	}
	onChain := make(map[edge]bool)
	for _, o := range orders {
		last, err := writer.Load(t.Context(), s.Writer, "load", s.orders, o)
		if err != nil {
			t.Fatal(err)
		}
		steps := int64(0)
		for at := last.Version; at != o.Version; steps++ {
			e, known := from[at]
			if !known || onChain[e] {
				t.Errorf("order %v: nobody has made version %v, %d steps from its last one", o.OrderID, at, steps)
				break
			}
			onChain[e], at = true, e.before
		}
		if steps != last.Total {
			t.Errorf("order %v was changed %d times, and its total is %d", o.OrderID, steps, last.Total)
		}
	}
	for e := range h.acked {
		if !onChain[e] {
			t.Errorf("the change from %v to %v was acknowledged, and is lost", e.before, e.version)
		}
	}
}

// Customers take each other's addresses while a node is away: in the end each address is that of the customer who has
// it.
func TestHotAddresses(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			s := kinds["transactional"].open(t)
			w := s.impatient()
			const customers, addresses = 4, 6
			address := func() string { return fmt.Sprintf("%d@example.org", rand.N(addresses)) }
			var mu sync.Mutex
			var moved, taken, other int
			ids := make([]gocql.UUID, customers)
			for n := range ids {
				ids[n] = gocql.MustRandomUUID()
				if _, err := w.Write(t.Context(), "signUp", s.customers.Insert(Customer{CustomerID: ids[n], Email: fmt.Sprintf("%d@example.org", n), Country: "de"})); err != nil {
					t.Fatal(err)
				}
			}
			during(t, fault, func(ctx context.Context) {
				var wg sync.WaitGroup
				for n := range 2 * customers { // two for each
					wg.Go(func() {
						for ctx.Err() == nil {
							_, err := writer.Modify(t.Context(), w, "changeEmail", s.customers, Customer{CustomerID: ids[n%customers]}, func(c Customer) (Customer, error) {
								c.Email = address()
								return c, nil
							})
							mu.Lock()
							switch writer.OutcomeOf(err) {
							case writer.Applied:
								moved++
							case writer.Taken:
								taken++
							default:
								other++
							}
							mu.Unlock()
						}
					})
				}
				wg.Wait()
			})
			t.Logf("%d moved, %d taken, %d others", moved, taken, other)
			if moved < 20 || taken < 20 {
				t.Error("too few changes")
			}
			has := make(map[string]string)
			for _, row := range s.rows(t, "customers", "customer_id, email") {
				has[row] = row
			}
			owners := s.rows(t, "customer_of_email", "customer_id, email")
			if len(has) != customers || len(owners) != customers {
				t.Errorf("%d customers have %d addresses", len(has), len(owners))
			}
			for _, owner := range owners {
				if has[owner] == "" {
					t.Errorf("an address has an owner that does not have it: %s", owner)
				}
			}
		})
	}
}
