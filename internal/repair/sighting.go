package repair

import (
	"cmp"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/tablerow"
)

// Certainty says how sure it is that findings are no writes in flight.
type Certainty uint8

// The certainties.
const (
	Agrees   Certainty = iota // there are no findings
	InFlight                  // a write that has not ended yet may explain them: nothing to report
	// Settled findings have lasted for longer than a write: only a hint, or an error that is resumed, may explain them.
	Settled
	Proven // nothing that is still to be delivered explains them
)

func (c Certainty) String() string {
	return [...]string{Agrees: "agrees", InFlight: "in flight", Settled: "settled", Proven: "proven"}[c&3]
}

// Patience is how long findings of a set have to last.
type Patience struct {
	// Settle is longer than any write takes, from its timestamp until the last of its mutations is applied, by clocks that
	// differ.
	Settle time.Duration
	// Horizon is how long after it was first seen a finding is proven.
	Horizon time.Duration
	// At says that the set may be written with At: timestamps do not tell how old a write is.
	At bool
	// Versioned says that the set is Versioned, and that each look read the query tables first, then the base row at
	// SERIAL.
	Versioned bool
}

// Sighting is what looks at one entity have found. The zero value has seen nothing. Its fields may be stored, findings
// whole, and a later run continue it. It is not for concurrent use.
//
// Age is counted from when something was first seen. Two looks that are Settle apart confirm findings in which
// everything is older than Settle at the first look: a write that explains what the first look saw began before it, and
// is complete at the second. Where something is younger, a create that is in flight at the first look and a delete that
// is in flight at the second give the same findings, and only a third look tells.
type Sighting struct {
	Findings []Finding // on which the looks agree
	First    time.Time // when the first of these looks began
	Last     time.Time // when the last one that counts had ended
	Looks    int       // how many of them count: those that are Settle apart
}

// Look adds a look that took from began to ended, and gives how certain its findings are. Next is when another look can
// make them more certain, zero if none can.
func (s *Sighting) Look(began, ended time.Time, findings []Finding, p Patience) (c Certainty, next time.Time) {
	findings = ordered(findings)
	apart := p.Settle
	if p.Versioned {
		apart = 0 // a row is in the query tables before its version is no longer pending
	}
	switch {
	case len(findings) == 0:
		*s = Sighting{}
		return Agrees, time.Time{}
	case !slices.Equal(s.Findings, findings):
		*s = Sighting{Findings: findings, First: began, Last: ended, Looks: 1}
	case began.Sub(s.Last) >= apart:
		s.Last = ended
		s.Looks++
	}
	needed := 3
	if p.Versioned || !p.At && s.older(p.Settle) {
		needed = 2
	}
	proven := s.First.Add(p.Horizon)
	switch {
	case s.Looks < needed:
		return InFlight, s.Last.Add(apart)
	case p.Versioned || !began.Before(proven):
		return Proven, time.Time{}
	}
	return Settled, proven
}

// Same says whether findings are the same, in whatever order.
func Same(a, b []Finding) bool { return slices.Equal(ordered(a), ordered(b)) }

func ordered(findings []Finding) []Finding {
	return slices.SortedFunc(slices.Values(findings), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	})
}

// older says whether everything in the findings was older than settle at the first look. Times in another unit do not
// say.
func (s *Sighting) older(settle time.Duration) bool {
	limit := s.First.Add(-settle).UnixMicro()
	return !slices.ContainsFunc(s.Findings, func(f Finding) bool {
		return max(f.BaseAt, f.RowAt) >= limit || tablerow.Unit(f.BaseAt) != "" || tablerow.Unit(f.RowAt) != "" ||
			f.BaseAt == 0 && f.Class != Orphan || f.RowAt == 0 && f.Class != Missing && f.Class != Unclaimed
	})
}
