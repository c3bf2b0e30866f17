package writer

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeExecutor answers requests from a script, and remembers them. A nil answer function acknowledges everything.
type fakeExecutor struct {
	answer func(ctx context.Context, r fanout.Attempt) error

	mu       sync.Mutex
	requests []fanout.Attempt
}

func (x *fakeExecutor) Execute(ctx context.Context, r *fanout.Attempt) error {
	x.mu.Lock()
	x.requests = append(x.requests, *r)
	x.mu.Unlock()
	if x.answer == nil {
		return nil
	}
	return x.answer(ctx, *r)
}

func (x *fakeExecutor) sent() []fanout.Attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]fanout.Attempt(nil), x.requests...)
}

// fail answers requests that carry table with errs, one after the other, and acknowledges what comes after them, and
// all others. An empty table stands for all.
func fail(table string, errs ...error) func(context.Context, fanout.Attempt) error {
	var mu sync.Mutex
	return func(_ context.Context, r fanout.Attempt) error {
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 || !carries(r, table) {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

func carries(r fanout.Attempt, table string) bool {
	for _, m := range r.Mutations {
		if table == "" || m.Table == table {
			return true
		}
	}
	return false
}

// nopExecutor acknowledges everything and costs nothing.
type nopExecutor struct{}

func (nopExecutor) Execute(context.Context, *fanout.Attempt) error { return nil }

// What the cluster answers.
var (
	errSimple      = &gocql.RequestErrWriteTimeout{WriteType: "SIMPLE"}
	errBatch       = &gocql.RequestErrWriteTimeout{WriteType: "BATCH"}
	errBatchLog    = &gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"}
	errNoBatchlog  = &gocql.RequestErrUnavailable{Consistency: gocql.Two, Required: 1}
	errUnavailable = &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum, Required: 2, Alive: 1}
	errOverloaded  = answer{gocql.ErrCodeOverloaded, "too many hints"}
	errSyntax      = answer{gocql.ErrCodeSyntax, "line 1:0"}
)

// answer is an error of the server that has only code and text.
type answer struct {
	code int
	text string
}

func (e answer) Code() int       { return e.code }
func (e answer) Message() string { return e.text }
func (e answer) Error() string   { return e.text }

const tenDays = 10 * 24 * time.Hour

// grace makes every table keep deletes for d.
func grace(d time.Duration) func(context.Context, string, string) (liveTable, error) {
	return func(context.Context, string, string) (liveTable, error) { return liveTable{gcGrace: d}, nil }
}

// fakeWriter has a session with keyspace shop, and a cluster in which every table keeps deletes for ten days.
func fakeWriter(x fanout.Executor, options ...NewOption) *Writer {
	return newWriter(x, "shop", grace(tenDays), options...)
}

// once is a policy without a second attempt.
func once() Option { return Retry(retry.Policy{MaxAttempts: 1}) }

// fixed is a clock that stands at t.
func fixed(t time.Time) *Clock { return NewClock(func() time.Time { return t }) }

// failed carries out a write that must fail.
func failed(t *testing.T, w *Writer, changes ...tables.Change) *Error {
	t.Helper()
	_, err := w.Write(t.Context(), "test", changes...)
	return asError(t, err)
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := err.(*Error) //nolint:errorlint // it must be this error, not one that wraps it
	if !ok {
		t.Fatalf("error %v of type %T, want an *Error", err, err)
	}
	return e
}

// outcomes are what e says of each table.
func outcomes(e *Error) map[string]Outcome {
	out := make(map[string]Outcome)
	for _, r := range e.Tables {
		out[r.Table] = r.Outcome
	}
	return out
}
