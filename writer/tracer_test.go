package writer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
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

// lost is a tracer that returns no context.
type lost struct{ recorder }

func (l *lost) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	l.recorder.TraceStart(ctx, d)
	return nil
}

func (l *lost) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	l.recorder.TraceRequestStart(ctx, d)
	return nil
}

// Where a tracer returns a nil context, the call goes on with that of the caller, down to its requests.
func TestTracerWithoutContext(t *testing.T) {
	t.Parallel()
	l := &lost{}
	w := fakeWriter(&fakeExecutor{}, traced(l))
	caller := into(t.Context(), "caller")
	if _, err := w.Write(caller, "op", orderSet(t).Insert(newOrder(Open))); err != nil {
		t.Fatal(err)
	}
	withCondition, _, _ := conditional(nil, traced(l))
	if _, err := withCondition.Write(caller, "op", itemSet(t).Insert(newItem())); err != nil {
		t.Fatal(err)
	}
	if ctx := w.tracer.TraceStart(caller, session.OperationStart{
		Operation: session.OperationModify,
		Op:        "op",
	}); ctx != caller {
		t.Errorf("the context of Modify is %v", ctx)
	}
	for _, line := range l.lines {
		if !strings.HasPrefix(line, "caller: ") {
			t.Errorf("not in the caller's context: %s", line)
		}
	}
	if len(l.lines) != 15 {
		t.Errorf("told\n%s", strings.Join(l.lines, "\n"))
	}
}

// A session without a tracer leaves the writer's, as one without a budget does: a session for a tenant may come from
// one without a tracer. A nil tracer turns tracing off.
func TestTracerOfDerivedSessions(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{}, traced(&recorder{}))
	tenant := session.Keyspaces(map[string]string{"": "tenant"})
	for name, test := range map[string]struct {
		options []session.Option
		traced  bool
	}{
		"none":        {[]session.Option{tenant}, true},
		"another":     {[]session.Option{tenant, session.Trace(&recorder{})}, true},
		"nil":         {[]session.Option{session.Trace(nil)}, false},
		"nil pointer": {[]session.Option{session.Trace((*recorder)(nil))}, false},
	} {
		if got := w.With(shared(test.options...)); got.tracer.Any() != test.traced {
			t.Errorf("%s: traced %t", name, got.tracer.Any())
		}
	}
}

const aLink = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// linking is a tracer that gives links and keeps those that it is told of.
type linking struct {
	give string
	mu   sync.Mutex
	told []string
}

func (l *linking) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, d.Link)
	return ctx
}

func (*linking) TraceEnd(context.Context, session.OperationEnd) {}

func (l *linking) TraceLink(context.Context) string { return l.give }

// The error of a write has its traceparent, stored or not, for each Resume of it. A Resume that fails leaves it, or
// adds its own where there is none.
func TestErrorsLinkToTheirWrite(t *testing.T) {
	t.Parallel()
	open, _ := move()
	another := strings.ReplaceAll(aLink, "4bf9", "5cf9")
	for name, test := range map[string]struct {
		first, second string
		want          []string // what three calls are told
	}{
		"traced":            {aLink, another, []string{"", aLink, aLink}},
		"resume traced":     {"", another, []string{"", "", another}},
		"not traced":        {"", "", []string{"", "", ""}},
		"not a traceparent": {"user 'ada'", "00" + aLink[:53], []string{"", "", ""}},
	} {
		for how, keep := range map[string]func(*Error) *Error{
			"stored": func(e *Error) *Error { return transport(t, e) }, "kept": func(e *Error) *Error { return e },
		} {
			x := &fakeExecutor{answer: fail("orders_by_user", errSyntax, errSyntax)}
			w, l := fakeWriter(x), &linking{give: test.first}
			_, err := w.With(traced(l)).Write(t.Context(), "op", orderSet(t).Insert(open))
			l.give = test.second
			for range 2 {
				if err == nil {
					t.Fatalf("%s, %s: no error", name, how)
				}
				_, err = w.With(traced(l)).Resume(t.Context(), keep(asError(t, err)))
			}
			if err != nil || !slices.Equal(l.told, test.want) {
				t.Errorf("%s, %s: %v, told %q, want %q", name, how, err, l.told, test.want)
			}
		}
	}
}

