package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// versionedBase is the base row of an entity of a set with Versioned, with errors that name it.
type versionedBase struct{ *versioned.Base }

var _ versioned.Store = versionedBase{}

// env is what decisions of a run are made with.
func (a *access) env() *decide.Env {
	return &decide.Env{
		Session: decide.Sessions{Writes: a.writes, Reads: a.reads}, Retrier: &a.retrier, Consistency: a.consistency,
		Pace: func(ctx context.Context, do func() error) error { return a.throttle.do(ctx, transactions, do) },
		Now:  time.Now, FanOut: a.finish,
	}
}

func (a *access) versionedBase(base *entity.Base) versionedBase {
	return versionedBase{versioned.NewBase(a.env(), base)}
}

// finish makes one attempt at each of these mutations, of a row that was read at a time.
func (a *access) finish(ctx context.Context, _ string, read time.Time, mutations []*statement.Mutation) (sent int, err error) {
	env := a.env()
	for _, m := range mutations {
		m.EndAs(statement.Written{})
		if time.Since(read) > staleAfter {
			return sent, request.Stop(errStale)
		}
		to := env.Partition(m.Keyspace, m.PartitionKey, false, a.consistency)
		text, args := m.At(time.Now())
		if text == "" { // the row has expired meanwhile
			continue
		}
		sent++
		if err := to.Exec(ctx, statement.Bound{Text: text, Args: args}); err != nil {
			return sent, fmt.Errorf("%s: %w", m, err)
		}
	}
	return sent, nil
}

// Read implements [versioned.Store].
func (b versionedBase) Read(ctx context.Context) (versioned.Row, error) {
	row, err := b.Base.Read(ctx)
	if err != nil {
		keyspace, table, _ := b.Base.Base.Place()
		err = fmt.Errorf("read %s.%s at SERIAL: %w", keyspace, table, err)
	}
	return row, err
}

// Finish implements [versioned.Store].
func (b versionedBase) Finish(ctx context.Context, version gocql.UUID) error {
	return b.named(b.Base.Finish(ctx, version))
}

// Forget implements [versioned.Store].
func (b versionedBase) Forget(ctx context.Context, pending entity.Pending) error {
	return b.named(b.Base.Forget(ctx, pending))
}

func (b versionedBase) named(err error) error {
	if err != nil {
		err = fmt.Errorf("finish %s: %w", b.Base.Base, err)
	}
	return err
}

func (j *job) baseOf(key string) versionedBase {
	return j.versionedBase(tablerow.BaseRow(j.base().Layout, key, j.keyspace))
}

// lookVersioned completes a look whose rows have been read: the claims of unique keys are read after them, and then the
// base row of a set with Versioned, at SERIAL. As nobody has a key before its claim, and the base row is read last, a
// version of it that two looks have seen has lacked a claim if there was none between them.
func (j *job) lookVersioned(ctx context.Context, s *suspect, l *repair.Look) error {
	b := j.baseOf(s.entity)
	for _, u := range j.uniques {
		l.Unique = append(l.Unique, u.Layout)
	}
	for j.placesOfClaims(s, l); ; {
		if err := j.lookAtClaims(ctx, s, l); err != nil {
			return err
		}
		row, _, err := decide.Try(ctx, b, b.Read)
		if err != nil {
			return err
		}
		l.Version = repair.Version{Pending: row.Unfinished()}
		if current := row.Current(); current != (gocql.UUID{}) {
			l.Version.At = entity.Timestamp(current)
		}
		l.Base = nil
		if read, ok := row.Columns.(*entity.Row); ok {
			l.Base = &repair.Row{Row: tablerow.OfBase(b.Base.Base, *read), At: l.Version.At}
		}
		if !j.placesOfClaims(s, l) {
			return nil
		}
	}
}

// rollForward finishes the writes of an entity that their clients have left.
func (j *job) rollForward(ctx context.Context, key string) error {
	b := j.baseOf(key)
	row, _, err := decide.Try(ctx, b, b.Read)
	if err != nil {
		return err
	}
	return versioned.RollForward(ctx, b, row)
}
