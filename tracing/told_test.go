package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// told is a logical write as a writer tells a tracer of it.
type told struct {
	start    session.OperationStart
	requests []toldRequest
	end      session.OperationEnd
}

type toldRequest struct {
	start   session.RequestStart
	retries []session.Retry
	end     session.RequestEnd
	late    bool // it ends after the write
}

// to tells it, request after request.
func (w told) to(ctx context.Context, t session.Tracer) {
	for _, end := range w.inTime(ctx, t) {
		end()
	}
}

// inTime tells it but for the ends of stragglers, which it returns.
func (w told) inTime(ctx context.Context, t session.Tracer) (late []func()) {
	ctx = t.TraceStart(ctx, w.start)
	for _, p := range w.requests {
		if end := p.begin(ctx, t); p.late {
			late = append(late, end)
		} else {
			end()
		}
	}
	t.TraceEnd(ctx, w.end)
	return late
}

func (p toldRequest) to(ctx context.Context, t session.Tracer) { p.begin(ctx, t)() }

// begin tells all of it but the end.
func (p toldRequest) begin(ctx context.Context, t session.Tracer) (end func()) {
	end = func() {}
	if requests, ok := t.(session.RequestTracer); ok {
		ctx = requests.TraceRequestStart(ctx, p.start)
		end = func() { requests.TraceRequestEnd(ctx, p.end) }
	}
	if retries, ok := t.(session.RetryTracer); ok {
		for _, r := range p.retries {
			retries.TraceRetry(ctx, r)
		}
	}
	return end
}

const keyspace = "shop"

// secret is in every error that the tests feed. It must not come out.
const secret = "Kreuzspinne4711"

// answer is an error frame, as gocql gives those without a body of their own.
type answer int

func (a answer) Code() int       { return int(a) }
func (a answer) Message() string { return "bad value " + secret }
func (a answer) Error() string   { return a.Message() }

// coordinator is a host. gocql fills most fields by itself alone.
func coordinator(tb testing.TB, ip, dc string) session.Host {
	tb.Helper()
	host := drivertest.Host("be13faa2-8574-4d71-926d-27f16cf8a7af", ip)
	set := func(name string, value any) {
		f := reflect.ValueOf(host).Elem().FieldByName(name)
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	}
	set("port", 9042)
	set("dataCenter", dc)
	return session.HostOf(host)
}

func insert(table string) string {
	return "INSERT INTO " + keyspace + "." + table + " (order_id, status) VALUES (?, ?) USING TIMESTAMP ?"
}

func remove(table string) string {
	return "DELETE FROM " + keyspace + "." + table + " USING TIMESTAMP ? WHERE status = ? AND order_id = ?"
}

func requestTo(mode writer.Mode, table string, host session.Host) toldRequest {
	return toldRequest{
		start: session.RequestStart{
			Op: "createOrder", Mode: mode.String(), Keyspace: keyspace, Tables: []string{table},
			Statements:  []string{insert(table)},
			Consistency: session.LocalQuorum, Idempotent: mode != writer.Counter,
		},
		end: session.RequestEnd{Outcome: writer.Applied, Attempts: 1, Host: host},
	}
}

// fanOut is applied, after one attempt more than there are tables.
func fanOut(tb testing.TB) told {
	tb.Helper()
	one, two := coordinator(tb, "10.0.0.1", "dc1"), coordinator(tb, "10.0.0.2", "dc1")
	slow := requestTo(writer.FanOut, "orders_by_user", two)
	slow.end.Attempts = 2
	slow.retries = []session.Retry{{
		Attempt: 1, Verdict: retry.Verdict{Outcome: retry.Unknown, Reason: "write_timeout.simple"},
		Wait: 12500 * time.Microsecond,
		Host: one, Err: answer(gocql.ErrCodeWriteTimeout),
	}}
	return told{
		start: session.OperationStart{Op: "createOrder", Changes: 1},
		requests: []toldRequest{
			requestTo(writer.FanOut, "orders_by_id", one), slow, requestTo(writer.FanOut, "orders_by_status", one),
		},
		end: session.OperationEnd{
			Op: "createOrder", Timestamp: 1734567898765432, Mode: writer.FanOut.String(), Requests: 3,
			Attempts: 4,
		},
	}
}

