package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A node that forgot its schema when it was killed would lose rows, and a test of faults would blame the library. It
// may be paused.
func TestNodesOfVolatileCluster(t *testing.T) {
	home := t.TempDir()
	t.Setenv(HomeEnv, home)
	s := &state{Mode: Local, Nodes: 3, Hosts: loopbacks(3), Ready: true}
	for _, s.Volatile = range []bool{false, true} {
		if err := s.save(home); err != nil {
			t.Fatal(err)
		}
		_, nodes, err := findNodes(s.Hosts)
		if err != nil || len(nodes) != 3 {
			t.Fatalf("volatile %v: %d nodes, %v", s.Volatile, len(nodes), err)
		}
		for what, end := range map[string]func(context.Context) error{"kill": nodes[0].Kill, "stop": nodes[0].Stop} {
			if err := end(t.Context()); s.Volatile != errors.Is(err, errVolatile) {
				t.Errorf("volatile %v: %s: %v", s.Volatile, what, err)
			}
		}
		if got := slices.Contains(s.properties(), "-Dcassandra.test.flush_local_schema_changes=false"); got != s.Volatile {
			t.Errorf("volatile %v: properties %q", s.Volatile, s.properties())
		}
	}
}
