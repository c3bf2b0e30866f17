package bulk

import (
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// ErrParked is the error of an item of [WriteAll] that was not written because an earlier change has failed. The
// earlier change was of its entity, or of another entity that takes or gives up the same key of a Unique table. Its
// error is wrapped too, so look for ErrParked before you look for a [*writer.Error]. Write the item once the earlier
// change is resumed or dropped.
var ErrParked = errors.New("an earlier change of the entity failed")

// unwrittenError is the error of an item of which nothing was sent.
type unwrittenError struct{ why, cause error }

func (e *unwrittenError) Error() string { return fmt.Sprintf("denorm: %v: %v", e.why, e.cause) }

func (e *unwrittenError) Unwrap() []error { return []error{e.why, e.cause} }

// Internal is for writer.OutcomeOf.
func (*unwrittenError) Internal() request.Told { return request.Told(retry.NotApplied) }

// Error says that not all items were read and acknowledged. The error of each item is in its [Done].
type Error struct {
	Written  int // items that were acknowledged
	Failed   int // with an error of their own
	Parked   int // with ErrParked: nothing of them was sent
	NotBegun int // read before the run ended early: nothing of them was sent
	// Cause holds the first item's error and, if the run ended early, the reason. That is an error of the source, of the
	// context or of Checkpoint, a loop that was left, or too many failed entities.
	Cause error
}

func (e *Error) Error() string {
	return fmt.Sprintf("denorm: %d items written, %d failed, %d not written after a failed one of their entity, %d not "+
		"begun: %v",
		e.Written, e.Failed, e.Parked, e.NotBegun, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// Internal is for writer.OutcomeOf.
func (*Error) Internal() request.Told { return request.Told(retry.Unknown) }

var (
	errLeft        = errors.New("the loop over All was left before the end of the source")
	errNotReturned = errors.New("it has not returned: it has ended its goroutine, as runtime.Goexit and the FailNow of " +
		"a test do")
	errManyFailed = fmt.Errorf("changes of %d entities, or %d MiB of rows, have failed: a run keeps no more: resume "+
		"them, then read the rest",
		mostParked, mostParkedBytes>>20)
)