// Who can write to the storage could put anything in the place of a link: it is dropped, and the write is resumed.
func TestForgedLinksAreDropped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		aLink: aLink, "": "", "user 'ada'": "", strings.ToUpper(aLink): "", "01" + aLink[2:]: "", aLink + "-00": "",
		aLink[:54]:                          "",
		strings.Replace(aLink, "-", "0", 1): "", strings.Replace(aLink, "4", "\n", 1): "",
		strings.Replace(aLink, "4b", "-b", 1): "",
	} {
		if got := traceparent(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	open, _ := move()
	w := fakeWriter(&fakeExecutor{answer: fail("orders_by_user", errSyntax)})
	_, err := w.Write(t.Context(), "op", orderSet(t).Insert(open))
	data, err := asError(t, err).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored wireError
	if _, err := wire.Decode(data[len(magic):len(data)-crc32.Size], &stored, maxParts); err != nil {
		t.Fatal(err)
	}
	stored.Link = "user 'ada'"
	forged, l := new(Error), &linking{}
	if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.With(traced(l)).Resume(t.Context(), forged); err != nil || !slices.Equal(l.told, []string{""}) {
		t.Errorf("%v, told %q", err, l.told)
	}
}

// observed are the requests with rows of orders that the observers of a session have been told of.
type observed struct {
	mu               sync.Mutex
	queries, batches int
}

func (o *observed) ObserveQuery(_ context.Context, q gocql.ObservedQuery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.Contains(q.Statement, "shop.orders") {
		o.queries++
	}
}

func (o *observed) ObserveBatch(context.Context, gocql.ObservedBatch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches++
}

// hostTracer keeps the coordinators of requests.
type hostTracer struct {
	recorder

	hosts []session.Host
}

func (r *hostTracer) TraceRequestEnd(_ context.Context, d session.RequestEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = append(r.hosts, d.Host)
}

// The observers of the caller's session are told of every request, with a tracer as without one, and the tracer learns
// the coordinators of batches too.
func TestWireTracedKeepsObservers(t *testing.T) {
	t.Parallel()
	for name, hedge := range map[string]Option{"plain": Hedge(0), "hedged": Hedge(time.Second)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				var own observed
				s := openWireConfigured(t, cassandratest.Start, 3, func(c *gocql.ClusterConfig) {
					c.QueryObserver, c.BatchObserver = &own, &own
				})
				var tracer hostTracer
				w := s.w.With(traced(&tracer), hedge)
				if _, err := w.Write(t.Context(), "fan-out", orderSet(t).Insert(newOrder(Open))); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(t.Context(), "batch", orderSet(t).Update(move())); err != nil {
					t.Fatal(err)
				}
				if own.queries != 3 || own.batches != 1 {
					t.Errorf("the session's observers were told of %d queries and %d batches, there were 3 and 1", own.queries,
						own.batches)
				}
				for i, host := range tracer.hosts {
					if host.ID() == "" || host.IP() == "" || host.Port() == 0 || host.Datacentre() == "" {
						t.Errorf("the tracer does not learn the coordinator of request %d of %d", i, len(tracer.hosts))
					}
				}
				if len(tracer.hosts) != 4 {
					t.Errorf("%d requests", len(tracer.hosts))
				}
			})
		})
	}
}

