package writer

import (
	"context"
	"errors"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/driver"
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
	// commit sends a transaction of Cassandra 6, and gives what it found.
	commit(ctx context.Context, t *entity.Transaction, o transaction) (*entity.Found, error)
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
	return cas.Swap(ctx, x.writes, statements, cas.Options{Key: o.key, Consistency: o.consistency, Serial: o.serial()})
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
	return session.Query(s.Text, s.Args...).DefaultTimestamp(false).RoutingKey(o.key).Idempotent(false).RetryPolicy(driver.NoRetry).WithContext(ctx)
}
