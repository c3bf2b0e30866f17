package reconcile

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
)

// versionedBase is the base row of an entity of a set with Versioned.
type versionedBase struct {
	cas.Row
	*access
	seen time.Time // when it was read
}

var _ versioned.Store = (*versionedBase)(nil)

func (a *access) partition(keyspace string, key []byte, local bool) cas.Partition {
	return cas.Partition{
		Session: cas.Sessions{Writes: a.writes, Reads: a.reads}, Options: cas.Options{Key: key, Consistency: a.consistency, Local: local},
		Retrier: &a.retrier, Request: request.New(keyspace, key, leastSilence), Sent: new(atomic.Int32),
	}
}

func (a *access) versionedBase(base *entity.Base) *versionedBase {
	keyspace, _, key := base.Place()
	return &versionedBase{Row: cas.Row{Partition: a.partition(keyspace, key, base.Local()), Base: base}, access: a}
}

// Try implements [versioned.Store].
func (b *versionedBase) Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	err = b.throttle.do(ctx, points, func() (err error) {
		failed, err = b.Row.Try(ctx, attempt)
		return err
	})
	return failed, err
}

// Read implements [versioned.Store].
func (b *versionedBase) Read(ctx context.Context) (versioned.Row, error) {
	b.seen = time.Now()
	row, err := b.Row.Read(ctx)
	if err != nil {
		keyspace, table, _ := b.Base.Place()
		err = fmt.Errorf("read %s.%s at SERIAL: %w", keyspace, table, err)
	}
	return row, err
}

// ApplyToQueryTables implements [versioned.Store].
func (b *versionedBase) ApplyToQueryTables(ctx context.Context, row versioned.Row, version gocql.UUID, keys [][]byte) error {
	mutations, err := b.Mutations(row, version, keys)
	if err != nil {
		return request.Stop(err)
	}
	for i := range mutations {
		m := &mutations[i]
		m.EndAs(statement.Written{})
		if time.Since(b.seen) > staleAfter {
			return request.Stop(errStale)
		}
		to := b.partition(m.Keyspace, m.PartitionKey, false)
		text, args := m.At(time.Now())
		if text == "" { // the row has expired meanwhile
			continue
		}
		if err := to.Exec(ctx, statement.Bound{Text: text, Args: args}); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// Clear implements [versioned.Store].
func (b *versionedBase) Clear(ctx context.Context, versions []gocql.UUID) error {
	if err := b.Row.Clear(ctx, versions, time.Now); err != nil {
		return fmt.Errorf("clear pending of %s: %w", b.Base, err)
	}
	return nil
}

func (j *job) baseOf(key string) *versionedBase {
	return j.versionedBase(tablerow.BaseRow(j.base().Layout, key, j.keyspace))
}

// lookVersioned completes a look whose rows have been read: the claims of unique keys are read after them, and then the base row of a set with
// Versioned, at SERIAL. As nobody has a key before its claim, and the base row is read last, a version of it that two looks have seen has
// lacked a claim if there was none between them.
func (j *job) lookVersioned(ctx context.Context, s *suspect, l *repair.Look) error {
	b := j.baseOf(s.entity)
	for _, u := range j.uniques {
		l.Unique = append(l.Unique, u.Layout)
	}
	for {
		if err := j.lookAtClaims(ctx, s, l); err != nil {
			return err
		}
		row, _, err := versioned.Try(ctx, b, b.Read)
		if err != nil {
			return err
		}
		l.Version = repair.Version{Pending: len(row.Pending) > 0}
		if current := row.Current(); current != (gocql.UUID{}) {
			l.Version.At = versioned.Timestamp(current)
		}
		l.Base = nil
		if read, ok := row.Columns.(*entity.Row); ok {
			l.Base = &repair.Row{Row: tablerow.OfBase(b.Base, *read), At: l.Version.At}
		}
		if !j.placesOfClaims(s, l) {
			return nil
		}
	}
}

// rollForward finishes the writes of an entity that their clients have left.
func (j *job) rollForward(ctx context.Context, key string) error {
	b := j.baseOf(key)
	row, _, err := versioned.Try(ctx, b, b.Read)
	if err != nil {
		return err
	}
	return versioned.RollForward(ctx, b, row)
}
