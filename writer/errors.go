package writer

import (
	"errors"

	"github.com/denorm-go/denorm/internal/decide"
	req "github.com/denorm-go/denorm/internal/request"
)

// What an [*Error] can match with errors.Is.
var (
	// ErrInvalid: the call or a row is not valid; nothing was sent. In a Versioned set it also means that the before-image has
	// the version of the row but other keys, and that nothing was applied. From Resume it means that this call has sent nothing:
	// the write may be half applied, and while the error is [Error.Resumable] the fault may be the writer's.
	ErrInvalid = decide.ErrInvalid
	// ErrPartial: at least one table has the write, and at least one other is not known to have it. Resume it.
	ErrPartial = errors.New("partially applied")
	// ErrUnknown: for at least one table it is not known whether it has the write, or will have it. Resume it if it is
	// [Error.Resumable].
	ErrUnknown = errors.New("outcome unknown")
	// ErrConflict: the condition of the write did not hold, because another writer came first. [Current] returns the
	// row as it is. If an entity to be inserted exists already, an earlier try of the same request that got no answer
	// may have inserted it: compare Current, or give all tries one [At].
	ErrConflict = errors.New("conflict")
	// ErrTaken: another entity has, or is about to have, a key that the set declares Unique. It comes with ErrConflict.
	ErrTaken = decide.ErrTaken
	// ErrExpired: the error given to Resume is older than half the smallest gc_grace_seconds of its tables (10 days for a table that the
	// cluster does not have). The server may have purged the tombstone of a delete that followed the write, and the write would bring its row back.
	ErrExpired = errors.New("too old to resume")
	// ErrRefused: the server refuses the write to at least one table, and each repeat of it: the value is too large for an index or a
	// guardrail, or a permission is missing. See [Error.Resumable].
	ErrRefused = req.ErrRefused
	// ErrNotFound: Modify or Load found no base row under the key. Nothing was sent.
	ErrNotFound = errors.New("no such entity")
)
