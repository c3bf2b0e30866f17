package writer

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/gocql/gocql"
)

// transactor sends what lightweight transactions need alongside the requests of a write. Like executor it is the seam between
// protocol and driver. Every method makes one request.
type transactor interface {
	// swap sends a lightweight transaction. If it was not applied, row has its version, pending or token as it is.
	swap(ctx context.Context, statements []entity.Statement, o transaction) (applied bool, row map[string]any, err error)
	// read reads one row into dest, at the serial level or, if plain, at that of the writer, and says whether there is one.
	read(ctx context.Context, s entity.Statement, dest []any, plain bool, o transaction) (found bool, err error)
	// exec sends a statement without condition.
	exec(ctx context.Context, s entity.Statement, o transaction) error
}

// transaction is what such a request is sent with.
type transaction struct {
	key         []byte // of the partition
	consistency gocql.Consistency
	local       bool // LOCAL_SERIAL
}

func (o transaction) serial() gocql.SerialConsistency {
	if o.local {
		return gocql.LocalSerial
	}
	return gocql.Serial
}

// gocqlTransactor sends through gocql. Reads go through a session of their own, see package session; the answers of transactions
// are too small to stall in the middle.
type gocqlTransactor struct{ writes, reads *gocql.Session }

func (x gocqlTransactor) swap(
	ctx context.Context, statements []entity.Statement, o transaction,
) (applied bool, row map[string]any, err error) {
	row = make(map[string]any)
	if len(statements) == 1 {
		applied, err = scanCAS(x.query(ctx, x.writes, statements[0], o).SerialConsistency(o.serial()).Consistency(o.consistency).NoSkipMetadata().Iter(), row)
		return applied, row, err
	}
	b := x.writes.NewBatch(gocql.UnloggedBatch).DefaultTimestamp(false).RetryPolicy(nil).WithContext(ctx).SerialConsistency(o.serial())
	b.Cons = o.consistency
	for _, s := range statements {
		b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: s.Text, Args: s.Args})
	}
	applied, iter, err := x.writes.MapExecuteBatchCAS(b, row)
	if iter != nil {
		err = errors.Join(err, iter.Close())
	}
	return applied, row, err
}

func (x gocqlTransactor) read(ctx context.Context, s entity.Statement, dest []any, plain bool, o transaction) (bool, error) {
	level := o.consistency
	if !plain {
		level = gocql.Consistency(o.serial())
	}
	err := x.query(ctx, x.reads, s, o).Consistency(level).Scan(dest...)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (x gocqlTransactor) exec(ctx context.Context, s entity.Statement, o transaction) error {
	return x.query(ctx, x.writes, s, o).Consistency(o.consistency).Exec()
}

func (x gocqlTransactor) query(ctx context.Context, session *gocql.Session, s entity.Statement, o transaction) *gocql.Query {
	return session.Query(s.Text, s.Args...).DefaultTimestamp(false).RoutingKey(o.key).Idempotent(false).RetryPolicy(nil).WithContext(ctx)
}

// scanCAS reads the answer to a transaction into row: its timeuuids, and pending. MapScanCAS would decode all columns, and panic at types
// that gocql has no Go type for, be it of columns that the set does not declare.
func scanCAS(iter *gocql.Iter, row map[string]any) (applied bool, err error) {
	var dest []any
	var pending map[gocql.UUID][]byte
	ids := make(map[string]*gocql.UUID)
	for _, c := range iter.Columns() {
		switch t := c.TypeInfo.Type(); {
		case c.Name == "[applied]":
			dest = append(dest, &applied)
		case c.Name == entity.PendingColumn && entries(c.TypeInfo):
			dest = append(dest, &pending)
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
	row[entity.PendingColumn] = pending
	for name, id := range ids {
		row[name] = *id
	}
	return applied, nil
}

// entries says whether it is the type of pending: a set with Compare may have a column of that name.
func entries(t gocql.TypeInfo) bool {
	m, ok := t.(gocql.CollectionType)
	return ok && m.Type() == gocql.TypeMap && m.Key.Type() == gocql.TypeTimeUUID && m.Elem.Type() == gocql.TypeBlob
}

// skipped is a column that is not decoded.
type skipped struct{}

// UnmarshalCQL implements [gocql.Unmarshaler].
func (skipped) UnmarshalCQL(gocql.TypeInfo, []byte) error { return nil }
