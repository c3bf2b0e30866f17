//go:build faults

package hot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/writer"
)

// fault takes a node away and brings it back.
type fault struct {
	name        string
	stop, start func(context.Context, *cluster.Node) error
}

var (
	silent = fault{
		"unresponsive",
		func(ctx context.Context, n *cluster.Node) error { return n.Pause(ctx) },
		func(ctx context.Context, n *cluster.Node) error { return errors.Join(n.Continue(ctx), n.Ready(ctx)) },
	}
	killed = fault{
		"killed",
		func(ctx context.Context, n *cluster.Node) error { return n.Kill(ctx) },
		func(ctx context.Context, n *cluster.Node) error { return n.Start(ctx) },
	}
)

// openWithNodes makes a market of a test that has the cluster to itself.
func openWithNodes(t *testing.T) (*market, []*cluster.Node) {
	t.Helper()
	cluster.Alone(t)
	m := open(t)
	nodes := cluster.Nodes(t)
	m.restart = func(ctx context.Context, host string) error {
		for _, n := range nodes {
			if n.Host() == host {
				return errors.Join(n.Kill(ctx), n.Start(ctx))
			}
		}
		return errors.New("no node " + host)
	}
	return m, nodes
}

// A node is taken away while hot orders are moved, and comes back. Batches are those that fall back to a fan-out while
// no batchlog can be written, as services have them; the strict ones, which all but stop meanwhile, have only the full
// length.
func TestNodeAwayFromHotOrders(t *testing.T) {
	market, nodes := openWithNodes(t)
	tried := []hot.Mode{hot.FanOut, hot.Grouped, hot.Auto}
	before, away := time.Second, 2*time.Second
	if *long {
		tried = append(tried, hot.Logged)
		before, away = 5*time.Second, 10*time.Second
	}
	for _, mode := range tried {
		for _, fault := range []fault{silent, killed} {
			name := string(mode)
			if mode == hot.Auto {
				name = "batch with fallback"
			}
			t.Run(name+" with a node "+fault.name, func(t *testing.T) {
				m := market.in(t)
				m.wantRequestsTo(nodes[1].Host())
				m.killed[nodes[1].Host()] = m.killed[nodes[1].Host()] || fault.name == killed.name
				ended := make(chan hot.Figures, 1)
				go func() { ended <- m.run(orders.Orders, m.impatient(mode)) }()
				time.Sleep(before)
				err := fault.stop(t.Context(), nodes[1])
				time.Sleep(away)
				err = errors.Join(err, fault.start(t.Context(), nodes[1]))
				f := <-ended
				if err != nil {
					t.Fatal(err)
				}
				if fault.name == silent.name && f.Resumed == 0 {
					t.Error("no write was resumed: this load is of no use")
				}
				m.check(f, "")
			})
		}
	}
}

// wantRequestsTo waits until the session of the writers sends requests to a node: after the load before, which stopped
// the node, it may still leave it out, and then the node would be missed by no write.
func (m *market) wantRequestsTo(host string) {
	m.Helper()
	began := time.Now()
	for time.Since(began) < patience {
		iter := m.write.Query("SELECT key FROM system.local").WithContext(m.Context()).Iter()
		asked := iter.Host() // nil if no node was asked
		if err := iter.Close(); err == nil && asked.ConnectAddress().String() == host {
			m.Logf("%s was asked after %.1f s", host, time.Since(began).Seconds())
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	m.Fatalf("no request was sent to %s", host)
}

// impatient makes writers of which every other one gives up early, and leaves the rest to Resume.
func (m *market) impatient(mode hot.Mode) []*writer.Writer {
	ws := same(m.writer().With(mode.Options()...))
	impatient := ws[0].With(hot.Impatient())
	for n := 1; n < len(ws); n += 2 {
		ws[n] = impatient
	}
	return ws
}
