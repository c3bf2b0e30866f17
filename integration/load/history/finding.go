package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/writer"
)

// Kind is what is wrong.
type Kind string

// The kinds of findings.
const (
	// Lost is an acknowledged write that no table shows and no later write has overtaken.
	Lost Kind = "lost"
	// Phantom is a row or a value that no attempted write wrote.
	Phantom Kind = "phantom"
	// Ghost is a row of a query table that the base table does not confirm.
	Ghost Kind = "ghost"
	// Missing is a base row without its row in a query table.
	Missing Kind = "missing"
	// Differing is a row of a query table with another value in a column than the base row.
	Differing Kind = "differing"
	// Unsound is a write reported NotApplied that a table shows, or a table reported Applied, by an error, that does not
	// show the write.
	Unsound Kind = "unsound outcome"
	// Unequal is a WRITETIME that is not the timestamp of the write that the row is of.
	Unequal Kind = "unequal WRITETIME"
)

// Kinds lists all of them.
var Kinds = []Kind{Lost, Phantom, Ghost, Missing, Differing, Unsound, Unequal}

// Diverges says whether an unfinished write can leave such a finding. All others are faults whatever happened.
func (k Kind) Diverges() bool { return k == Ghost || k == Missing || k == Differing }

// Finding is one thing that is wrong.
type Finding struct {
	Kind   Kind
	Table  string
	Key    string // of the row, or of the entity
	Has    string // what is there
	Want   string // what should be
	Writes string // that are concerned
	// Cause says what became of the write that has left a divergence, and By who wrote it. Without a cause By is who wrote
	// the newest write of the entity, empty if nobody wrote it.
	Cause Cause
	By    string
}

// String is one line.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s[%s] has %s, want %s", f.Kind, f.Table, f.Key, f.Has, f.Want)
	if f.Writes != "" {
		s += "; " + f.Writes
	}
	return s
}

// Report is what a check found.
type Report struct {
	Entities, Rows, Writes int
	// Ties is how many entities end with two writes at one timestamp. Which of their values a column keeps is then
	// Cassandra's choice, table by table.
	Ties     int
	Findings []Finding
}

// Count is how many findings are of a kind.
func (r *Report) Count(kind Kind) int {
	n := 0
	for _, f := range r.Findings {
		if f.Kind == kind {
			n++
		}
	}
	return n
}

// Summary is one line without the findings themselves.
func (r *Report) Summary() string {
	var counts []string
	for _, k := range Kinds {
		if n := r.Count(k); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, k))
		}
	}
	found := cmp.Or(strings.Join(counts, ", "), "nothing found")
	return fmt.Sprintf("%d entities, %d rows, %d writes, %d ties: %s", r.Entities, r.Rows, r.Writes, r.Ties, found)
}

// shown is how many findings of a kind are printed.
const shown = 10

// String is the summary, and a line for each finding, up to ten of a kind.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Summary())
	for _, k := range Kinds {
		n := 0
		for f := range slices.Values(r.Findings) {
			if f.Kind != k {
				continue
			}
			if n++; n <= shown {
				b.WriteString("\n" + f.String())
			}
		}
		if n > shown {
			fmt.Fprintf(&b, "\n%s: %d more", k, n-shown)
		}
	}
	return b.String()
}

// Cause is what became of a write that has left its entity different in two tables. Only a write that was never
// acknowledged can: one that was has replaced, in every table, whatever older writes have left.
type Cause uint8

// The causes.
const (
	// None: every write of the entity that could have left the divergence was acknowledged, or surely not applied.
	None Cause = iota
	// InFlight: its client was killed before it had an answer.
	InFlight
	// Partial: its client was told that some tables have it, and did not resume it.
	Partial
	// Open: its client was told that the outcome is unknown, and did not resume it.
	Open
)

// Causes lists all of them.
var Causes = []Cause{None, InFlight, Partial, Open}

func (c Cause) String() string { return []string{"none", "in flight", "partial", "unknown"}[c] }

// Cause is what the write would be to blame for: None if it was acknowledged, or not applied.
func (w *Write[T]) Cause() Cause {
	if w.Outcome == writer.Applied || w.Outcome == writer.NotApplied {
		return None
	}
	if w.Tables == nil {
		return InFlight
	}
	for _, o := range w.Tables {
		if o == writer.Applied {
			return Partial
		}
	}
	return Open
}

// blame finds the newest write that can have left a divergence: it is younger than the last acknowledged one. A write
// whose timestamp its client did not learn, and no row has told, may be.
func (c *checker[T]) blame() {
	var acknowledged int64
	for _, i := range c.images {
		if i.write.Outcome == writer.Applied {
			acknowledged = max(acknowledged, i.timestamp)
		}
	}
	newest := slices.MaxFunc(c.images, func(a, b *image[T]) int {
		return cmp.Compare(a.timestamp, b.timestamp)
	})
	c.cause, c.by = None, newest.write.By
	var at int64
	for _, i := range c.images {
		if i.write.Cause() == None || i.timestamp != 0 && i.timestamp < acknowledged {
			continue
		}
		if c.cause == None || i.timestamp > at {
			c.cause, c.by, at = i.write.Cause(), i.write.By, i.timestamp
		}
	}
}
