package request

import (
	"fmt"
	"io"
	"strings"
)

// keylessError is an answer of a server without the key that its text has.
type keylessError struct {
	error
	text string
}

func (e *keylessError) Error() string { return e.text }

// Format prints the text for every verb: %#v would show the answer.
func (e *keylessError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.text) }

func (e *keylessError) Unwrap() error { return e.error }

// withoutKey leaves the key out of an error that has one. Cassandra names a partition that nodetool has denylisted by its key, which is a value
// that was bound (StorageProxy of 4.1 and 5.0).
func withoutKey(err error) error {
	const denylisted = "denylisted partition ["
	before, rest, found := strings.Cut(err.Error(), denylisted)
	_, after, closed := strings.Cut(rest, "]")
	if !found || !closed {
		return err
	}
	return &keylessError{err, before + denylisted + "key left out]" + after}
}
