package temporal

import (
	"math/bits"

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

// planned returns the range with a number. The tables of a phase are cut into equal ranges, which are numbered one
// table after the other.
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
	Rows      map[string]int64 `json:"rows,omitempty"` // that were compared, by table
	Filled    int64            `json:"filled,omitempty"`
	Found     engine.Found     `json:"found,omitempty"`
	Unheld    map[string]int64 `json:"unheld,omitempty"`
	Ending    map[string]int64 `json:"ending,omitempty"`
	Put       int64            `json:"put,omitempty"`
	InFlight  int64            `json:"inFlight,omitempty"`
	Uncovered int64            `json:"uncovered,omitempty"`
	Gaps      []Gap            `json:"gaps,omitempty"`
}

// add adds what was done of a unit.
func (s *sums) add(phase *engine.Phase, in span, done engine.Done) {
	if s.Rows == nil {
		s.Rows = make(map[string]int64)
	}
	if s.Unheld == nil {
		s.Unheld = make(map[string]int64)
	}
	if s.Ending == nil {
		s.Ending = make(map[string]int64)
	}
	name := phase.Names[in.Table]
	if phase.Fills {
		s.Filled += done.Rows
	} else {
		s.Rows[name] += done.Rows
	}
	s.Found.AddAll(done.Found)
	s.Unheld[name] += done.Unheld
	if !phase.Fills {
		s.Ending[name] += done.Ending
	}
	s.Put += done.Put
	s.InFlight += done.InFlight
	if s.Uncovered += done.Uncovered; done.Uncovered > 0 && len(s.Gaps) < mostGaps {
		s.Gaps = append(s.Gaps, Gap{name, in.Low, done.Cursor})
	}
}
