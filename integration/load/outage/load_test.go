//go:build faults

package outage_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/session"
)

// long gives the loads the length that their figures are reported for.
var long = flag.Bool("long", false, "let the faults last for 30 s, not for a few seconds")

// contender is a way to write, and what became of its writes.
type contender struct {
	name  string
	write func(context.Context) (attempts int, err error)

	mu     sync.Mutex
	writes []write
}

type write struct {
	at       time.Duration // since the begin
	took     time.Duration
	attempts int
	err      error
}

// perSecond is how many writes each contender begins.
func perSecond() time.Duration {
	if *long {
		return 40
	}
	return 10 // the short form shows what becomes of writes, on machines that may have no more than two cores for three nodes
}

// run writes at a steady rate, however long writes take, until ctx ends.
func (c *contender) run(ctx context.Context, begin time.Time) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(time.Second / perSecond())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		wg.Go(func() {
			at := time.Now()
			attempts, err := c.write(context.WithoutCancel(ctx))
			c.mu.Lock()
			defer c.mu.Unlock()
			c.writes = append(c.writes, write{at.Sub(begin), time.Since(at), attempts, err})
		})
	}
}

// between sums up the writes that began from one second to another.
func (c *contender) between(from, to int) (p50, p99, most time.Duration, attempts, failed int) {
	var took []time.Duration
	for _, w := range c.writes {
		if second := int(w.at / time.Second); second < from || second >= to {
			continue
		}
		took = append(took, w.took)
		attempts += w.attempts
		if w.err != nil {
			failed++
		}
	}
	if len(took) == 0 {
		return 0, 0, 0, 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[(len(took)*99+99)/100-1], took[len(took)-1], attempts, failed
}

// failures fails the test for every kind of error of c.
func (c *contender) failures(t *testing.T) {
	t.Helper()
	seen := make(map[string]int)
	for _, w := range c.writes {
		if w.err != nil {
			if seen[w.err.Error()]++; seen[w.err.Error()] == 1 {
				t.Errorf("%s: a write at %v failed after %v: %v", c.name, w.at, w.took, w.err)
			}
		}
	}
}

// fault is when something happens, in seconds.
type fault struct{ begin, end, stop int }

// length is that of a fault, with time before and after it.
func length() fault {
	if *long {
		return fault{10, 40, 55}
	}
	return fault{4, 11, 14}
}

// warm has the contenders write one at a time before the load begins: nodes that have just started are slow for as long
// as they compile.
func warm(t *testing.T, contenders ...*contender) {
	t.Helper()
	writes := 50
	if *long {
		writes = 1000
	}
	var wg sync.WaitGroup
	for _, c := range contenders {
		wg.Go(func() {
			for range writes {
				if _, err := c.write(t.Context()); err != nil {
					t.Logf("warming up, %s: %v", c.name, err)
				}
			}
		})
	}
	wg.Wait()
}

// endure runs the contenders side by side, with the fault in between.
func endure(t *testing.T, f fault, begin, end func(context.Context) error, contenders ...*contender) {
	t.Helper()
	warm(t, contenders...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	start := time.Now()
	for _, c := range contenders {
		wg.Go(func() { c.run(ctx, start) })
	}
	until := func(second int) { <-time.After(time.Until(start.Add(time.Duration(second) * time.Second))) }
	until(f.begin)
	if err := begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(f.end)
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(f.stop)
	cancel()
	wg.Wait()
	last := int(time.Since(start) / time.Second)
	var table strings.Builder
	fmt.Fprintf(&table, "%6s", "second")
	for _, c := range contenders {
		fmt.Fprintf(&table, " | %-22s p50 ms   p99 ms   max ms  requests failed", c.name)
	}
	for n := range last {
		fmt.Fprintf(&table, "\n%6d", n-f.begin)
		for _, c := range contenders {
			p50, p99, most, attempts, failed := c.between(n, n+1)
			fmt.Fprintf(&table, " | %29.1f %8.1f %8.1f %9d %6d", ms(p50), ms(p99), ms(most), attempts, failed)
		}
	}
	t.Logf("the fault lasts from second 0 to %d\n%s", f.end-f.begin, table.String())
	for _, c := range contenders {
		_, usual, _, _, _ := c.between(1, f.begin)
		for _, later := range []int{2, 5} {
			p50, p99, most, _, failed := c.between(f.begin+later, f.end)
			t.Logf("%s: p99 before %.1f ms; from %d s after the begin of the fault until its end p50 %.1f ms, p99 %.1f ms (%.1f times), max %.1f ms, %d failed",
				c.name, ms(usual), later, ms(p50), ms(p99), float64(p99)/float64(usual), ms(most), failed)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// open makes a keyspace with the orders' tables, and a session for each contender.
func open(t *testing.T) (connect func(...func(*gocql.ClusterConfig)) *gocql.Session) {
	t.Helper()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3)
	cluster.ChangeSchema(t, keyspace, orders.Schema.Statements()...)
	return func(changes ...func(*gocql.ClusterConfig)) *gocql.Session {
		configure := func(config *gocql.ClusterConfig) { session.Configure(config, "") }
		return cluster.Session(t, keyspace, append([]func(*gocql.ClusterConfig){configure}, changes...)...)
	}
}

// driversPolicy is what a service without SelectHosts has.
func driversPolicy(config *gocql.ClusterConfig) {
	config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
	config.FrameHeaderObserver = nil
}
