package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// guest has a version, and a name that only one guest can have.
type guest struct {
	GuestID gocql.UUID
	Name    string
	Visits  int32
	Version gocql.UUID
}

var guests = tables.Must(tables.New[guest]("guest",
	tables.Table{Name: "guests", PartKey: []string{"guest_id"}},
	tables.Table{Name: "guests_by_name", PartKey: []string{"name"}, Unique: true},
	tables.Versioned("version"),
))

// connect opens a session of keyspace shop, until the test ends.
func connect(t *testing.T, c *cassandratest.Cluster) *gocql.Session {
	t.Helper()
	config := session.Configure(c.Config(), "dc1")
	config.Keyspace = "shop"
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// open gives a writer on the tables of guests, with this tracer.
func open(t *testing.T, c *cassandratest.Cluster, tracer session.Tracer) *writer.Writer {
	t.Helper()
	w, err := writer.New(testsession.New(t, connect(t, c), connect(t, c), session.Trace(tracer)),
		writer.WithClock(writer.NewClock(time.Now)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// watched is a writer and what it tells its tracers.
type watched struct {
	out      bytes.Buffer
	exporter *tracetest.InMemoryExporter
	metrics  *sdkmetric.ManualReader
	tracer   session.Tracer
	w        *writer.Writer
}

func watch(t *testing.T, c *cassandratest.Cluster) *watched {
	t.Helper()
	s := new(watched)
	provider, exporter := recorder(t)
	meters, metrics := meter(t)
	s.exporter, s.metrics = exporter, metrics
	log := slog.New(slog.NewTextHandler(&s.out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: short}))
	s.tracer = tracing.Multi(tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)),
		tracing.Slog(log))
	s.w = open(t, c, s.tracer)
	return s
}

// short leaves of a line what does not differ from run to run.
func short(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.LevelKey, slog.MessageKey, "outcome", "rounds":
		return a
	}
	return slog.Attr{}
}

// tell gives what was told since the last time: lines, and the status of the span of each Modify and write.
func (s *watched) tell() string {
	var b strings.Builder
	b.WriteString(s.out.String())
	for _, span := range s.exporter.GetSpans() {
		if !strings.HasPrefix(span.Name, "INSERT") && !strings.HasPrefix(span.Name, "UPDATE") {
			fmt.Fprintf(&b, "span %s: %v %q\n", span.Name, span.Status.Code, span.Status.Description)
		}
	}
	s.out.Reset()
	s.exporter.Reset()
	return b.String()
}

func visit(g guest) (guest, error) {
	g.Visits++
	return g, nil
}

// Conflicts that Modify has resolved alarm nobody: calls that all return nil leave no line above info, and no error in
// spans and metrics.
func TestResolvedConflictsAlarmNobody(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(schema.Must(schema.Declare(schema.Sets(guests))).In(map[string]string{"": "shop"}).Statements()...)
		s := watch(t, c)
		ann := guest{GuestID: gocql.MustRandomUUID(), Name: "ann"}
		if _, err := s.w.Write(t.Context(), "addGuest", guests.Insert(ann)); err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			w := open(t, c, s.tracer) // another writer: calls of one take turns
			calls.Go(func() { _, errs[i] = writer.Modify(t.Context(), w, "visit", guests, ann, visit) })
		}
		calls.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.out.String(), "level=WARN") || strings.Contains(s.out.String(), "level=ERROR") {
			t.Errorf("calls that return nil log\n%s", s.out.String())
		}
		writes, rounds := make(map[trace.SpanID]int), make(map[trace.SpanID]int)
		for _, span := range s.exporter.GetSpans() {
			if span.Status.Code == codes.Error {
				t.Errorf("span %s has the status %v", span.Name, span.Status)
			}
			switch span.Name {
			case "visit":
				writes[span.Parent.SpanID()]++
			case "Modify visit":
				set := attribute.NewSet(span.Attributes...)
				n, _ := set.Value("denorm.rounds")
				rounds[span.SpanContext.SpanID()] = int(n.AsInt64())
			}
		}
		if len(rounds) != 10 || !maps.Equal(rounds, writes) {
			t.Errorf("spans of Modify by rounds are %v, their writes %v", rounds, writes)
		}
		if all := table(collect(t, s.metrics)); strings.Contains(all, "error.type") ||
			!strings.Contains(all, `denorm.outcome="conflict"`) {
			t.Errorf("the metrics are\n%s", all)
		}
	})
}