// Errors, plans and what a tracer is told end in logs. None of them may show a bound value, in whatever format.
func TestNothingShowsValues(t *testing.T) {
	t.Parallel()
	const secret = "Kreuzspinne4711"
	type patient struct {
		PatientID gocql.UUID
		Name      string
		Blob      []byte
	}
	set := mustSet[patient](t, "patient",
		tables.Table{Name: "patients", PartKey: []string{"patient_id"}},
		tables.Table{Name: "patients_by_name", PartKey: []string{"name"}, SortKey: []string{"patient_id"}},
		tables.SingleWriter("name"))
	row := patient{PatientID: mustUUID("4b726575-757a-7370-696e-6e6534373131"), Name: secret, Blob: []byte(secret)}
	moved := row
	moved.Name = "other" + secret
	r := &recorder{}
	x := &fakeExecutor{answer: fail("patients_by_name", errSimple, errSyntax)}
	w := fakeWriter(x, traced(r), once(), Concurrent())
	e := failed(t, w, set.Insert(row))
	if !bytes.Contains(boundBytes(x.sent()), []byte(secret)) {
		t.Fatal("the secret was not sent: the test tests nothing")
	}
	_, invalid := w.Write(t.Context(), "op", set.Insert(patient{Name: secret}))
	plan, err := explained.Of(w.explain("op", set.Update(row, moved)))
	if err != nil {
		t.Fatal(err)
	}
	things := map[string]any{
		"error": e, "error by value": *e, "stored error": transport(t, e), "wrapped": fmt.Errorf("op: %w", e),
		"joined": errors.Join(e, e), "invalid": invalid, "tables": e.Tables, "result": e.Tables[1],
		"plan": plan, "plan by value": *plan, "ends": r.ends, "lines": r.lines,
		"values": x.sent()[0].Mutations[0].Args,
	}
	maps.Copy(things, holders(t, secret))
	for name, thing := range things {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			wantNoSecret(t, name+" as "+format, fmt.Sprintf(format, thing), secret, row.PatientID)
		}
		text, _ := json.Marshal(thing)
		wantNoSecret(t, name+" as JSON", string(text), secret, row.PatientID)
		var log bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Info("failed", "thing", thing, slog.Group("group", slog.Any("thing", thing)))
		}
		wantNoSecret(t, name+" in slog", log.String(), secret, row.PatientID)
	}
	data, err := e.MarshalBinary()
	if err != nil || !bytes.Contains(data, []byte(secret)) {
		t.Errorf("MarshalBinary is where the values are: %v", err)
	}
}

// holders are what holds a session whose password is secret.
func holders(t *testing.T, secret string) map[string]any {
	t.Helper()
	config := cassandratest.Start(t, 1).Config()
	config.Authenticator = gocql.PasswordAuthenticator{Username: "shop", Password: secret}
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if held := struct{ Session any }{s.Reads()}; !strings.Contains(fmt.Sprintf("%s", held), secret) {
		t.Fatal("gocql does not show the password: the test tests nothing")
	}
	w, noWriter := New(s)
	r, noReader := reader.New(s)
	rec, noReconciler := reconcile.New(s)
	if err := errors.Join(noWriter, noReader, noReconciler); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"session": s, "session by value": *s, "writer": w, "writer by value": *w,
		"reader": r, "reader by value": *r, "reconciler": rec, "reconciler by value": *rec,
		"all": []any{s, w, r, rec}, "fields": struct{ S, W, R, C any }{s, *w, *r, rec},
	}
}

// wantNoSecret looks for the secret as it is, and in the forms in which bytes are printed.
func wantNoSecret(t *testing.T, what, text, secret string, id gocql.UUID) {
	t.Helper()
	numbers := strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]")
	for _, form := range []string{
		secret, hex.EncodeToString([]byte(secret)), numbers, strings.ReplaceAll(numbers, " ", ", "),
		base64.StdEncoding.EncodeToString([]byte(secret))[:16], base64.URLEncoding.EncodeToString([]byte(secret))[:16],
		fmt.Sprintf("%#v", []byte(secret))[7:40], id.String(), hex.EncodeToString(id[:]),
		strings.Trim(fmt.Sprintf("%d", id[:]), "[]"), base64.StdEncoding.EncodeToString(id[:])[:16],
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%s shows %s:\n%s", what, form, text)
		}
	}
}
