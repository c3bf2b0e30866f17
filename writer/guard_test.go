package writer

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// batchLimit is a limit that is less than BatchLimit takes.
func batchLimit(bytes int) Option { return option(func(c *config) { c.batchLimit = bytes }) }

// A batch that the server would reject, or would drop from its batchlog, is rejected with table, size and limit.
func TestGuard(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	_, err := fakeWriter(x, batchLimit(600)).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
	wantRefusal(t, "size", err)
	for _, want := range []string{"orders_by_status", "938", "600", "550"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	read := func(_ context.Context, _, table string) (liveTable, error) {
		if table == "orders_by_user" {
			return liveTable{}, nil
		}
		return liveTable{gcGrace: tenDays}, nil
	}
	w := newWriter(x, "shop", read)
	_, err = w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
	wantRefusal(t, "gc_grace", err)
	if !strings.Contains(err.Error(), "ALTER TABLE shop.orders_by_user WITH gc_grace_seconds") {
		t.Errorf("%v does not say how to fix it", err)
	}
	for name, test := range map[string]struct {
		set  *tables.Set[Order]
		want bool
	}{"plain": {orderSet(t), true}, "atomic": {orderSet(t, tables.Atomic()), false}} {
		for _, w := range []*Writer{w, fakeWriter(x, batchLimit(600))} {
			_, err := w.Write(t.Context(), "payOrder", test.set.Update(open, paid))
			if wantRefusal(t, name, err); strings.Contains(err.Error(), "Concurrent()") != test.want {
				t.Errorf("%s: Concurrent is advised, or it is not: %v", name, err)
			}
		}
	}
	if len(x.sent()) > 0 {
		t.Error("a request was sent")
	}
	if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(open)); err != nil {
		t.Errorf("the guard is for logged batches: %v", err)
	}
	if _, err := w.With(Concurrent()).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
		t.Errorf("the guard is for logged batches: %v", err)
	}
}

// While the cluster is down the schema cannot be read. That is no fault of the call: nothing was sent, and the same
// error can be resumed when the cluster is back. It used to be ErrInvalid, on which services give up.
func TestGuardInAnOutage(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, cause := range map[string]error{
		"no connections": gocql.ErrNoConnections, "EOF": io.EOF, "no table yet": errNoTable, "unauthorized": answer{gocql.ErrCodeUnauthorized, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var down atomic.Bool
				down.Store(true)
				read := func(ctx context.Context, keyspace, table string) (liveTable, error) {
					if down.Load() {
						return liveTable{}, cause
					}
					return grace(tenDays)(ctx, keyspace, table)
				}
				x, r := &fakeExecutor{}, &recorder{}
				w := newWriter(x, "shop", read, traced(r))
				res, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
				e := asError(t, err)
				if errors.Is(err, ErrInvalid) || !errors.Is(err, cause) || !e.NotApplied() || len(e.Tables) != 3 || len(x.sent()) > 0 {
					t.Errorf("%v, %d sent", err, len(x.sent()))
				}
				if res.Timestamp == 0 || res.Timestamp != e.Timestamp || res.Mode != LoggedBatch || res.Attempts != 0 {
					t.Errorf("%+v", res)
				}
				if len(r.ends) != 1 || !errors.Is(r.ends[0].Err, err) {
					t.Errorf("told of %v", r.ends)
				}
				wantConsistent(t, e)
				down.Store(false)
				res, err = w.Resume(t.Context(), transport(t, e))
				if err != nil || res.Timestamp != e.Timestamp || res.Mode != LoggedBatch || res.Attempts != 1 {
					t.Errorf("resumed: %+v, %v", res, err)
				}
			})
		})
	}
}

