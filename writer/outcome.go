package writer

import (
	"fmt"

	"github.com/denorm-go/denorm/retry"
)

// Outcome says what is known about one table after a write ([TableResult]), or about a call as a whole ([OutcomeOf]).
type Outcome uint8

const (
	// Unknown is the zero value: the table may or may not show the write, now or later.
	Unknown Outcome = iota
	// Applied means that the table has acknowledged the write at the consistency level.
	Applied
	// NotApplied means that the write is surely not in the table and will not appear.
	NotApplied
	// Pending means that the write is stored elsewhere and comes to the table from there. Either the batchlog has stored it: its
	// replay is expected within seconds, but is not certain, as a stopped node keeps its batches until it is restarted. Or the table
	// is a query table of a [tables.Versioned] set whose base row has the change: then the next write or Modify of the entity brings
	// it, or a Resume.
	Pending

	// What follows is said by OutcomeOf alone.

	// Conflict is [ErrConflict], and NotApplied.
	Conflict
	// Taken is [ErrTaken], and NotApplied.
	Taken
	// Invalid is [ErrInvalid]: nothing was sent.
	Invalid
	// NotFound is [ErrNotFound]: nothing was written.
	NotFound
)

func (o Outcome) String() string {
	switch o {
	case Unknown:
		return "unknown"
	case Applied:
		return "applied"
	case NotApplied:
		return "not applied"
	case Pending:
		return "pending"
	case Conflict:
		return "conflict"
	case Taken:
		return "taken"
	case Invalid:
		return "invalid"
	case NotFound:
		return "not found"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

func outcomeOf(c retry.Class) Outcome {
	switch c {
	case retry.Safe, retry.Permanent:
		return NotApplied
	case retry.Pending:
		return Pending
	case retry.Decided:
		return Applied
	case retry.Unknown:
	}
	return Unknown
}

// then is what is known after a request that had outcome o was sent again and ended with next: what may have happened
// stays possible, whatever the later error.
func (o Outcome) then(next Outcome) Outcome {
	switch {
	case o == Applied || next == Applied:
		return Applied
	case o == Pending || next == Pending:
		return Pending
	case o == NotApplied && next == NotApplied:
		return NotApplied
	}
	return Unknown
}

// and is the outcome of a table of which two parts travelled in different requests. Half applied is Unknown: neither
// Applied nor NotApplied would be true of it.
func (o Outcome) and(other Outcome) Outcome {
	switch {
	case o == other:
		return o
	case o == Applied && other == Pending, o == Pending && other == Applied:
		return Pending
	}
	return Unknown
}
