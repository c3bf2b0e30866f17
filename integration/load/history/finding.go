package history

import (
	"fmt"
	"slices"
	"strings"
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
	// Cause says what became of the write that has left a divergence, and By who wrote it. Without a cause By is who wrote the
	// newest write of the entity, empty if nobody wrote it.
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
	var b strings.Builder
	fmt.Fprintf(&b, "%d entities, %d rows, %d writes", r.Entities, r.Rows, r.Writes)
	if r.Ties > 0 {
		fmt.Fprintf(&b, ", %d ties", r.Ties)
	}
	b.WriteString(": ")
	if len(r.Findings) == 0 {
		b.WriteString("nothing found")
		return b.String()
	}
	var counts []string
	for _, k := range Kinds {
		if n := r.Count(k); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, k))
		}
	}
	b.WriteString(strings.Join(counts, ", "))
	return b.String()
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