// What each outcome is logged as, and whether its spans have an error.
func TestLevels(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(schema.Must(schema.Declare(schema.Sets(guests))).In(map[string]string{"": "shop"}).Statements()...)
		s := watch(t, c)
		other := open(t, c, nil)
		ann := guest{GuestID: gocql.MustRandomUUID(), Name: "ann"}
		bob := guest{GuestID: gocql.MustRandomUUID(), Name: "bob"}
		write := func(change tables.Change) func() error {
			return func() error {
				_, err := s.w.Write(t.Context(), "change", change)
				return err
			}
		}
		modify := func(change func(guest) (guest, error)) func() error {
			return func() error {
				_, err := writer.Modify(t.Context(), s.w, "visit", guests, ann, change)
				return err
			}
		}
		missing := func() error {
			_, err := writer.Modify(t.Context(), s.w, "visit", guests, bob, visit)
			return err
		}
		overtaken := func() error {
			w := s.w.With(writer.Retry(retry.Policy{MaxElapsedTime: time.Millisecond}))
			_, err := writer.Modify(t.Context(), w, "visit", guests, ann, func(g guest) (guest, error) {
				if _, err := writer.Modify(t.Context(), other, "visit", guests, ann, visit); err != nil {
					t.Error(err)
				}
				// what the other write sends after its answer has an end before this one is counted
				time.Sleep(10 * time.Millisecond)
				return visit(g)
			})
			return err
		}
		unauthorized := cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized))
		var b strings.Builder
		for _, test := range []struct {
			name string
			call func() error
			on   string // part of the statements that meet step
			step cassandratest.Step
		}{
			{"applied", write(guests.Insert(ann)), "", cassandratest.Answer},
			{"conflict", write(guests.Insert(ann)), "", cassandratest.Answer},
			{"taken", write(guests.Insert(guest{GuestID: bob.GuestID, Name: "ann"})), "", cassandratest.Answer},
			{"rejected", write(guests.Insert(guest{})), "", cassandratest.Answer},
			{"not applied", write(guests.Insert(bob)), "guests", unauthorized},
			{"Modify: applied", modify(visit), "", cassandratest.Answer},
			{
				"Modify: declined", modify(func(g guest) (guest, error) { return g, errors.New("closed") }), "",
				cassandratest.Answer,
			},
			{"Modify: not found", missing, "", cassandratest.Answer},
			{"Modify: read failed", modify(visit), "SELECT", unauthorized},
			{"Modify: overtaken for too long", overtaken, "", cassandratest.Answer},
			{"Modify: unknown", modify(visit), "UPDATE", cassandratest.Drop},
			{"unknown", write(guests.Insert(bob)), "UPDATE", cassandratest.Drop},
		} {
			if test.on != "" {
				c.When(cassandratest.Text(test.on)).Do(test.step)
			}
			fmt.Fprintf(&b, "%s, %v\n", test.name, test.call())
			c.Heal()
			b.WriteString(s.tell() + "\n")
		}
		golden.Check(t, "levels.golden", b.String())
	})
}

// A read of Modify and Load is a request, as a read of a partition is: a slow one has a span with its table, node and
// retries, and each attempt that failed a line. Before, nothing told it from the time that the function took.
func TestReadsOfModifyAndLoad(t *testing.T) {
	t.Parallel()
	type note struct {
		ID, Text string
		At       time.Time
	}
	notes := tables.Table{Name: "notes", PartKey: []string{"id"}}
	plain := tables.Must(tables.New[note]("note", notes))
	compared := tables.Must(tables.New[note]("note", notes, tables.Compare("text")))
	key := note{ID: "a"}
	for name, test := range map[string]struct {
		set  *tables.Set[note]
		call func(context.Context, *writer.Writer, *tables.Set[note]) error
	}{
		"Load": {plain, func(ctx context.Context, w *writer.Writer, set *tables.Set[note]) error {
			_, err := writer.Load(ctx, w, "show", set, key)
			return err
		}},
		"Modify": {plain, func(ctx context.Context, w *writer.Writer, set *tables.Set[note]) error {
			_, err := writer.Modify(ctx, w, "show", set, key, func(n note) (note, error) { return n, errors.New("as it is") })
			return err
		}},
		"Load under a condition": {compared, func(ctx context.Context, w *writer.Writer, set *tables.Set[note]) error {
			_, err := writer.Load(ctx, w, "show", set, key)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(schema.Must(schema.Declare(schema.Sets(plain))).In(map[string]string{"": "shop"}).Statements()...)
				provider, exporter := recorder(t)
				var out bytes.Buffer
				w := open(t, c, tracing.Multi(tracing.New(tracing.WithTracerProvider(provider)),
					tracing.Slog(slog.New(slog.NewTextHandler(&out, nil)))))
				if _, err := w.Write(t.Context(), "add", plain.Insert(note{ID: "a", Text: "x"})); err != nil {
					t.Fatal(err)
				}
				exporter.Reset()
				failing := c.When(cassandratest.Text("SELECT"), cassandratest.Table("notes"), cassandratest.Nth(1)).
					Do(cassandratest.Fail(cassandratest.Overloaded))
				err := test.call(t.Context(), w, test.set)
				if failing.End(); (err != nil) != (name == "Modify") || failing.Handled() != 1 {
					t.Fatal(err, failing.Handled())
				}
				spans := exporter.GetSpans()
				if len(spans) == 0 {
					t.Fatal("no span")
				}
				read := spans[0]
				has := make(map[attribute.Key]string)
				for _, a := range read.Attributes {
					has[a.Key] = a.Value.String()
				}
				if read.Name != "SELECT notes" || read.SpanKind != trace.SpanKindClient || has["denorm.op"] != "show" ||
					has["denorm.attempts"] != "2" || has["denorm.rows"] != "1" || has["server.address"] == "" ||
					len(read.Events) != 1 || read.Events[0].Name != "retry" {
					t.Errorf("the read is %s with %v and %v", read.Name, has, read.Events)
				}
				if name == "Modify" && (len(spans) != 2 || read.Parent.SpanID() != spans[1].SpanContext.SpanID()) {
					t.Errorf("%d spans, the last one %s", len(spans), spans[len(spans)-1].Name)
				}
				const failed = `msg="attempt failed" op=show keyspace=shop table=notes partition=1 `
				if line := out.String(); !strings.Contains(line, failed) {
					t.Errorf("told %q", line)
				}
			})
		})
	}
}
