package request

import (
	"fmt"
	"io"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
)

// shownError is an answer of a server with another text.
type shownError struct {
	error
	text string
}

func (e *shownError) Error() string { return e.text }

// Format prints the text for every verb: %#v would show the answer.
func (e *shownError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.text) }

func (e *shownError) Unwrap() error { return e.error }

// Shown makes an error one line that can be printed, whatever the server has sent, and leaves the key out of it. Cassandra names a partition
// that nodetool has denylisted by its key, which is a value that was bound (StorageProxy of 4.1 and 5.0).
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
	return &shownError{err, text}
}
