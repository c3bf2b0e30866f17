package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// recorder is a tracer that writes down what it is told, and in which context.
type recorder struct {
	mu    sync.Mutex
	lines []string
	ends  []session.OperationEnd
}

var (
	_ session.Tracer        = (*recorder)(nil)
	_ session.RequestTracer = (*recorder)(nil)
	_ session.RetryTracer   = (*recorder)(nil)
)

type within struct{}

// note adds a line, which begins with the spans that ctx is in.
func (r *recorder) note(ctx context.Context, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans, _ := ctx.Value(within{}).(string)
	r.lines = append(r.lines, spans+fmt.Sprintf(format, args...))
}

func into(ctx context.Context, span string) context.Context {
	spans, _ := ctx.Value(within{}).(string)
	return context.WithValue(ctx, within{}, spans+span+": ")
}

func (r *recorder) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	r.note(ctx, "start %s of %d, resume %v", d.Op, d.Changes, d.Resume)
	return into(ctx, d.Op)
}

func (r *recorder) TraceEnd(ctx context.Context, d session.OperationEnd) {
	r.note(ctx, "end %s %v, %d requests, %d attempts, failed %v", d.Op, d.Mode, d.Requests, d.Attempts, d.Err != nil)
	r.ends = append(r.ends, d)
}

func (r *recorder) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	tables := strings.Join(d.Tables, "+")
	r.note(ctx, "start %s.%s %v %v, %d statements", d.Keyspace, tables, d.Mode, d.Consistency, len(d.Statements))
	return into(ctx, tables)
}

func (r *recorder) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	r.note(ctx, "end %v, %d attempts, %s, failed %v", d.Outcome, d.Attempts, d.Reason, d.Err != nil)
}

func (r *recorder) TraceRetry(ctx context.Context, d session.Retry) {
	r.note(ctx, "attempt %d %v %s", d.Attempt, d.Verdict.Outcome, d.Verdict.Reason)
}

func TestTracer(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		answer func(context.Context, fanout.Attempt) error
		change func(*testing.T) tables.Change
		want   []string // by request; the order of requests is not fixed
	}{
		"fan-out with a retry": {
			fail("orders_by_user", errSimple, errUnavailable),
			func(t *testing.T) tables.Change { t.Helper(); return orderSet(t).Insert(open) },
			[]string{
				"start op of 1, resume false",
				"op: end op fan-out, 3 requests, 5 attempts, failed false",
				"op: orders_by_id: end applied, 1 attempts, , failed false",
				"op: orders_by_status: end applied, 1 attempts, , failed false",
				"op: orders_by_user: attempt 1 unknown write_timeout.simple",
				"op: orders_by_user: attempt 2 not applied unavailable",
				"op: orders_by_user: end applied, 3 attempts, , failed false",
				"op: start shop.orders_by_id fan-out LOCAL_QUORUM, 1 statements",
				"op: start shop.orders_by_status fan-out LOCAL_QUORUM, 1 statements",
				"op: start shop.orders_by_user fan-out LOCAL_QUORUM, 1 statements",
			},
		},
		"a request that fails": {
			fail("orders_by_user", errSyntax),
			func(t *testing.T) tables.Change { t.Helper(); return orderSet(t).Insert(open) },
			[]string{
				"start op of 1, resume false",
				"op: end op fan-out, 3 requests, 3 attempts, failed true",
				"op: orders_by_id: end applied, 1 attempts, , failed false",
				"op: orders_by_status: end applied, 1 attempts, , failed false",
				"op: orders_by_user: end not applied, 1 attempts, syntax_error, failed true",
				"op: start shop.orders_by_id fan-out LOCAL_QUORUM, 1 statements",
				"op: start shop.orders_by_status fan-out LOCAL_QUORUM, 1 statements",
				"op: start shop.orders_by_user fan-out LOCAL_QUORUM, 1 statements",
			},
		},
		"fallback": {
			fail("", errBatchLog),
			func(t *testing.T) tables.Change {
				t.Helper()
				return taskSet(t).Delete(newTask("bob"))
			},
			[]string{
				"op: end op fallback, 2 requests, 3 attempts, failed false",
				"op: start shop.tasks fallback LOCAL_QUORUM, 1 statements",
				"op: start shop.tasks+tasks_by_owner logged-batch LOCAL_QUORUM, 2 statements",
				"op: start shop.tasks_by_owner fallback LOCAL_QUORUM, 1 statements",
				"op: tasks+tasks_by_owner: end unknown, 1 attempts, write_timeout.batch_log, failed true",
				"op: tasks: end applied, 1 attempts, , failed false",
				"op: tasks_by_owner: end applied, 1 attempts, , failed false",
				"start op of 1, resume false",
			},
		},
		"logged batch": {
			nil, func(t *testing.T) tables.Change { t.Helper(); return orderSet(t).Update(open, paid) },
			[]string{
				"op: end op logged-batch, 1 requests, 1 attempts, failed false",
				"op: orders_by_id+orders_by_user+orders_by_status: end applied, 1 attempts, , failed false",
				"op: start shop.orders_by_id+orders_by_user+orders_by_status logged-batch LOCAL_QUORUM, 6 statements",
				"start op of 1, resume false",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				w := fakeWriter(&fakeExecutor{answer: test.answer}, traced(r))
				_, err := w.Write(t.Context(), "op", test.change(t))
				lines := slices.Sorted(slices.Values(r.lines))
				want := slices.Sorted(slices.Values(test.want))
				if !slices.Equal(lines, want) {
					t.Errorf("told\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
				}
				if len(r.ends) != 1 || !errors.Is(r.ends[0].Err, err) || r.lines[0] != "start op of 1, resume false" ||
					!strings.HasPrefix(r.lines[len(r.lines)-1], "op: end") {
					t.Errorf("the write is not around its requests:\n%s", strings.Join(r.lines, "\n"))
				}
			})
		})
	}
}

