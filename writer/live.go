package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/fanout"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// liveTable is what a write has to know of a table's schema.
type liveTable struct {
	gcGrace time.Duration
	ttl     time.Duration // default_time_to_live
	// derived says that writes of the table write more than the table: it has a materialized view or a trigger, so the
	// coordinator makes a logged batch of a single statement.
	derived bool
}

// liveAge is how long a writer uses what it knows of a table. Somebody may alter the table meanwhile.
const liveAge = time.Minute

// liveKept is how long a table that nobody asks for is remembered: names of tables that rotate never end.
const liveKept = 24 * time.Hour

// live reads and remembers live tables. It is shared by a writer and all derived from it.
type live struct {
	read func(ctx context.Context, keyspace, table string) (liveTable, error)

	mu    sync.Mutex                               // for replacing known
	known atomic.Pointer[map[[2]string]knownTable] // never changes; another one takes its place
}

// knownTable is what is remembered of a table. The zero one is that of a table that was never seen.
type knownTable struct {
	liveTable
	at       time.Time // when it was read
	look     time.Time // for groups: when it is looked at again
	rejected time.Time // until then it is in no group, since it rejected a request
}

// recall returns what is known of a table.
func (l *live) recall(keyspace, table string) knownTable {
	if known := l.known.Load(); known != nil {
		return (*known)[[2]string{keyspace, table}]
	}
	return knownTable{}
}

// remember changes what is known of a table.
func (l *live) remember(keyspace, table string, change func(*knownTable)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, now := make(map[[2]string]knownTable), time.Now()
	if old := l.known.Load(); old != nil {
		maps.Copy(known, *old)
		maps.DeleteFunc(known, func(_ [2]string, t knownTable) bool { // nobody has asked for it of late, or there is none
			return now.Sub(t.at) > liveKept && now.After(t.look) && now.After(t.rejected)
		})
	}
	t := known[[2]string{keyspace, table}]
	change(&t)
	known[[2]string{keyspace, table}] = t
	l.known.Store(&known)
}

// errNoTable is returned for a table that the cluster does not have.
var errNoTable = errors.New("the cluster has no such table")

// unreadError says that the schema of a table is not known. It is about the cluster, not about the write.
type unreadError struct {
	keyspace, table string
	cause           error
}

func (e *unreadError) Error() string {
	return fmt.Sprintf("schema of %s.%s not read: %v", e.keyspace, e.table, e.cause)
}
func (e *unreadError) Unwrap() error { return e.cause }

// table returns what is known of a table, or reads it. If what is known is old and cannot be read again, the old state
// is used. The error is an [*unreadError].
func (l *live) table(ctx context.Context, retrier *req.Retrier, keyspace, table string) (liveTable, error) {
	t := l.recall(keyspace, table)
	if time.Since(t.at) < liveAge {
		return t.liveTable, nil
	}
	read, err := l.reread(ctx, retrier, keyspace, table)
	if err != nil && !t.at.IsZero() && !errors.Is(err, errNoTable) {
		return t.liveTable, nil
	}
	return read, err
}

// reread is like table, but does not use what is known.
func (l *live) reread(ctx context.Context, retrier *req.Retrier, keyspace, table string) (liveTable, error) {
	t, err := fanout.Detached(ctx, func() (t liveTable, err error) {
		missing := false
		// Of the schema tables every node has a copy. What is read of them is one request: the next attempt is at another.
		_, err = req.New("", nil).Do(ctx, retrier, retry.Partition, func(ctx context.Context) (err error) {
			t, err = l.read(ctx, keyspace, table)
			if missing = errors.Is(err, errNoTable); missing {
				return nil
			}
			return err
		}, nil)
		if missing {
			err = errNoTable
		}
		return t, err
	})
	if err != nil {
		return t, &unreadError{keyspace, table, fanout.WrapTimeout(ctx, err)}
	}
	l.remember(keyspace, table, func(k *knownTable) { k.liveTable, k.at = t, time.Now() })
	return t, nil
}

// readLive reads from the schema tables of a coordinator.
func readLive(session *gocql.Session) func(context.Context, string, string) (liveTable, error) {
	return func(ctx context.Context, keyspace, table string) (t liveTable, err error) {
		found, err := catalog.Tables(ctx, session, keyspace, table)
		if err != nil || len(found) == 0 {
			return t, cmp.Or(err, errNoTable)
		}
		t.gcGrace, t.ttl = found[0].GCGrace, found[0].TTL
		var name string
		err = catalog.Each(ctx, session, gocql.One, `SELECT base_table_name FROM system_schema.views WHERE keyspace_name = ?`,
			[]any{keyspace}, func() { t.derived = t.derived || name == table }, &name)
		if err != nil {
			return t, err
		}
		return t, catalog.Each(ctx, session, gocql.One,
			`SELECT trigger_name FROM system_schema.triggers WHERE keyspace_name = ? AND table_name = ?`,
			[]any{keyspace, table}, func() { t.derived = true }, &name)
	}
}

