//go:build faults

package orderservice_test

import (
	"flag"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	load "github.com/denorm-go/denorm/integration/load/orderservice"
)

// long gives the load the length that its figures are reported for.
var long = flag.Bool("long", false, "run the faults for 30 s each, not for a few seconds")

// A node is killed under load, and comes back. No client is told anything wrong, whatever it is told; how many are told
// something definite is reported.
func TestNodeStopped(t *testing.T) {
	cluster.Alone(t)
	length, before, fault := 10*time.Second, time.Second, 4*time.Second
	if *long {
		length, before, fault = 30*time.Second, 5*time.Second, 12*time.Second
	}
	for name, node := range map[string]struct {
		stop, start func(*testing.T, *cluster.Node)
	}{
		"killed": {
			func(t *testing.T, n *cluster.Node) { t.Helper(); try(t, n.Kill(t.Context())) },
			func(t *testing.T, n *cluster.Node) { t.Helper(); try(t, n.Start(t.Context())) },
		},
		"silent": {
			func(t *testing.T, n *cluster.Node) { t.Helper(); try(t, n.Pause(t.Context())) },
			func(t *testing.T, n *cluster.Node) { t.Helper(); try(t, n.Continue(t.Context())) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster.Need(t, 3)
			keyspace := cluster.Keyspace(t, 3, orders.Schema.Statements()...)
			nodes := cluster.Nodes(t)
			l := load.New(8, 1, 2*time.Minute)
			t.Cleanup(l.Close)
			l.Ask(load.Target{URL: start(t, keyspace).url}, load.Target{URL: start(t, keyspace).url})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				l.Live(t.Context(), 5000, length)
			}()

			time.Sleep(before)
			node.stop(t, nodes[1])
			stopped := time.Now()
			time.Sleep(fault)
			started := time.Now()
			node.start(t, nodes[1])
			back := time.Now()

			<-ended
			t.Log(l)
			for _, stretch := range []struct {
				name     string
				from, to time.Time
			}{
				{"before the stop", time.Time{}, stopped},
				{"first 2 s of it", stopped, stopped.Add(2 * time.Second)},
				{"from then to the start", stopped.Add(2 * time.Second), started},
				{"during the start", started, back},
				{"from 2 s after the stop", stopped.Add(2 * time.Second), time.Time{}},
			} {
				share, requests := l.Definite(stretch.from, stretch.to)
				t.Logf("%-24s  %6.2f %% of %d answers are definite", stretch.name, 100*share, requests)
			}
			if l.Wrong() > 0 {
				t.Errorf("%d wrong answers", l.Wrong())
			}
		})
	}
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
