package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
)

// transactions sends what lightweight transactions of one partition need, an attempt at a time.
type transactions struct {
	*access
	request *request.Request
	options cas.Options
}

func (a *access) transactions(keyspace string, partition []byte, local bool) transactions {
	t := transactions{a, request.New(keyspace, partition, leastSilence), cas.Options{Key: partition, Consistency: a.consistency, Serial: gocql.Serial}}
	if local {
		t.options.Serial = gocql.LocalSerial
	}
	return t
}

// attempt makes one attempt at a request.
func (t *transactions) attempt(ctx context.Context, send func(context.Context) error) error {
	t.request.Begin(ctx)
	return t.request.End(send(t.request)) //nolint:contextcheck // it is ctx now
}

// ReadSerial implements [cas.Partition].
func (t *transactions) ReadSerial(ctx context.Context, s entity.Statement, dest []any) (found bool, err error) {
	err = t.attempt(ctx, func(ctx context.Context) error {
		err := t.query(ctx, s.Text, gocql.Consistency(t.options.Serial), s.Args...).RoutingKey(t.options.Key).Scan(dest...)
		if errors.Is(err, gocql.ErrNotFound) {
			return nil
		}
		found = err == nil
		return err
	})
	return found, err
}

// Transact implements [cas.Partition].
func (t *transactions) Transact(ctx context.Context, statements ...entity.Statement) (applied bool, row map[string]any, err error) {
	err = t.attempt(ctx, func(ctx context.Context) (err error) {
		applied, row, err = cas.Swap(ctx, t.writes, statements, t.options)
		return err
	})
	return applied, row, err
}

// exec makes one attempt at a statement without condition.
func (t *transactions) exec(ctx context.Context, text string, args []any) error {
	return t.attempt(ctx, func(ctx context.Context) error {
		return t.writes.Query(text, args...).Consistency(t.consistency).DefaultTimestamp(false).RoutingKey(t.options.Key).Idempotent(true).
			RetryPolicy(driver.NoRetry).WithContext(ctx).Exec()
	})
}

// Try implements [versioned.Store].
func (t *transactions) Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	err = t.pace.Do(ctx, points, func() error {
		_, err := t.retrier.Do(ctx, retry.Swap, func(ctx context.Context, _ int) error {
			err := attempt(ctx)
			if err != nil && retry.Classify(err, retry.Swap).Outcome != retry.NotApplied {
				failed = retry.Unknown
			}
			return err
		}, nil)
		return err
	})
	return failed, err
}

// versionedBase is the base row of an entity of a set with Versioned.
type versionedBase struct {
	transactions
	base *entity.Base
	seen time.Time // when it was read
}

var _ versioned.Store = (*versionedBase)(nil)

func (a *access) versionedBase(base *entity.Base) *versionedBase {
	keyspace, _, partition := base.Place()
	return &versionedBase{transactions: a.transactions(keyspace, partition, base.Local()), base: base}
}

// Read implements [versioned.Store].
func (b *versionedBase) Read(ctx context.Context) (out versioned.Row, err error) {
	statement, dest, row := b.base.Select()
	b.seen = time.Now()
	found, err := b.ReadSerial(ctx, statement, dest)
	switch keyspace, table, _ := b.base.Place(); {
	case err != nil:
		return out, fmt.Errorf("read %s.%s at SERIAL: %w", keyspace, table, err)
	case !found:
		return out, nil
	}
	read := row()
	out = versioned.Row{Version: read.Version, Present: read.Present, Pending: read.Pending}
	if out.Present {
		out.Columns = &read
	}
	return out, nil
}

// Swap implements [versioned.Store]. A run makes none with a before-image.
func (b *versionedBase) Swap(ctx context.Context, swap versioned.Swap) (reply versioned.Reply, err error) {
	after, _ := swap.After.(*entity.Row)
	applied, row, err := b.Transact(ctx, b.base.Swap(swap.Before, swap.Version, after, swap.Keys)...)
	if err != nil || applied {
		return versioned.Reply{Applied: applied}, err
	}
	reply.Version, _ = row[b.base.VersionColumn()].(gocql.UUID)
	pending, _ := row[entity.PendingColumn].(map[gocql.UUID][]byte)
	reply.Pending = slices.Collect(maps.Keys(pending))
	return reply, nil
}

// ApplyToQueryTables implements [versioned.Store].
func (b *versionedBase) ApplyToQueryTables(ctx context.Context, row versioned.Row, version gocql.UUID, keys [][]byte) error {
	var current entity.Row
	if stored, ok := row.Columns.(*entity.Row); ok {
		current = *stored
	}
	mutations, err := b.base.QueryTableMutations(current, version, keys)
	if err != nil {
		return request.Stop(err)
	}
	for i := range mutations {
		m := &mutations[i]
		m.EndAs(entity.Written{})
		if time.Since(b.seen) > staleAfter {
			return request.Stop(errStale)
		}
		to := b.access.transactions(m.Keyspace, m.PartitionKey, false)
		statement, args := m.At(time.Now())
		if statement == "" { // the row has expired meanwhile
			continue
		}
		if err := to.exec(ctx, statement, args); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// Clear implements [versioned.Store].
func (b *versionedBase) Clear(ctx context.Context, versions []gocql.UUID) error {
	for _, v := range versions {
		statement := b.base.Clear(v, time.Now())
		if err := b.exec(ctx, statement.Text, statement.Args); err != nil {
			return fmt.Errorf("clear pending of %s: %w", b.base, err)
		}
	}
	return nil
}

func (j *job) baseOf(key string) *versionedBase {
	return j.versionedBase(j.base().BaseRow(key, j.keyspace))
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
			l.Base = &repair.Row{TableRow: b.base.TableRow(*read), At: l.Version.At}
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