// doubt says whether a table of a request has, or may have, a view or trigger: then OVERLOADED can follow a part of the
// write.
func (l *live) doubt(ctx context.Context, r *fanout.Request) bool {
	for _, m := range r.Mutations {
		// Read afresh: a view may be younger than what the writer remembers.
		if t, err := l.reread(ctx, &single, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}

// single makes one attempt.
var single = req.NewRetrier(retry.Policy{MaxAttempts: 1}, nil)

// whyUngrouped is why requests to a table are in no group, and empty if they may be. They may be if the table is known,
// has no view or trigger, for which the coordinator would make a logged batch of the group, and has rejected no request
// recently.
func (l *live) whyUngrouped(keyspace, table string) string {
	switch t := l.recall(keyspace, table); {
	case t.at.IsZero():
		return "has not been looked at yet, which the first write begins and Warm does"
	case t.derived:
		return "has a view or a trigger"
	case time.Now().Before(t.rejected):
		return "has rejected a request within the last " + liveAge.String()
	}
	return ""
}

// lookTimeout is how long a look at a table for groups may take.
const lookTimeout = time.Second

// groupable says whether requests to a table may be in groups, by what is known of the table. Once a minute a goroutine
// reads its schema in the background, so a new view is noticed a minute later, or after the first write that follows.
func (l *live) groupable(keyspace, table string) bool {
	if now := time.Now(); !now.Before(l.recall(keyspace, table).look) {
		mine := false
		l.remember(keyspace, table, func(t *knownTable) {
			if now.Sub(t.at) < liveAge { // something else has had it read
				t.look = t.at.Add(liveAge)
			} else if mine = !now.Before(t.look); mine {
				t.look = now.Add(liveAge)
			}
		})
		if mine {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
				defer cancel()
				_, _ = l.reread(ctx, &single, keyspace, table) // else the old has to do
			}()
		}
	}
	return l.whyUngrouped(keyspace, table) == ""
}

// ungroup leaves a table out of groups for a while.
func (l *live) ungroup(keyspace, table string) {
	l.remember(keyspace, table, func(t *knownTable) { t.rejected = time.Now().Add(liveAge) })
}

// warmTimeout limits a Warm whose context has no deadline.
const warmTimeout = 30 * time.Second

// Warm reads what the first writes of the sets would have to read: limits of their live tables, and how to route
// statements. Otherwise a statement first used in an outage is never token-aware. Call it at the start of a service; it
// is optional, and compares nothing: schema.Validate does. It returns the errors of all tables that could not be read.
// It ends with ctx, or after 30 s if ctx has no deadline.
func (w *Writer) Warm(ctx context.Context, sets ...tables.Described) error {
	if ctx == nil {
		return reject("Warm", errNoContext)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, warmTimeout)
		defer cancel()
	}
	w = w.made()
	if err := cmp.Or(w.err, missingSet(sets)); err != nil {
		return reject("Warm", err)
	}
	var errs []error
	var statements []string
	patient := w.patient()
	for _, set := range sets {
		for i, t := range set.Internal().All() {
			keyspace, name := w.physical(t.Keyspace), t.Name
			if rotation, ok := t.Rotates(); ok { // of the tables that come and go, that of now
				name, _, _ = rotation.At(w.clock.now())
			}
			if keyspace == "" {
				errs = append(errs, fmt.Errorf("table %s: no keyspace: %s", name, w.noKeyspace()))
			} else if _, err := w.live.reread(ctx, &patient, keyspace, name); err != nil {
				errs = append(errs, err)
			} else {
				statements = append(statements, set.Internal().Statements(i, keyspace)...)
			}
		}
	}
	// Last, as a node that does not answer takes its time, and what the reads need: gocql finds out, for every statement,
	// which of its values are the partition key. Failure costs token awareness of a statement, not correctness, so it is
	// not reported.
	if x, ok := w.sender.Exec.(fanout.Gocql); ok {
		for _, statement := range statements {
			_ = driver.Route(ctx, x.Session, statement)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("denorm: Warm: %w", err)
	}
	return nil
}
