package writer

import (
	"context"
	"errors"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// transactor sends what lightweight transactions need beside the paths of a write. Like executor it is the seam between
// protocol and driver. Every method makes one request.
type transactor interface {
	// swap sends a lightweight transaction. If it was not applied, row has the columns that the server returned.
	swap(ctx context.Context, statements []tables.Statement, o transaction) (applied bool, row map[string]any, err error)
	// read reads one row into dest, at the serial level or, if plain, at that of the writer, and says whether there is one.
	read(ctx context.Context, s tables.Statement, dest []any, plain bool, o transaction) (found bool, err error)
	// exec sends a statement without condition.
	exec(ctx context.Context, s tables.Statement, o transaction) error
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

// gocqlTransactor sends through gocql. Reads go through a session of their own, see [Reads]; the answers of transactions
// are too small to stall in the middle.
type gocqlTransactor struct{ writes, reads *gocql.Session }

func (x gocqlTransactor) swap(
	ctx context.Context, statements []tables.Statement, o transaction,
) (applied bool, row map[string]any, err error) {
	row = make(map[string]any)
	if len(statements) == 1 {
		applied, err = x.query(ctx, x.writes, statements[0], o).SerialConsistency(o.serial()).Consistency(o.consistency).MapScanCAS(row)
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

func (x gocqlTransactor) read(ctx context.Context, s tables.Statement, dest []any, plain bool, o transaction) (bool, error) {
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

func (x gocqlTransactor) exec(ctx context.Context, s tables.Statement, o transaction) error {
	return x.query(ctx, x.writes, s, o).Consistency(o.consistency).Exec()
}

func (x gocqlTransactor) query(ctx context.Context, session *gocql.Session, s tables.Statement, o transaction) *gocql.Query {
	return session.Query(s.Text, s.Args...).DefaultTimestamp(false).RoutingKey(o.key).Idempotent(false).RetryPolicy(nil).WithContext(ctx)
}
