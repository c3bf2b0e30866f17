package retry

import "github.com/denorm-go/denorm/internal/printable"

// Outcome says what is known of a failed attempt, of all attempts of a write, or of one table after a write
// (writer.TableResult). It also says what became of a call as a whole (writer.OutcomeOf).
type Outcome uint8

const (
	// Unknown is the zero value: the write may have been applied, in whole or in part, and may still be applied later.
	Unknown Outcome = iota
	// Applied means that the write was acknowledged at the consistency level. For a failed attempt it means that a
	// lightweight transaction is decided and applied. Only the round that makes it visible to all reads timed out; a read
	// at SERIAL sees it.
	Applied
	// NotApplied means that the write was surely not applied, and will not be.
	NotApplied
	// Pending means that the write is stored elsewhere, and is applied from there. The batchlog has stored the batch: the
	// server is expected to replay it within seconds. That is not certain. A stopped node keeps its batches until it is
	// restarted, and a batch older than the smallest gc_grace_seconds of its tables is dropped. For another reason see
	// writer.Pending.
	Pending

	// Only writer.OutcomeOf returns the following.

	// Conflict means writer.ErrConflict, and that the write is NotApplied.
	Conflict
	// Taken means writer.ErrTaken, and that the write is NotApplied.
	Taken
	// Invalid means writer.ErrInvalid, and that nothing was applied.
	Invalid
	// NotFound means writer.ErrNotFound: nothing was written.
	NotFound
)

var outcomeNames = [...]string{
	"unknown", "applied", "not applied", "pending", "conflict", "taken", "invalid",
	"not found",
}

// String returns the outcome in lower case, such as "not applied".
func (o Outcome) String() string { return printable.Enum("Outcome", o, outcomeNames[:]) }

// Then returns what is known after an attempt with outcome o was followed by one with outcome next. It is sticky: what
// may have happened stays possible, whatever the later error. Applied takes precedence over Pending. Pending takes
// precedence over Unknown, because the batchlog's promise covers the whole write, whatever another attempt did.
func (o Outcome) Then(next Outcome) Outcome {
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

// And returns what is known of two parts together: what both agree on. Such parts are requests for the same table, or
// the two errors of an attempt that failed with both at once, in an unknown order. Half applied is Unknown: neither
// Applied nor NotApplied would be true of it.
func (o Outcome) And(other Outcome) Outcome {
	switch {
	case o == other:
		return o
	case o == Applied && other == Pending, o == Pending && other == Applied:
		return Pending
	}
	return Unknown
}
