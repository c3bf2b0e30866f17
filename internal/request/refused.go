package request

import (
	"errors"

	"github.com/denorm-go/denorm/retry"
)

// ErrRefused is an answer of the server that no repeat changes.
var ErrRefused = errors.New("refused by the server")

// RefusedError is a cause that matches ErrRefused.
type RefusedError struct{ Cause error }

func (e *RefusedError) Error() string { return e.Cause.Error() }
func (e *RefusedError) Unwrap() error { return e.Cause }

// Is matches ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// MarkRefused is err, as a RefusedError if it is one.
func MarkRefused(err error) error {
	if err == nil || !retry.Classify(err, retry.Partition).Final {
		return err
	}
	return &RefusedError{err}
}
