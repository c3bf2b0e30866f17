// Package period says of a table that does not exist, and is one of those of a rotation, what creates it.
package period

import (
	"errors"
	"strings"

	"github.com/gocql/gocql"
)

// Advice comes after the text that says that the table does not exist.
const Advice = " (its tables rotate: package rotation creates them ahead, and past ones as far as Window.Back; " +
	"schema.Ensure creates the one of the present)"

// MissingError is an error with [Advice].
type MissingError struct{ Err error }

func (e *MissingError) Error() string { return e.Err.Error() + Advice }

// Unwrap gives the error without the advice.
func (e *MissingError) Unwrap() error { return e.Err }

// Explain gives err, as a [*MissingError] if it is the server's error that a table does not exist, and rotated says of its name that it is
// one of a rotation.
func Explain(err error, rotated func(table string) bool) error {
	if err == nil {
		return nil // before anything is allocated
	}
	var server gocql.RequestError
	if !errors.As(err, &server) || server.Code() != gocql.ErrCodeInvalid {
		return err
	}
	text, old := strings.CutPrefix(server.Message(), "unconfigured ") // Cassandra 3
	table, ok := strings.CutPrefix(text, "table ")
	table, now := strings.CutSuffix(table, " does not exist")
	if !ok || old == now || !rotated(table) {
		return err
	}
	return &MissingError{err}
}
