//go:build faults

package drift_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
)

// sheet is what is reported of a run of the test.
type sheet struct {
	orders, rows    int // rows: those that the last repair has read
	settle          time.Duration
	want            []drift.Planted
	found           map[string]int // by kind: entities of which exactly the rows that were expected were found
	left            map[string]int // by kind: entities that disagree in the end, as expected, each reported with its reason
	false           int
	before, after   int // rows repaired by the process that was killed, entities left while a node was away
	writes, resumed int64
	lost            int // orders
	load, lasted    time.Duration
	served          time.Duration // by the service
}

func (s *sheet) write(file string) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Tables that disagree, repaired while nodes and processes die

%d orders in three tables on three real Cassandra nodes, a service that tries to make %d writes a second, and %d differences that were planted before,
also in sets with other rules. One process verifies and is killed with SIGKILL, another one continues its run. One repairs and is killed in the
middle of it; another one continues its run while a node is stopped; when the node is back, a last one repairs what the node was needed for.

The run ends with an error where a planted difference is not found as expected or not repaired, anything else is found, what is left has no
reason, a table at ALL disagrees otherwise than by what is left, or a process that continues a run does again what is done.

| | planted | found | repaired | left, with its reason |
| --- | --- | --- | --- | --- |
`, s.orders, rate(), len(s.want))
	var names []string
	count := make(map[string]int)
	repaired := make(map[string]int)
	for _, w := range s.want {
		if count[w.Name]++; !slices.Contains(names, w.Name) {
			names = append(names, w.Name)
		}
		if w.Outcome == reconcile.Repaired {
			repaired[w.Name]++
		}
	}
	what := make(map[string]string)
	for _, w := range s.want {
		what[w.Name] = strings.Join(w.Found, ", ")
	}
	var planted, found, fixed, left int
	for _, name := range names {
		fmt.Fprintf(&b, "| %s: `%s` | %d | %d | %d | %d |\n", name, what[name], count[name], s.found[name], repaired[name], s.left[name])
		planted, found, fixed, left = planted+count[name], found+s.found[name], fixed+repaired[name], left+s.left[name]
	}
	fmt.Fprintf(&b, "| **all** | **%d** | **%d** | **%d** | **%d** |\n\n", planted, found, fixed, left)
	fmt.Fprintf(&b, "False findings: %d. The service made %d writes (%.0f a second), resumed %d times what had failed; orders not acknowledged in the end: %d. "+
		"The process that was killed had repaired %d rows, which the report of the next one has, too. With a node stopped %d planted entities were left, "+
		"each with the reason that a replica is away. Settle was %v.\n\n", s.false, s.writes, float64(s.writes)/s.served.Seconds(), s.resumed, s.lost, s.before, s.after, s.settle)
	fmt.Fprintf(&b, "The last repair read %d rows. Seconds: %.0f to load the orders, %.0f in all.\n\n", s.rows, s.load.Seconds(), s.lasted.Seconds())
	fmt.Fprintf(&b, "Written by `TestNodeGoneUnderRepair` on %s, %s %s/%s. Nodes, service and repairs share %d processors with whatever else the machine does.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
