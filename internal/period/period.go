// Package period says of a table that does not exist where it was looked for and, if it is one of a rotation, what
// creates it.
package period

import (
	"strings"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Advice comes after the text that says that the table does not exist.
const Advice = " (its tables rotate: package rotation creates them ahead, and past ones as far as Window.Back; " +
	"schema.Ensure creates the one of the present)"

// MissingError is the server's error that a table does not exist.
type MissingError struct {
	Err      error
	Keyspace string // that of the table, which the server does not name; empty if what is around the error names it
	Rotates  bool   // it is one of a rotation
}

func (e *MissingError) Error() string {
	text := e.Err.Error()
	if e.Keyspace != "" {
		text += " in keyspace " + e.Keyspace
	}
	if e.Rotates {
		text += Advice
	}
	return text
}

// Unwrap gives the server's error.
func (e *MissingError) Unwrap() error { return e.Err }

// Explain gives err, as a [*MissingError] if it is the server's error that a table does not exist. place gives the
// keyspace of a table of that name, and says whether it is one of a rotation.
func Explain(err error, place func(table string) (keyspace string, rotates bool)) error {
	if err == nil {
		return nil // before anything is allocated
	}
	server, ok := driver.RequestError(err)
	if !ok || server.Code() != gocql.ErrCodeInvalid {
		return err
	}
	text, old := strings.CutPrefix(server.Message(), "unconfigured ") // Cassandra 3
	table, named := strings.CutPrefix(text, "table ")
	table, now := strings.CutSuffix(table, " does not exist")
	if !named || old == now {
		return err
	}
	keyspace, rotates := place(table)
	if keyspace == "" && !rotates {
		return err
	}
	return &MissingError{Err: err, Keyspace: keyspace, Rotates: rotates}
}