// grouped is a fan-out whose requests have travelled together.
func grouped(tb testing.TB) told {
	tb.Helper()
	w := fanOut(tb)
	w.requests[0].start.Tables, w.requests[0].start.Statements = nil, nil
	for _, r := range fanOut(tb).requests {
		w.requests[0].start.Tables = append(w.requests[0].start.Tables, r.start.Tables...)
		w.requests[0].start.Statements = append(w.requests[0].start.Statements, r.start.Statements...)
	}
	w.requests = w.requests[:1]
	w.requests[0].start.Group = 3
	w.requests[0].end.Tables = []writer.Outcome{writer.Applied, writer.Applied, writer.Applied}
	w.end.Requests, w.end.Groups, w.end.Attempts = 1, 1, 1
	return w
}

// groupSplit is one whose group has failed, so that each request went on alone.
func groupSplit(tb testing.TB) told {
	tb.Helper()
	w, alone := grouped(tb), fanOut(tb)
	cause := answer(gocql.ErrCodeUnavailable)
	w.requests[0].end.Outcome, w.requests[0].end.Reason, w.requests[0].end.Err = writer.Unknown, "unavailable", cause
	w.requests[0].end.Tables = []writer.Outcome{writer.Unknown, writer.Unknown, writer.Unknown}
	for _, r := range alone.requests {
		r.end.Attempts, r.retries = 1, nil // the span of the group says why
		w.requests = append(w.requests, r)
	}
	w.end.Attempts = 4
	return w
}

// failing is a fan-out of which one table is not known to have the write.
func failing(tb testing.TB) told {
	tb.Helper()
	w := fanOut(tb)
	cause := errors.Join(answer(gocql.ErrCodeWriteTimeout), context.DeadlineExceeded)
	w.requests[1].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 2, Host: w.requests[1].end.Host, Reason: "attempt_timeout", Err: cause,
	}
	w.end.Err = &writer.Error{
		Op: "createOrder", Timestamp: w.end.Timestamp, Mode: writer.FanOut,
		Tables: []writer.TableResult{
			{Keyspace: keyspace, Table: "orders_by_id", Outcome: writer.Applied, Attempts: 1},
			{Keyspace: keyspace, Table: "orders_by_user", Outcome: writer.Unknown, Attempts: 2, Err: cause},
			{Keyspace: keyspace, Table: "orders_by_status", Outcome: writer.Applied, Attempts: 1},
		},
	}
	return w
}

// resumed finishes failing.
func resumed(tb testing.TB) told {
	tb.Helper()
	w := fanOut(tb)
	w.start = session.OperationStart{Op: "createOrder", Resume: true}
	w.requests = w.requests[1:2]
	w.end.Attempts = 2
	return w
}

// stillFailing is a Resume that did not finish it.
func stillFailing(tb testing.TB) told {
	tb.Helper()
	w := failing(tb)
	w.start = session.OperationStart{Op: "createOrder", Resume: true}
	w.requests = w.requests[1:2]
	w.end.Attempts = 2
	return w
}

// moved is a logged batch of a whole update: puts and deletes in three tables.
func moved(tb testing.TB) told {
	tb.Helper()
	return told{
		start: session.OperationStart{Op: "payOrder", Changes: 1},
		requests: []toldRequest{{
			start: session.RequestStart{
				Op: "payOrder", Mode: writer.LoggedBatch.String(), Keyspace: keyspace,
				Tables: []string{"orders_by_id", "orders_by_user", "orders_by_status"},
				Statements: []string{
					insert("orders_by_id"), insert("orders_by_user"), insert("orders_by_status"),
					remove("orders_by_status"), remove("orders_by_status"), remove("orders_by_status"),
				},
				Consistency: session.LocalQuorum, Idempotent: true,
			},
			end: session.RequestEnd{Outcome: writer.Applied, Attempts: 1, Host: coordinator(tb, "10.0.0.3", "dc1")},
		}},
		end: session.OperationEnd{
			Op: "payOrder", Timestamp: 1734567898765433, Mode: writer.LoggedBatch.String(), Requests: 1,
			Attempts: 1,
		},
	}
}

