package writer

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The nodes of the tests allocate much and keep little: with the default a fifth of the time goes into collecting it.
func init() { debug.SetGCPercent(400) } //nolint:gochecknoinits // before all tests of both packages

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
	errNoSerial    = &gocql.RequestErrUnavailable{Consistency: gocql.Consistency(gocql.Serial), Required: 2, Alive: 1}
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

// shared is what a session with these options tells a writer, for writers without a session.
func shared(options ...session.Option) Option {
	return option(func(c *config) { c.use(new(session.Session).With(options...)) })
}

// traced is what a session with a tracer tells a writer.
func traced(t session.Tracer) Option { return shared(session.Trace(t)) }

// otherSession has connections that no writer has.
func otherSession(tb testing.TB) *session.Session {
	tb.Helper()
	return testsession.New(tb, nil, new(gocql.Session))
}

// spelled is what a request puts on the wire: every statement with its bound bytes, in a form that can be compared.
func spelled(r fanout.Attempt) string {
	var b strings.Builder
	for _, m := range r.Mutations {
		writeMutation(&b, m, time.UnixMilli(r.Now))
	}
	return b.String()
}

func writeMutation(b *strings.Builder, m *statement.Mutation, now time.Time) {
	text, args := m.At(now)
	fmt.Fprintf(b, "%s %x", text, m.PartitionKey)
	for _, a := range args {
		if v, ok := a.(*cqltype.Value); ok && v.Data != nil {
			fmt.Fprintf(b, " %s:%x", v.Type.String(), v.Data)
		} else {
			fmt.Fprintf(b, " %T", a) // null and unset differ by type
		}
	}
	b.WriteString("\n")
}

func wires(requests []fanout.Attempt) []string {
	out := make([]string, len(requests))
	for i, r := range requests {
		out[i] = spelled(r)
	}
	slices.Sort(out)
	return out
}

// wantEqualRequests says that two sets of requests are the same to the server.
func wantEqualRequests(t *testing.T, a, b []fanout.Attempt) {
	t.Helper()
	if x, y := wires(a), wires(b); !slices.Equal(x, y) {
		t.Errorf("sent\n%s\nthen\n%s", strings.Join(x, ""), strings.Join(y, ""))
	}
}

// boundBytes are the encoded values of all requests.
func boundBytes(requests []fanout.Attempt) []byte {
	var out bytes.Buffer
	for _, r := range requests {
		for _, m := range r.Mutations {
			for _, a := range m.Args {
				if v, ok := a.(*cqltype.Value); ok {
					out.Write(v.Data)
				}
			}
		}
	}
	return out.Bytes()
}

// scripted is the answer to one request of a condition.
type scripted struct {
	applied bool
	row     map[string]any
	err     error
	found   func(dest []any) // what a read finds; nil is no row
	own     bool             // of a transaction of Cassandra 6: its last row has the version of the write
}

// fakeTransactor answers from a script, and remembers what was asked. After the script everything is applied.
type fakeTransactor struct {
	steps []scripted
	block chan struct{} // if not nil, a swap waits for it and ignores its context
	hold  chan struct{} // if not nil, what is sent without a condition waits for it

	mu    sync.Mutex
	sent  []string
	texts []string // of transactions of Cassandra 6, and of reads an empty one
	args  [][]any
}

func (x *fakeTransactor) next(text string) scripted {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = append(x.sent, text[:strings.Index(text+" ", " ")])
	if len(x.steps) == 0 {
		return scripted{applied: true}
	}
	s := x.steps[0]
	x.steps = x.steps[1:]
	return s
}

func (x *fakeTransactor) Swap(_ context.Context, statements []statement.Bound, _ decide.Options) (bool, map[string]any,
	error,
) {
	if x.block != nil {
		<-x.block
	}
	s := x.next(statements[0].Text)
	return s.applied, s.row, s.err
}

func (x *fakeTransactor) Read(_ context.Context, s statement.Bound, dest []any, _ bool, _ decide.Options) (bool,
	error,
) {
	a := x.next(s.Text)
	x.texts = append(x.texts, "")
	if a.found != nil {
		a.found(dest)
	}
	return a.found != nil, a.err
}