// A table that turns out to have gc_grace_seconds = 0 when its batch is resumed is not written in one either: a strict
// batch is rejected, any other goes out as a fan-out.
func TestGuardOfResume(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	down := newWriter(x, "shop", func(context.Context, string, string) (liveTable, error) { return liveTable{}, io.EOF }, once())
	strict := failed(t, down.With(Logged()), orderSet(t).Update(open, paid))
	_, err := newWriter(x, "shop", grace(0)).Resume(t.Context(), strict)
	if again := asError(t, err); again.NotApplied() || !strings.Contains(err.Error(), "gc_grace_seconds = 0") || len(x.sent()) > 0 {
		t.Errorf("strict: %v, %d sent", err, len(x.sent()))
	}
	e := failed(t, down, orderSet(t).Update(open, paid))
	res, err := newWriter(x, "shop", grace(0)).Resume(t.Context(), e)
	if err != nil || res.Mode != Fallback || res.Timestamp != e.Timestamp || len(x.sent()) != 6 {
		t.Errorf("not strict: %+v, %v, %d sent", res, err, len(x.sent()))
	}
}

// The writer had read a table before somebody made a view of it. OVERLOADED, clean for a plain table, was then reported
// as not applied, although the server had made a logged batch of the statement.
func TestOverloadedAfterANewView(t *testing.T) {
	t.Parallel()
	open, paid := move()
	var viewed atomic.Bool
	read := func(context.Context, string, string) (liveTable, error) {
		return liveTable{gcGrace: tenDays, derived: viewed.Load()}, nil
	}
	x := &fakeExecutor{}
	w := newWriter(x, "shop", read, once())
	if _, err := w.With(Logged()).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
		t.Fatal(err)
	}
	x.answer = func(context.Context, fanout.Attempt) error { return overloaded{} }
	if e := failed(t, w, orderSet(t).Insert(open)); !e.NotApplied() {
		t.Errorf("no view: %v, want not applied", e)
	}
	viewed.Store(true)
	if e := failed(t, w, orderSet(t).Insert(open)); e.NotApplied() || !errors.Is(e, ErrUnknown) {
		t.Errorf("a new view: %v, want unknown", e)
	}
}

type overloaded struct{}

func (overloaded) Code() int       { return gocql.ErrCodeOverloaded }
func (overloaded) Message() string { return "overloaded" }
func (overloaded) Error() string   { return "overloaded" }

// What is known of a table is good for a while. Somebody set gc_grace_seconds to 0, and logged batches went on.
func TestGuardReadsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var seconds atomic.Int64
		seconds.Store(int64(tenDays))
		var broken atomic.Bool
		w := newWriter(nopExecutor{}, "shop", func(context.Context, string, string) (liveTable, error) {
			if broken.Load() {
				return liveTable{}, io.EOF
			}
			return liveTable{gcGrace: time.Duration(seconds.Load())}, nil
		}, once())
		write := func() error {
			_, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
			return err
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(liveAge)
		broken.Store(true) // what was known has to do
		if err := write(); err != nil {
			t.Errorf("schema out of reach: %v", err)
		}
		broken.Store(false)
		seconds.Store(0)
		if err := write(); !errors.Is(err, ErrInvalid) {
			t.Errorf("gc_grace_seconds is 0: %v, want ErrInvalid", err)
		}
	})
}

// The schema of a table is read once, with retries, and not at all where no logged batch is sent.
func TestGuardReadsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var reads atomic.Int32
		read := func(ctx context.Context, keyspace, table string) (liveTable, error) {
			if reads.Add(1) == 1 {
				return liveTable{}, io.EOF
			}
			return grace(tenDays)(ctx, keyspace, table)
		}
		w := newWriter(nopExecutor{}, "shop", read)
		if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(open)); err != nil || reads.Load() != 0 {
			t.Errorf("%d reads, %v", reads.Load(), err)
		}
		for range 3 {
			if _, err := w.With(once()).With(Retry(w.policy)).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
				t.Fatal(err)
			}
		}
		if reads.Load() != 4 {
			t.Errorf("%d reads, want one that failed and one for each table", reads.Load())
		}
	})
}
