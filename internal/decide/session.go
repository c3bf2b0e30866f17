package decide

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Session sends what lightweight transactions need alongside the requests of a write. It is the seam between protocol
// and driver. Every method makes one request.
type Session interface {
	// Swap sends a lightweight transaction; several statements are one batch. If it was not applied, row has the timeuuids
	// of the row as it is, by column.
	Swap(ctx context.Context, statements []statement.Bound, o Options) (applied bool, row map[string]any, err error)
	// Read reads one row into dest, at the serial level or, if plain, at the level of the commit, and says whether there
	// is one.
	Read(ctx context.Context, s statement.Bound, dest []any, plain bool, o Options) (found bool, err error)
	// Commit sends a transaction of Cassandra 6, and gives what it found: what was there before.
	Commit(ctx context.Context, t *entity.Transaction, o Options) (*entity.Found, error)
	// Exec sends a statement without condition.
	Exec(ctx context.Context, s statement.Bound, o Options) error
}

// Options are what such a request is sent with.
type Options struct {
	Key         []byte            // of the partition
	Consistency gocql.Consistency // of the commit
	Serial      gocql.SerialConsistency
}

// Sessions sends through gocql. Reads go through a session of their own, see package session; the answers of
// transactions are too small to stall in the middle.
type Sessions struct{ Writes, Reads *gocql.Session }

// Swap implements [Session].
func (x Sessions) Swap(ctx context.Context, statements []statement.Bound, o Options) (applied bool, row map[string]any,
	err error,
) {
	row = make(map[string]any)
	q := query(ctx, x.Writes, together(statements), o).SerialConsistency(o.Serial).Consistency(o.Consistency)
	applied, err = Scan(q.NoSkipMetadata().Iter(), row)
	return applied, row, err
}

// Read implements [Session].
func (x Sessions) Read(ctx context.Context, s statement.Bound, dest []any, plain bool, o Options) (found bool,
	err error,
) {
	level := o.Consistency
	if !plain {
		level = gocql.Consistency(o.Serial)
	}
	err = query(ctx, x.Reads, s, o).Consistency(level).Scan(dest...)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Commit implements [Session].
func (x Sessions) Commit(ctx context.Context, t *entity.Transaction, o Options) (*entity.Found, error) {
	found := t.Found()
	err := query(ctx, x.Writes, t.Bound, o).Consistency(o.Consistency).Scan(found.Dest()...)
	return found, err
}

// Exec implements [Session].
func (x Sessions) Exec(ctx context.Context, s statement.Bound, o Options) error {
	return query(ctx, x.Writes, s, o).Consistency(o.Consistency).Exec()
}

func query(ctx context.Context, session *gocql.Session, s statement.Bound, o Options) *gocql.Query {
	return session.Query(s.Text, s.Args...).DefaultTimestamp(false).RoutingKey(o.Key).Idempotent(false).
		RetryPolicy(driver.NoRetry).WithContext(ctx)
}

// together is the statements as one. Several are a batch written as CQL, not a [gocql.Batch]: to read the answer to
// that, gocql either makes a Go value for every column, which [Scan] says cannot be done, or must be told before the
// batch is sent how many columns come back.
func together(statements []statement.Bound) statement.Bound {
	if len(statements) == 1 {
		return statements[0]
	}
	var text strings.Builder
	var args []any
	text.WriteString("BEGIN UNLOGGED BATCH\n")
	for _, s := range statements {
		text.WriteString(s.Text + ";\n")
		args = append(args, s.Args...)
	}
	text.WriteString("APPLY BATCH")
	return statement.Bound{Text: text.String(), Args: args}
}

// Scan reads the answer to a transaction into row: its timeuuids. MapScanCAS would decode all columns, and panic at
// types that gocql has no Go type for, be it of columns that the set does not declare.
func Scan(iter *gocql.Iter, row map[string]any) (applied bool, err error) {
	var dest []any
	ids := make(map[string]*gocql.UUID)
	for _, c := range iter.Columns() {
		switch t := c.TypeInfo.Type(); {
		case c.Name == "[applied]":
			dest = append(dest, &applied)
		case t == gocql.TypeTimeUUID, t == gocql.TypeUUID:
			ids[c.Name] = new(gocql.UUID)
			dest = append(dest, ids[c.Name])
		case t == gocql.TypeTuple:
			tuple, _ := c.TypeInfo.(gocql.TupleTypeInfo)
			dest = append(dest, slices.Repeat([]any{skipped{}}, len(tuple.Elems))...)
		default:
			dest = append(dest, skipped{})
		}
	}
	found := iter.Scan(dest...)
	if err := iter.Close(); err != nil || !found {
		return false, cmp.Or(err, gocql.ErrNotFound)
	}
	for name, id := range ids {
		row[name] = *id
	}
	return applied, nil
}

// skipped is a column that is not decoded.
type skipped struct{}

// UnmarshalCQL implements [gocql.Unmarshaler].
func (skipped) UnmarshalCQL(gocql.TypeInfo, []byte) error { return nil }