// A refusal and a Resume are traced as well, each with one end for its start.
func TestTracerOfRefusalAndResume(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	w := fakeWriter(&fakeExecutor{answer: fail("orders_by_id", errSimple, errSyntax)}, traced(r), once())
	if _, err := w.Write(t.Context(), "op", tables.Change{}); err == nil {
		t.Error("not refused")
	}
	e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
	r.lines = nil
	if _, err := w.Resume(t.Context(), e); err == nil {
		t.Error("resumed, although it failed again")
	}
	if _, err := w.Resume(t.Context(), e); err != nil {
		t.Error(err)
	}
	want := []string{
		"start test of 0, resume true",
		"test: start shop.orders_by_id fan-out LOCAL_QUORUM, 1 statements",
		"test: orders_by_id: end unknown, 1 attempts, syntax_error, failed true",
		"test: end test fan-out, 3 requests, 1 attempts, failed true",
		"start test of 0, resume true",
		"test: start shop.orders_by_id fan-out LOCAL_QUORUM, 1 statements",
		"test: orders_by_id: end applied, 1 attempts, , failed false",
		"test: end test fan-out, 3 requests, 1 attempts, failed false",
	}
	if !slices.Equal(r.lines, want) {
		t.Errorf("told\n%s", strings.Join(r.lines, "\n"))
	}
	if len(r.ends) != 4 || !errors.Is(r.ends[0].Err, ErrInvalid) || r.ends[1].Timestamp != e.Timestamp {
		t.Errorf("ends: %+v", r.ends)
	}
}

// A tracer may do without requests and retries, and nil is none.
func TestTracerOfWritesAlone(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	w := fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}, traced(struct{ session.Tracer }{r}), Retry(retry.Policy{}))
	_ = failed(t, w, orderSet(t).Insert(newOrder(Open)))
	if len(r.lines) != 2 {
		t.Errorf("told\n%s", strings.Join(r.lines, "\n"))
	}
	if w := w.With(traced(nil)); w.tracer.Any() {
		t.Error("traced(nil) does not turn tracing off")
	}
	if w := w.With(traced((*recorder)(nil))); w.tracer.Any() {
		t.Error("Trace of a nil pointer does not turn tracing off")
	}
}
