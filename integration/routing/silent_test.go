//go:build faults

package routing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/integration/cluster"
	"github.com/denorm-go/denorm/integration/orders"
	"github.com/denorm-go/denorm/writer"
)

// contender is a way to write, and what became of its writes.
type contender struct {
	name string
	w    *writer.Writer

	mu     sync.Mutex
	writes []write
}

type write struct {
	at       time.Duration // since the begin
	took     time.Duration
	attempts int
	failed   bool
}

const perSecond = 40 // writes of each contender, of three requests

// run writes at a steady rate, however long writes take, until ctx ends.
func (c *contender) run(ctx context.Context, begin time.Time) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		wg.Go(func() {
			at := time.Now()
			o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0))
			result, err := c.w.Write(context.WithoutCancel(ctx), "createOrder", orders.Orders.Insert(o))
			c.mu.Lock()
			defer c.mu.Unlock()
			c.writes = append(c.writes, write{at.Sub(begin), time.Since(at), result.Attempts, err != nil})
		})
	}
}

// second sums up the writes that began in a second.
func (c *contender) second(n int) (p50, p99, most time.Duration, again, failed int) {
	var took []time.Duration
	for _, w := range c.writes {
		if int(w.at/time.Second) != n {
			continue
		}
		took = append(took, w.took)
		again += w.attempts - 3
		if w.failed {
			failed++
		}
	}
	if len(took) == 0 {
		return 0, 0, 0, 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[(len(took)*99+99)/100-1], took[len(took)-1], again, failed
}

// One node of three falls silent under a steady load of createOrder in a fan-out. The figures are reported; what is held
// against the policy is how many attempts it still sends there once it should know.
func TestNodeSilent(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3)
	for _, statement := range orders.Schema {
		if err := cluster.Session(t, keyspace).Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	nodes := cluster.Nodes(t)
	ours, theirs := &contender{name: "denorm"}, &contender{name: "gocql"}
	for _, c := range []*contender{ours, theirs} {
		session := cluster.Session(t, keyspace, func(config *gocql.ClusterConfig) {
			writer.Configure(config, "")
			if c == theirs {
				config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
			}
		})
		w, err := writer.New(session, writer.Concurrent(), writer.Timeout(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		c.w = w
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	begin := time.Now()
	for _, c := range []*contender{ours, theirs} {
		wg.Go(func() { c.run(ctx, begin) })
	}
	until := func(second int) { <-time.After(time.Until(begin.Add(time.Duration(second) * time.Second))) }
	const stop, cont, end = 10, 40, 55
	until(stop)
	if err := nodes[1].Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(cont)
	if err := nodes[1].Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(end)
	cancel()
	wg.Wait()

	var table strings.Builder
	fmt.Fprintf(&table, "%6s", "second")
	late := map[*contender]int{}
	for _, c := range []*contender{ours, theirs} {
		fmt.Fprintf(&table, " | %-6s %8s %8s %8s %6s %6s", c.name, "p50 ms", "p99 ms", "max ms", "again", "failed")
	}
	for n := range end {
		fmt.Fprintf(&table, "\n%6d", n-stop)
		for _, c := range []*contender{ours, theirs} {
			p50, p99, most, again, failed := c.second(n)
			fmt.Fprintf(&table, " | %-6s %8.1f %8.1f %8.1f %6d %6d", "", ms(p50), ms(p99), ms(most), again, failed)
			if n >= stop+5 && n < cont {
				late[c] += again
			}
		}
	}
	t.Logf("the node is silent from second 0 to %d\n%s", cont-stop, table.String())
	t.Logf("second attempts from 5 s after the stop until the node goes on: denorm %d, gocql %d", late[ours], late[theirs])
	// A trial costs one of them, and there is one in a pause. What a busy machine adds, it adds to both.
	if late[ours] > 30 && late[ours] > late[theirs]/4 {
		t.Errorf("%d attempts were made again, %d with gocql's policy", late[ours], late[theirs])
	}
	for _, c := range []*contender{ours} {
		for _, w := range c.writes {
			if w.failed {
				t.Errorf("%s: a write at %v failed after %v", c.name, w.at, w.took)
				break
			}
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