func (x *fakeTransactor) Commit(_ context.Context, t *entity.Transaction, _ decide.Options) (*entity.Found, error) {
	a, found := x.next(t.Text), t.Found()
	x.texts, x.args = append(x.texts, t.Text), append(x.args, t.Args)
	if a.found != nil {
		a.found(found.Dest())
	}
	if a.own { // the last row has the version that the transaction writes
		dest, version := found.Dest(), []byte(nil)
		for _, arg := range t.Args {
			if v, ok := arg.(*cqltype.Value); ok && v.Type.String() == "timeuuid" {
				version = v.Data
			}
		}
		_ = dest[len(dest)-3].(gocql.Unmarshaler).UnmarshalCQL(nil, version) //nolint:forcetypeassert // that is what Dest gives
	}
	return found, a.err
}

func (x *fakeTransactor) Exec(ctx context.Context, _ statement.Bound, _ decide.Options) error {
	if x.hold != nil {
		select {
		case <-x.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return x.next("FINISH").err
}

func (x *fakeTransactor) asked() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.sent, " ")
}

// conditional is a writer on both fakes, which waits little.
func conditional(steps []scripted, options ...NewOption) (*Writer, *fakeTransactor, *fakeExecutor) {
	x, e := &fakeTransactor{steps: steps}, &fakeExecutor{}
	w := fakeWriter(e, append([]NewOption{
		Retry(retry.Policy{InitialInterval: time.Nanosecond, MaxInterval: time.Nanosecond, MaxAttempts: 3}),
	}, options...)...)
	w.transact = x
	return w, x, e
}

// item scans the columns of an Piece, as items lies in Cassandra: shelf, count, version, pending, done, recent.
func item(shelf string, version gocql.UUID) func([]any) {
	return func(dest []any) {
		for i, data := range [][]byte{[]byte(shelf), {0, 0, 0, 7}} {
			u, _ := dest[i].(gocql.Unmarshaler)
			_ = u.UnmarshalCQL(nil, data)
		}
		if len(dest) > 2 {
			*dest[2].(*gocql.UUID) = version //nolint:forcetypeassert // that is what Select gives
		}
		if len(dest) > 4 {
			*dest[4].(*gocql.UUID) = version //nolint:forcetypeassert // it is done
		}
	}
}

var errLost = &gocql.RequestErrWriteTimeout{WriteType: "CAS"}

// shown is what a request is of, and how it goes.
func shown(r fanout.Attempt) string {
	var names []string
	for _, m := range r.Mutations {
		names = append(names, fmt.Sprintf("%v %s", m.Kind, m.Table))
	}
	slices.Sort(names)
	return fmt.Sprintf("%v: %s", r.Kind, strings.Join(slices.Compact(names), ", "))
}

func shownAll(requests []fanout.Attempt) []string {
	var out []string
	for _, r := range requests {
		out = append(out, shown(r))
	}
	slices.Sort(out)
	return out
}

// What tests of package bulk need: they are in this folder, in package writer_test, as bulk imports writer.
type (
	FakeTransactor = fakeTransactor
	NopExecutor    = nopExecutor
	WireShop       = wireShop
)

const Earliest = earliest

var (
	FakeWriter, Scripted, Once, Carries, AsError = fakeWriter, conditional, once, carries, asError
	NoteSet, NewNote, TaskSet, NewTask           = noteSet, newNote, taskSet, newTask
	ViewSet, NewView, ItemSet, NewItem           = viewSet, newView, itemSet, newItem
	OrderSet, NewOrder, Move                     = orderSet, newOrder, move
	OpenWire, Unwind, OtherOrder                 = openWire, unwind, otherOrder
	ErrSyntax, ErrBatch, ErrUnavailable          = errSyntax, errBatch, errUnavailable
)

func MustSet[T any](tb testing.TB, entity string, options ...tables.Option) *tables.Set[T] {
	tb.Helper()
	return mustSet[T](tb, entity, options...)
}

func Answer(with func(context.Context, fanout.Attempt) error) *fakeExecutor {
	return &fakeExecutor{answer: with}
}

func (x *fakeExecutor) Sent() []fanout.Attempt { return x.sent() }

func (x *fakeTransactor) Asked() string { return x.asked() }

func (w *Writer) Transact(by decide.Session) { w.transact = by }

func (s *wireShop) Writer() *Writer { return s.w }

func (s *wireShop) Gocql() *gocql.Session { return s.session }

func (s *wireShop) Writes(from int) []cassandratest.Request { return s.writes(from) }
