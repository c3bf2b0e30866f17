package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
)

// versionedBase is the base row of an entity of a set with Versioned, and what finishes a write that its client has left.
type versionedBase struct {
	*access
	base *entity.Base
	read entity.Row
}

var _ versioned.Store = (*versionedBase)(nil)

// Read implements [versioned.Store].
func (b *versionedBase) Read(ctx context.Context) (out versioned.Row, err error) {
	level := gocql.Consistency(gocql.Serial)
	if b.base.Local() {
		level = gocql.Consistency(gocql.LocalSerial)
	}
	statement, dest, row := b.base.Select()
	keyspace, table, key := b.base.Place()
	r := request.New(keyspace, key, leastSilence)
	err = b.pace.Do(ctx, points, func() error {
		_, err := r.Do(ctx, &b.retrier, retry.Partition, func(ctx context.Context) error {
			return b.query(ctx, statement.Text, level, statement.Args...).RoutingKey(key).Scan(dest...)
		}, nil)
		return err
	})
	switch {
	case errors.Is(err, gocql.ErrNotFound):
		return out, nil
	case err != nil:
		return out, fmt.Errorf("read %s.%s at SERIAL: %w", keyspace, table, err)
	}
	b.read = row()
	out = versioned.Row{Version: b.read.Version, Present: b.read.Present, Pending: b.read.Pending}
	if out.Present {
		out.Columns = &b.read
	}
	return out, nil
}

// Swap implements [versioned.Store]. A run makes no transactions.
func (b *versionedBase) Swap(context.Context, versioned.Swap) (versioned.Reply, error) {
	return versioned.Reply{}, errors.New("a run makes no transactions")
}

// Spread implements [versioned.Store].
func (b *versionedBase) Spread(ctx context.Context, row versioned.Row, version gocql.UUID, keys [][]byte) error {
	var current entity.Row
	if row.Present {
		current = b.read
	}
	mutations, err := b.base.Spread(current, version, keys)
	if err != nil {
		return err
	}
	return b.send(ctx, mutations)
}

// Clear implements [versioned.Store].
func (b *versionedBase) Clear(ctx context.Context, versions []gocql.UUID) error {
	keyspace, table, key := b.base.Place()
	for _, v := range versions {
		statement := b.base.Clear(v, time.Now())
		m := entity.Mutation{Keyspace: keyspace, Table: table, PartitionKey: key, Statement: statement.Text, Args: statement.Args}
		if err := b.send(ctx, []entity.Mutation{m}); err != nil {
			return err
		}
	}
	return nil
}

// Try implements [versioned.Store]. Each request is repeated by itself.
func (b *versionedBase) Try(ctx context.Context, attempt func(context.Context) error) (retry.Outcome, error) {
	return retry.Unknown, attempt(ctx)
}

func (j *job) versionedBase(key string) *versionedBase {
	return &versionedBase{access: j.access, base: j.base().BaseRow(key, j.keyspace)}
}

// lookVersioned completes a look whose rows have been read: the base row of a set with Versioned is read after them, and at SERIAL.
func (j *job) lookVersioned(ctx context.Context, key string, l *repair.Look) error {
	b := j.versionedBase(key)
	row, err := b.Read(ctx)
	if err != nil {
		return err
	}
	l.All = true // a read at SERIAL sees all transactions
	l.Version = repair.Version{Pending: len(row.Pending) > 0}
	if current := row.Current(); current != (gocql.UUID{}) {
		l.Version.At = versioned.Timestamp(current)
	}
	if l.Base = nil; row.Present {
		l.Base = &repair.Row{TableRow: b.base.TableRow(b.read), At: l.Version.At}
	}
	return nil
}

// rollForward finishes the writes of an entity that their clients have left.
func (j *job) rollForward(ctx context.Context, key string) error {
	b := j.versionedBase(key)
	row, err := b.Read(ctx)
	if err != nil {
		return err
	}
	return versioned.RollForward(ctx, b, row)
}
