//go:build faults

package contended_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/integration/suite/nodes"
)

// Sixteen writers change one row while a node of three is stopped.
func TestOneRowNodeStopped(t *testing.T) {
	cluster.Alone(t)
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	for _, processes := range []int{1, 4} {
		clients := resumers(t, p, 16, processes, nil)
		all := cluster.Nodes(t)
		if err := all[2].Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		name := map[int]string{1: "one process, a node stopped", 4: "four processes, a node stopped"}[processes]
		oneRow(t, p, name, clients, length(5*time.Second, 30*time.Second), func() {
			if err := all[2].Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := cluster.Whole(t.Context(), all); err != nil {
				t.Fatal(err)
			}
		})
	}
}
