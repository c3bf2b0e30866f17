package writer

import (
	"github.com/denorm-go/denorm/retry"
)

// Outcome says what is known about one table after a write ([TableResult]), or about a call as a whole ([OutcomeOf]).
type Outcome = retry.Outcome

const (
	// Unknown is the zero value: the table may or may not show the write, now or later.
	Unknown = retry.Unknown
	// Applied means that the table has acknowledged the write at the consistency level.
	Applied = retry.Applied
	// NotApplied means that the write is surely not in the table and will not appear.
	NotApplied = retry.NotApplied
	// Pending means that the write is stored elsewhere and reaches the table from there. Either the batchlog has stored it: its
	// replay is expected within seconds, but is not certain, as a stopped node keeps its batches until it is restarted. Or the table
	// is a query table of a [tables.Versioned] set whose base row has the change: then the next write or Modify of the entity, or a
	// Resume, brings it to the table.
	Pending = retry.Pending

	// Only OutcomeOf returns the following.

	// Conflict means [ErrConflict]: the write is NotApplied.
	Conflict = retry.Conflict
	// Taken means [ErrTaken]: the write is NotApplied.
	Taken = retry.Taken
	// Invalid means [ErrInvalid]: nothing was applied.
	Invalid = retry.Invalid
	// NotFound means [ErrNotFound]: nothing was written.
	NotFound = retry.NotFound
)
