package reconcile

import (
	"fmt"
	"io"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// Class says in what way a row disagrees with the base row.
type Class = repair.Class

// The classes of findings.
const (
	Missing   = repair.Missing   // the table lacks the row that the base row should have there
	Differing = repair.Differing // the row is there, is not newer than the base row, and has other values
	Ghost     = repair.Ghost     // a row that is not newer than the base row, under a key that the base row does not have
	Orphan    = repair.Orphan    // a row of an entity that has no base row, or a row whose base key is null
	Newer     = repair.Newer     // a row that is newer than the base row
	Ahead     = repair.Ahead     // the entity has a time more than Settle in the future: see [KeepAhead] and [RemoveAhead]
	Undatable = repair.Undatable // a row for which nothing says when it was written
	Unclaimed = repair.Unclaimed // the base row has a unique key that is not claimed for it
	// Two base rows have the same unique key, or the same tables.ID. [Finding.Other] is the other row: the claim's owner,
	// if that is not this one.
	Shared = repair.Shared
)

// Certainty says how certain it is that a finding is not a write in flight.
type Certainty = repair.Certainty

// The certainties of findings.
const (
	// Settled: seen for longer than Settle. It may still go away if a stored error is resumed, or a hint or a batchlog
	// entry is delivered.
	Settled = repair.Settled
	// Proven: nothing that may still be delivered explains it.
	Proven = repair.Proven
)

// Outcome says what a repair did about a finding.
type Outcome uint8

// The outcomes of findings.
const (
	Found    Outcome = iota // nothing was tried: the call only compares, or Reason says why
	Repaired                // the tables agree now: they were read back
	Shadowed                // a delete covers the row: it was sent again with its own timestamp, and is still not there; see [Rewrite]
	Changed                 // the entity was written meanwhile: look again
	Failed                  // requests failed; Reason says which
)

func (o Outcome) String() string {
	return [...]string{"found", "repaired", "shadowed", "changed", "failed"}[min(o, Failed)]
}

// Finding is a row that disagrees with its base row.
type Finding struct {
	Class     Class
	Certainty Certainty
	Table     string // physical, with its keyspace
	Column    string // a column that differs, if Class is Differing
	// BaseTime and RowTime are when the base row and the row were written; zero if there is no such row.
	BaseTime, RowTime time.Time
	// FirstSeen is when the row was first seen in this state.
	FirstSeen time.Time
	Outcome   Outcome
	Reason    string // why the row was left as it is, if it was

	key    string
	entity string // encoded base key
	other  string // that of the other entity, of Shared
	t      *table
}

// Key returns the primary key of the row, as CQL text. It is as secret as the row: String and all other formats leave
// it out.
func (f Finding) Key() string { return tablerow.KeyText(f.t.Layout, f.key) }

// Entity returns the primary key of the entity's base row, as CQL text. It is as secret as [Finding.Key]. It is empty
// for an orphan whose base key is null.
func (f Finding) Entity() string {
	if f.entity == "" {
		return ""
	}
	return tablerow.KeyText(f.t.Base(), f.entity)
}

// Other returns, for a [Shared] finding, the [Finding.Entity] of the other entity with the key or ID. It is empty for
// other classes, and for findings of a process that has died.
func (f Finding) Other() string {
	if f.other == "" {
		return ""
	}
	return tablerow.KeyText(f.t.Base(), f.other)
}

// spot is where a finding is. Two entities may have one in one place.
type spot struct {
	place
	entity string
}

func (f *Finding) spot() spot { return spot{place{f.t, f.key}, f.entity} }

// String returns the finding without the key.
func (f Finding) String() string {
	out := fmt.Sprintf("%s: %s (%s)", f.Table, f.Class, f.Certainty)
	if f.Column != "" {
		out += ", column " + f.Column
	}
	if f.Outcome != Found {
		out += ": " + f.Outcome.String()
	}
	if f.Reason != "" {
		out += ": " + f.Reason
	}
	return out
}

// Format prints [Finding.String] for every format of fmt.
func (f Finding) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, f.String()) }
