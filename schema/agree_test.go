package schema

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

// eachNode answers as nodes do that are asked one after the other, each with its own schema version.
type eachNode struct {
	versions []int
	asked    int
}

func (n *eachNode) rows(_ context.Context, statement string, _ ...any) (out []map[string]any, _ error) {
	if strings.Contains(statement, "system.peers") {
		for i := range n.versions[1:] {
			out = append(out, map[string]any{"host_id": gocql.UUID{byte(i + 1)}, "peer": i + 1, "data_center": fmt.Sprint("dc", i+1)})
		}
		return append(out, map[string]any{"peer": 9}), nil // what is left of a former node
	}
	at := n.asked % len(n.versions)
	n.asked++
	return []map[string]any{{"host_id": gocql.UUID{byte(at)}, "schema_version": gocql.UUID{byte(n.versions[at])}}}, nil
}

// Nodes agree if each has the same version itself. Otherwise the error says so.
func TestAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		versions []int
		want     string
	}{
		{[]int{1}, "<nil>"},
		{[]int{1, 1, 1}, "<nil>"},
		{[]int{1, 1, 2}, "the nodes have different schemas: see nodetool describecluster, and apply again when they agree"},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := (&applier{reader: &eachNode{versions: c.versions}}).agree(t.Context())
			if got := fmt.Sprint(err); got != c.want {
				t.Errorf("versions %v: %s, want %s", c.versions, got, c.want)
			}
		})
	}
}

// A session of one datacentre cannot ask the nodes of others. That is said at once, and only where there are others.
func TestAgreeOfOneDatacentre(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]string{
		1: "<nil>",
		2: "<nil>",
		3: "not every node can be asked for its schema: open the session without session.LocalDC",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err := (&applier{local: "dc1", reader: &eachNode{versions: make([]int, nodes)}}).agree(t.Context())
			if got := fmt.Sprint(err); got != want || time.Since(began) > 0 {
				t.Errorf("%d nodes, after %v: %s, want %s", nodes, time.Since(began), got, want)
			}
		})
	}
}
