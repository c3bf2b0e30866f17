package writer

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gocql/gocql"
)

// A batch that the server would refuse, or would drop from its batchlog, is refused with table, size and limit.
func TestGuard(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	_, err := fakeWriter(x, BatchLimit(600)).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
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
		t.Errorf("%v does not say how to mend it", err)
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
				w := newWriter(x, "shop", read, Trace(r))
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

// A table that turns out to have gc_grace_seconds = 0 when its batch is resumed is not written in one either.
func TestGuardOfResume(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	down := newWriter(x, "shop", func(context.Context, string, string) (liveTable, error) { return liveTable{}, io.EOF }, once())
	e := failed(t, down, orderSet(t).Update(open, paid))
	_, err := newWriter(x, "shop", grace(0)).Resume(t.Context(), e)
	if again := asError(t, err); !again.NotApplied() || !strings.Contains(err.Error(), "gc_grace_seconds = 0") || len(x.sent()) > 0 {
		t.Errorf("%v, %d sent", err, len(x.sent()))
	}
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
