package temporal

import (
	"maps"
	"math/bits"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/internal/engine"
)

// span is a range of a table of the phase.
type span struct {
	Table int   `json:"t"`
	Low   int64 `json:"l"`
	High  int64 `json:"h"`
}

func (s span) width() uint64 { return uint64(s.High) - uint64(s.Low) }

// halves cuts a span in two. The last one is done first.
func (s span) halves() []span {
	if s.width() < 2 {
		return []span{s}
	}
	middle := s.Low + int64(s.width()/2)
	return []span{{s.Table, middle, s.High}, {s.Table, s.Low, middle}}
}

// planned returns the range with a number. The tables of a phase are cut into equal ranges, which are numbered one table after the other.
func planned(number, segments int) span {
	low := func(i int) int64 {
		q, _ := bits.Div64(uint64(i), 0, uint64(segments))
		return int64(q ^ 1<<63)
	}
	out := span{number / segments, low(number % segments), 1<<63 - 1}
	if i := number%segments + 1; i < segments {
		out.High = low(i)
	}
	return out
}

// sums are the counts of units.
type sums struct {
	Rows      map[string]int64            `json:"rows,omitempty"` // that were compared, by table
	Filled    int64                       `json:"filled,omitempty"`
	Found     map[string]map[string]int64 `json:"found,omitempty"`
	Unheld    map[string]int64            `json:"unheld,omitempty"`
	Put       int64                       `json:"put,omitempty"`
	InFlight  int64                       `json:"inFlight,omitempty"`
	Uncovered int64                       `json:"uncovered,omitempty"`
	Gaps      []Gap                       `json:"gaps,omitempty"`
}

// key identifies the result of a unit.
type key struct {
	phase, table int
	low          int64
}

// result is what was done of a unit.
type result struct {
	name string // of the table
	span
	fills bool
	done  engine.Done
}

// plus adds results to the sums, in the order of their keys: a workflow must do the same when it is replayed, and maps have no order.
func (s sums) plus(results map[key]result) sums {
	out := s
	out.Rows, out.Unheld, out.Gaps = maps.Clone(s.Rows), maps.Clone(s.Unheld), slices.Clone(s.Gaps)
	if out.Rows == nil {
		out.Rows, out.Unheld = make(map[string]int64), make(map[string]int64)
	}
	out.Found = make(map[string]map[string]int64)
	add := func(all map[string]map[string]int64) {
		for table, found := range all {
			for class, n := range found {
				if out.Found[table] == nil {
					out.Found[table] = make(map[string]int64)
				}
				out.Found[table][class] += n
			}
		}
	}
	add(s.Found)
	for _, k := range workflow.DeterministicKeysFunc(results, compareKeys) {
		r := results[k]
		if add(r.done.Found); r.fills {
			out.Filled += r.done.Rows
		} else {
			out.Rows[r.name] += r.done.Rows
		}
		if r.done.Unheld > 0 {
			out.Unheld[r.name] += r.done.Unheld
		}
		out.Put += r.done.Put
		out.InFlight += r.done.InFlight
		if out.Uncovered += r.done.Uncovered; r.done.Uncovered > 0 && len(out.Gaps) < mostGaps {
			out.Gaps = append(out.Gaps, Gap{r.name, r.Low, r.done.Cursor})
		}
	}
	return out
}

func compareKeys(a, b key) int {
	switch {
	case a.phase != b.phase:
		return a.phase - b.phase
	case a.table != b.table:
		return a.table - b.table
	case a.low < b.low:
		return -1
	case a.low > b.low:
		return 1
	}
	return 0
}
