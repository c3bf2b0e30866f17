package request

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
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

// RewordedError is a cause with another text.
type RewordedError struct {
	Cause error
	Text  string
}

func (e *RewordedError) Error() string { return e.Text }
func (e *RewordedError) Unwrap() error { return e.Cause }

// Format prints the text for every verb: %#v would show the cause, which may be an answer of the server.
func (e *RewordedError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Text) }

// Shown makes an error one line that can be printed, whatever the server has sent, and leaves the key out of it.
// Cassandra names a partition that nodetool has denylisted by its key, which is a value that was bound (StorageProxy of
// 4.1 and 5.0).
func Shown(err error) error {
	if err == nil {
		return nil
	}
	const denylisted = "denylisted partition ["
	text := printable.Line(err.Error())
	before, rest, found := strings.Cut(text, denylisted)
	if _, after, closed := strings.Cut(rest, "]"); found && closed {
		text = before + denylisted + "key left out]" + after
	}
	if text == err.Error() {
		return err
	}
	return &RewordedError{err, text}
}
