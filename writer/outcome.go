package writer

import (
	"errors"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// Outcome is what is known about one table after a write ([TableResult]), or about a call as a whole ([OutcomeOf]).
type Outcome = retry.Outcome

const (
	// Unknown is the zero value: the table may or may not show the write, now or later.
	Unknown = retry.Unknown
	// Applied means that the table has acknowledged the write at the consistency level.
	Applied = retry.Applied
	// NotApplied means that the write is surely not in the table and will not appear.
	NotApplied = retry.NotApplied
	// Pending means that the write is stored elsewhere, and is expected to reach the table from there. If the batchlog
	// has stored it, the server replays it, usually within seconds: see [LoggedBatch]. Otherwise the base row of a
	// [tables.Versioned] set has the change, and the table is a query table. Then a Resume, or the next write or Modify
	// of the entity, brings the change to the table.
	Pending = retry.Pending

	// Only OutcomeOf returns the following.

	// Conflict means [ErrConflict], and that the write is NotApplied. If it may have been applied, OutcomeOf returns
	// Unknown.
	Conflict = retry.Conflict
	// Taken means [ErrTaken], and that the write is NotApplied.
	Taken = retry.Taken
	// Invalid means [ErrInvalid], and that nothing was applied. After a rejected Resume OutcomeOf returns Unknown.
	Invalid = retry.Invalid
	// NotFound means [ErrNotFound]: nothing was written.
	NotFound = retry.NotFound
)

// OutcomeOf returns what became of the call that returned err, so that a service has one switch for all of its answers:
//
//	Applied     every table has it, or the rows were read: err is nil
//	Unknown     it may have been applied, in part or as a whole, now or later: resume it if it is Resumable
//	NotApplied  nothing of it is in any table, or nothing was read: repeat it, but not after ErrRefused or ErrTooLarge
//	Conflict    another writer came first, and nothing was applied: read the row again, and decide
//	Taken       another entity has the key, or is about to have it, and nothing was applied: see [Error.NotApplied]
//	Invalid     the call or the row is not valid, and nothing was applied
//	NotFound    there is no such row, and nothing was written
//
// Look for your own errors first: an err without an error of denorm is Unknown. For joined and stored errors see the
// package documentation. Once the error was given to Resume, the outcome no longer holds.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	outcome, _ := outcomeIn(err)
	return outcome
}

// outcomeIn is what the library's errors in a tree say, and whether there are any.
func outcomeIn(err error) (outcome Outcome, found bool) {
	switch err {
	case ErrInvalid: //nolint:errorlint // it walks the tree itself
		return Invalid, true
	case ErrConflict:
		return Conflict, true
	case ErrTaken:
		return Taken, true
	case ErrNotFound:
		return NotFound, true
	case ErrTooLarge:
		return NotApplied, true
	case ErrUnknown, ErrPartial, ErrExpired:
		return Unknown, true
	}
	switch err := err.(type) { //nolint:errorlint // it walks the tree itself
	case *Error:
		if err == nil {
			return Unknown, false // says nothing, and is not nil as an error
		}
		return err.outcome(), true
	case interface{ Internal() req.Told }: // of packages reader and bulk
		return Outcome(err.Internal()), true
	case interface{ Unwrap() error }:
		return outcomeIn(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			switch next, is := outcomeIn(one); {
			case !is:
			case !found || next == Unknown:
				outcome, found = next, true
			case next != outcome && outcome != Unknown:
				outcome = NotApplied
			}
		}
		return outcome, found
	}
	return Unknown, false
}

// outcome is what the error says of the call as a whole.
func (e *Error) outcome() Outcome {
	switch {
	case len(e.Tables) == 0 && e.Is(ErrInvalid) && e.NotApplied():
		return Invalid
	case e.stored || e.expired || !e.NotApplied():
		return Unknown
	case errors.Is(e.unread, ErrNotFound):
		return NotFound
	case e.wrongImage():
		return Invalid
	case errors.Is(e.known.Err, ErrTaken):
		return Taken
	case e.Is(ErrConflict):
		return Conflict
	}
	return NotApplied
}
