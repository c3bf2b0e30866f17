package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// letter has values that would be recognized anywhere.
type letter struct {
	Sender, Taker string
	Text          string
	UpdatedAt     int64
}

var letters = tables.Must(tables.New[letter]("letter",
	tables.Table{Name: "letters", PartKey: []string{"sender"}, SortKey: []string{"taker"}},
	tables.Table{Name: "letters_by_to", PartKey: []string{"taker"}, SortKey: []string{"sender"}},
	tables.Table{Name: "letters_by_text", PartKey: []string{"text"}, SortKey: []string{"sender", "taker"}},
	tables.Stamp("updated_at"),
))

// office has letters, of which some tables lack some.
type office struct {
	*cassandratest.Cluster
	t *testing.T
	s *session.Session
}

func newOffice(t *testing.T, count int) *office {
	t.Helper()
	o := &office{Cluster: cassandratest.Start(t, 1), t: t}
	o.Create(schema.Must(schema.Declare(schema.Sets(letters))).In(map[string]string{"": "post"}).Statements()...)
	config := o.Config()
	config.Keyspace = "post"
	var err error
	if o.s, err = session.Open(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.s.Close)
	w, err := writer.New(o.s, writer.WithClock(writer.NewClock(time.Now)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		l := letter{Sender: fmt.Sprint("secretfrom", i), Taker: fmt.Sprint("secretto", i), Text: fmt.Sprint("secrettext", i)}
		if _, err := w.Write(t.Context(), "write", letters.Insert(l)); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (o *office) exec(statement string) {
	o.t.Helper()
	if err := o.s.Writes().Query(statement).Exec(); err != nil {
		o.t.Fatal(err)
	}
}

// spy is a data converter that notes all payloads.
type spy struct {
	converter.DataConverter
	mu   sync.Mutex
	seen bytes.Buffer
}

func (s *spy) note(p *common.Payload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Write(p.GetData())
	s.seen.WriteByte('\n')
}

// ToPayload implements [converter.DataConverter].
func (s *spy) ToPayload(value any) (*common.Payload, error) {
	p, err := s.DataConverter.ToPayload(value)
	s.note(p)
	return p, err
}

// ToPayloads implements [converter.DataConverter].
func (s *spy) ToPayloads(values ...any) (*common.Payloads, error) {
	p, err := s.DataConverter.ToPayloads(values...)
	for _, p := range p.GetPayloads() {
		s.note(p)
	}
	return p, err
}

// failures notes what Temporal is told of errors.
type failures struct {
	converter.FailureConverter
	spy *spy
}

// ErrorToFailure implements [converter.FailureConverter].
func (f failures) ErrorToFailure(err error) *failure.Failure {
	out := f.FailureConverter.ErrorToFailure(err)
	f.spy.note(&common.Payload{Data: []byte(out.String())})
	return out
}

// run runs a workflow with the real activities, and sees that no payload has anything of a row.
func (o *office) run(r Run) (*testsuite.TestWorkflowEnvironment, string) {
	o.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	payloads := &spy{DataConverter: converter.GetDefaultDataConverter()}
	env.SetDataConverter(payloads)
	env.SetFailureConverter(failures{temporal.GetDefaultFailureConverter(), payloads})
	if err := Register(env, o.s, []tables.Described{letters}); err != nil {
		o.t.Fatal(err)
	}
	env.ExecuteWorkflow(workflowType, r)
	text := payloads.seen.String() + fmt.Sprint(env.GetWorkflowError())
	for _, secret := range []string{"secretfrom", "secretto", "secrettext"} {
		if strings.Contains(text, secret) {
			o.t.Errorf("%s is in a payload:\n%s", secret, text)
		}
	}
	return env, text
}

// A run counts what the embedded verification counts, and the payloads have none of it but counts.
func TestVerifies(t *testing.T) {
	o := newOffice(t, 40)
	o.exec("DELETE FROM letters_by_to WHERE taker = 'secretto3'")
	o.exec("DELETE FROM letters WHERE sender = 'secretfrom4'")
	o.exec("UPDATE letters_by_to SET text = 'secrettext' WHERE taker = 'secretto5' AND sender = 'secretfrom5'")
	r, err := reconcile.New(o.s, reconcile.Settle(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Verify(t.Context(), letters)
	if !errors.Is(err, reconcile.ErrDrift) {
		t.Fatal(err)
	}
	env, payloads := o.run(Run{Kind: Verify, Set: "letter", Segments: 5, Units: 4, Settle: time.Second})
	got := reported(t, env)
	for i, table := range want.Tables {
		found := make(map[string]int64)
		for class, n := range table.Found {
			found[class.String()] = int64(n)
		}
		g := got.Tables[i]
		if g.Table != table.Table || g.Rows != int64(table.Rows) || len(found)+len(g.Found) > 0 && !reflect.DeepEqual(g.Found, found) {
			t.Errorf("%+v, want %+v", g, table)
		}
	}
	if !errors.Is(got.Err(), reconcile.ErrDrift) || !strings.Contains(payloads, `"cursor":9223372036854775807`) {
		t.Errorf("%v\n%s", got.Err(), payloads)
	}
}

// A backfill puts the rows of the base table, and compares the table then.
func TestBackfills(t *testing.T) {
	o := newOffice(t, 30)
	o.exec("TRUNCATE letters_by_text")
	env, _ := o.run(Run{
		Kind: Backfill, Set: "letter", Table: "letters_by_text", Writers: time.Now().Add(-time.Hour), Settle: time.Second, Segments: 3,
	})
	got := reported(t, env)
	if got.Put != 30 || got.Err() != nil || len(got.Tables) != 2 || !reflect.DeepEqual(got.Tables[1], Table{Table: "post.letters_by_text", Rows: 30}) {
		t.Errorf("%+v", got)
	}
}

// Errors of nodes, and panics, have their texts in the log of the worker alone.
func TestErrorsStayHere(t *testing.T) {
	o := newOffice(t, 3)
	env, text := o.run(Run{Kind: Verify, Set: "letters", Settle: time.Second})
	var why *temporal.ApplicationError
	if !errors.As(env.GetWorkflowError(), &why) || why.Type() != invalidType || !strings.Contains(text, "not registered") {
		t.Error(text)
	}
	quiet := o.s
	o.s = quiet.With(session.Trace(panics{}))
	env, text = o.run(Run{Kind: Verify, Set: "letter", Segments: 1, Settle: time.Second, Tables: []string{"letters_by_to"}})
	o.s = quiet
	if got := reported(t, env); got.Uncovered == 0 || strings.Contains(text, "goroutine") || !strings.Contains(text, "panicked") {
		t.Errorf("%+v\n%s", got, text)
	}
	o.When(cassandratest.Table("letters_by_to")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
	env, text = o.run(Run{Kind: Verify, Set: "letter", Segments: 1, Settle: time.Second, Tables: []string{"letters_by_to"}})
	if got := reported(t, env); got.Uncovered == 0 || strings.Contains(text, "read post.") || !strings.Contains(text, failed) {
		t.Errorf("%+v\n%s", got, text)
	}
}

// activities registers no workflows.
type activities struct {
	worker.Registry
	on *testsuite.TestActivityEnvironment
}

// RegisterWorkflowWithOptions implements [worker.Registry].
func (a activities) RegisterWorkflowWithOptions(any, workflow.RegisterOptions) {}

// RegisterActivityWithOptions implements [worker.Registry].
func (a activities) RegisterActivityWithOptions(do any, options activity.RegisterOptions) {
	a.on.RegisterActivityWithOptions(do, options)
}

// What cannot be read of a range is left at a try with a number, where only those count at which the cluster answered.
// What was told last is known to the next try.
func TestTries(t *testing.T) {
	o := newOffice(t, 3)
	const last = mostTries - 1
	for name, tt := range map[string]struct {
		before int
		fail   cassandratest.Error
		base   bool // fails as well
		tries  int  // that are told
		left   bool
	}{
		"no replicas":      {before: last, fail: cassandratest.Unavailable(gocql.LocalQuorum, 2, 1), tries: last},
		"nothing answers":  {before: last, fail: cassandratest.Code(gocql.ErrCodeUnauthorized), base: true, tries: last},
		"this range fails": {before: 5, fail: cassandratest.Code(gocql.ErrCodeUnauthorized), tries: 6},
		"it is left":       {before: last, fail: cassandratest.Code(gocql.ErrCodeUnauthorized), left: true},
	} {
		t.Run(name, func(t *testing.T) {
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
			env := suite.NewTestActivityEnvironment()
			if err := Register(activities{on: env}, o.s, []tables.Described{letters}); err != nil {
				t.Fatal(err)
			}
			run, err := Run{Kind: Verify, Set: "letter", Settle: time.Second, Tables: []string{"letters_by_to"}}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			value, err := env.ExecuteActivity(planActivity, run)
			var p plan
			if err == nil {
				err = value.Get(&p)
			}
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var said told
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
				mu.Lock()
				defer mu.Unlock()
				_ = details.Get(&said) // else it is not as wanted
			})
			defer o.When(cassandratest.Table("letters_by_to")).Do(cassandratest.Fail(tt.fail)).End()
			if tt.base {
				defer o.When(cassandratest.Table("letters")).Do(cassandratest.Fail(tt.fail)).End()
			}
			env.SetHeartbeatDetails(told{engine.Done{Begun: true, Cursor: 7, Rows: 5}, tt.before})
			value, err = env.ExecuteActivity(unitActivity, unitArguments{
				Run: run, Declaration: p.Declaration, Table: "letters_by_to", Low: 0, High: math.MaxInt64, Of: 1,
			})
			var done engine.Done
			if err == nil {
				err = value.Get(&done)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case tt.left && (err != nil || done.Cursor != math.MaxInt64 || done.Uncovered == 0 || done.Rows != 5):
				t.Errorf("%v, %+v", err, done)
			case !tt.left && (err == nil || said.Tries != tt.tries || said.Cursor != 7 || said.Rows != 5):
				t.Errorf("%v, %+v, %+v", err, said, done)
			}
		})
	}
}

// A worker with another declaration does nothing of a unit, and says so in a way that pauses the run.
func TestOtherDeclaration(t *testing.T) {
	o := newOffice(t, 3)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	if err := Register(activities{on: env}, o.s, []tables.Described{letters}); err != nil {
		t.Fatal(err)
	}
	read := o.When(cassandratest.Table("letters_by_to")).Do(cassandratest.Apply)
	_, err := env.ExecuteActivity(unitActivity, unitArguments{
		Run: Run{Kind: Verify, Set: "letter", Settle: time.Second}, Declaration: "other", Table: "letters_by_to", Low: 0, High: math.MaxInt64, Of: 1,
	})
	var why *temporal.ApplicationError
	if !errors.As(err, &why) || why.Type() != invalidType || !why.NonRetryable() || read.Handled() != 0 {
		t.Errorf("%v, %d reads", err, read.Handled())
	}
}

// panics is a tracer that panics with something secret.
type panics struct {
	session.Tracer
	runtrace.RunTracer
}

// TraceUnitStart implements [runtrace.RunTracer].
func (panics) TraceUnitStart(context.Context, runtrace.UnitStart) context.Context {
	panic("secrettext")
}

// Sets and options that cannot be meant are rejected.
func TestRegisterRejects(t *testing.T) {
	o := newOffice(t, 0)
	var suite testsuite.WorkflowTestSuite
	for name, err := range map[string]error{
		"two sets":   Register(suite.NewTestWorkflowEnvironment(), o.s, []tables.Described{letters, letters}),
		"nil":        Register(suite.NewTestWorkflowEnvironment(), o.s, []tables.Described{nil}),
		"no session": Register(suite.NewTestWorkflowEnvironment(), nil, []tables.Described{letters}),
		"option":     Register(suite.NewTestWorkflowEnvironment(), o.s, []tables.Described{letters}, reconcile.InFlight(0)),
	} {
		if !errors.Is(err, reconcile.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