// fallenBack is a logged batch that failed at the batchlog and went on as a fan-out, of which one request failed too.
func fallenBack(tb testing.TB) told {
	tb.Helper()
	w := moved(tb)
	batchlog := answer(gocql.ErrCodeWriteTimeout)
	w.requests[0].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 1, Reason: "write_timeout.batch_log", Err: batchlog,
	}
	w.end.Mode, w.end.Attempts, w.end.Requests = writer.Fallback.String(), 3, 2
	for _, table := range []string{"orders_by_id", "orders_by_user"} {
		p := requestTo(writer.Fallback, table, session.Host{})
		p.start.Op = "payOrder"
		w.requests = append(w.requests, p)
	}
	w.requests[2].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 1, Reason: "unavailable", Err: answer(gocql.ErrCodeUnavailable),
	}
	w.end.Err = &writer.Error{Op: "payOrder", Mode: writer.Fallback, Tables: []writer.TableResult{
		{Keyspace: keyspace, Table: "orders_by_id", Outcome: writer.Applied},
		{Keyspace: keyspace, Table: "orders_by_user", Outcome: writer.Unknown, Err: answer(gocql.ErrCodeUnavailable)},
	}}
	return w
}

// spent is a fan-out of which two requests were not tried again for want of budget. Both were hedged, once: the
// requests of one were answered alike, those of the other were not.
func spent(tb testing.TB) told {
	tb.Helper()
	w := fanOut(tb)
	alike := errors.Join(errors.Join(answer(gocql.ErrCodeUnavailable), answer(gocql.ErrCodeUnavailable)), retry.ErrBudget)
	differing := errors.Join(
		errors.Join(answer(gocql.ErrCodeUnavailable), answer(gocql.ErrCodeWriteTimeout)), retry.ErrBudget)
	w.requests[1].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 2, Host: w.requests[1].end.Host, Reason: "unavailable", BudgetSpent: true,
		Hedges: 1, Err: alike,
	}
	w.requests[2].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 2, Host: w.requests[2].end.Host, Reason: "several", BudgetSpent: true, Hedges: 1,
		Err: differing,
	}
	w.end.Attempts = 5
	w.end.Err = &writer.Error{
		Op: "createOrder", Timestamp: w.end.Timestamp, Mode: writer.FanOut,
		Tables: []writer.TableResult{
			{Keyspace: keyspace, Table: "orders_by_id", Outcome: writer.Applied, Attempts: 1},
			{Keyspace: keyspace, Table: "orders_by_user", Outcome: writer.Unknown, Attempts: 2, Err: alike},
			{Keyspace: keyspace, Table: "orders_by_status", Outcome: writer.Unknown, Attempts: 2, Err: differing},
		},
	}
	return w
}

// left is a fan-out of which two requests outlived the call: of one it becomes known later that it failed, of the other
// that it was applied.
func left(tb testing.TB) told {
	tb.Helper()
	w := fanOut(tb)
	cause := fmt.Errorf("the driver has not returned: %w", context.DeadlineExceeded)
	w.requests[1].late, w.requests[2].late = true, true
	w.requests[1].end = session.RequestEnd{
		Outcome: writer.Unknown, Attempts: 2, Host: w.requests[1].end.Host, Reason: "connection_closed",
		Err: errors.Join(gocql.ErrConnectionClosed, context.DeadlineExceeded),
	}
	w.end.Stragglers = 2
	w.end.Err = &writer.Error{
		Op: "createOrder", Timestamp: w.end.Timestamp, Mode: writer.FanOut,
		Tables: []writer.TableResult{
			{Keyspace: keyspace, Table: "orders_by_id", Outcome: writer.Applied, Attempts: 1},
			{Keyspace: keyspace, Table: "orders_by_user", Outcome: writer.Unknown, Attempts: 2, Err: cause},
			{Keyspace: keyspace, Table: "orders_by_status", Outcome: writer.Unknown, Attempts: 1, Err: cause},
		},
	}
	return w
}

// rejected is a write of which nothing was sent.
func rejected(tb testing.TB) told {
	tb.Helper()
	_, err := writer.New(nil) // the one way to such an error from outside
	var refusal *writer.Error
	if !errors.As(err, &refusal) {
		tb.Fatal("New without a session gave", err)
	}
	return told{
		start: session.OperationStart{Op: "createOrder", Changes: 1}, end: session.OperationEnd{
			Op:   "createOrder",
			Mode: writer.None.String(), Err: refusal,
		},
	}
}
