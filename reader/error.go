package reader

import (
	"errors"
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

var (
	// ErrInvalid means that the query, or an option of [New], is not valid. Nothing was sent. The text names the column
	// that the query lacks or cannot have.
	ErrInvalid error = invalidError("denorm: invalid query")

	// ErrToken means that the token of a query is of another query, or not a token. The error also matches ErrInvalid.
	ErrToken = errors.New("denorm: token of another query")
)

type invalidError string

func (e invalidError) Error() string        { return string(e) }
func (invalidError) Internal() request.Told { return request.Told(retry.Invalid) }

// queryError says why a query is rejected, and which column it lacks or cannot have.
type queryError struct {
	Op, Table, Column, Reason string
	cause                     error
}

func (e *queryError) Error() string {
	op := ""
	if e.Op != "" {
		op = e.Op + ": "
	}
	return "denorm: " + op + "invalid query: " + layout.Fault{Table: e.Table, Column: e.Column, Reason: e.Reason}.String()
}

// Internal is for writer.OutcomeOf: Invalid.
func (e *queryError) Internal() request.Told { return request.Told(retry.Invalid) }

// Is matches ErrInvalid.
func (e *queryError) Is(target error) bool { return target == ErrInvalid }

// Unwrap returns the cause, if there is one.
func (e *queryError) Unwrap() error { return e.cause }

// optionError is why there is no reader. It matches [ErrInvalid].
type optionError struct{ cause error }

func (e *optionError) Error() string        { return "denorm: reader: " + e.cause.Error() }
func (e *optionError) Is(target error) bool { return target == ErrInvalid }
func (e *optionError) Unwrap() error        { return e.cause }

func (q *query) invalid(column, reason string) error { return q.rejected(column, reason, nil) }

func (q *query) rejected(column, reason string, cause error) error {
	return &queryError{q.op, q.name, column, reason, cause}
}

// reason is the sentence of an error of package tables, without what queryError says itself.
func reason(err error) string {
	var invalid *tables.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Reason
	}
	return err.Error()
}

// Error says which partition could not be read, or that a [Transaction] failed. Rows that were returned before it are
// correct, but the result is incomplete.
//
// Error names the partition by its number and by its buckets, the derived columns of its key, and holds no other values
// of the key. Many keys share a bucket. If your buckets are so narrow that they identify people, keep the errors
// confidential.
type Error struct {
	Op string
	// physical; in a [Transaction] all tables, with commas between them, and the keyspace of the first
	Keyspace, Table string
	Partition       int // from 1, in the order of the query; 0 for a [Transaction]
	Partitions      int
	Buckets         []session.Bucket // empty if the partition key has no derived columns
	Attempts        int              // of the page that failed
	Err             error
}

// Internal is for writer.OutcomeOf: NotApplied, as nothing was read.
func (e *Error) Internal() request.Told { return request.Told(retry.NotApplied) }

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("denorm: ")
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString("table ")
	if e.Keyspace != "" {
		b.WriteString(e.Keyspace + ".")
	}
	b.WriteString(e.Table)
	if e.Partitions > 0 {
		fmt.Fprintf(&b, ": partition %d of %d", e.Partition, e.Partitions)
	}
	if len(e.Buckets) > 0 {
		buckets := each.Of(e.Buckets, func(b session.Bucket) string { return b.Column + " " + b.Value })
		b.WriteString(" (" + strings.Join(buckets, ", ") + ")")
	}
	b.WriteString(" not read")
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the error of the driver or the server.
func (e *Error) Unwrap() error { return e.Err }
