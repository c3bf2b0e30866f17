package writer

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// raw is an encoded value.
type raw []byte

func (r raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return r, nil }

// applyPart carries out those statements of a batch whose bit is set in subset, as a coordinator does that fails in the middle.
func (s *wireShop) applyPart(r cassandratest.Request, subset int) {
	for i, st := range r.Statements {
		if subset>>i&1 == 0 {
			continue
		}
		values := make([]any, len(st.Values))
		for n, v := range st.Values {
			values[n] = raw(v.Bytes)
		}
		go func() { _ = s.session.Query(st.Text, values...).Consistency(gocql.One).Exec() }()
	}
}

// sentByWriter says that a request is not one of applyPart.
var sentByWriter = cassandratest.Where(func(r cassandratest.Request) bool { return r.Consistency == gocql.LocalQuorum })

// groupKnown is what is known after one attempt of a group, where the first error comes before the first mutation and not between two.
func groupKnown(name string, f wireFault) wireKnown {
	if strings.HasPrefix(name, "unavailable") || name == "overloaded" {
		return maybe
	}
	return f.partition
}

// Every error and every lost answer of a group, with every subset of its mutations applied, and then every kind of error of one of the requests
// that it becomes: what is claimed of each table is what the attempts allow to say, neither more nor less.
func TestWireGroupOutcomes(t *testing.T) {
	t.Parallel()
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	const table = "orders_by_user"
	outcomes := func(nodes int, order func(*testing.T, *wireShop) Order) func(*testing.T, string, wireFault) {
		return func(t *testing.T, first string, fault wireFault) {
			t.Helper()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWireGroups(t, nodes, Timeout(time.Minute), Retry(retry.Policy{MaxAttempts: 2, MaxElapsedTime: time.Minute}))
				faults, group := wireFaults(), groupKnown(first, fault)
				subsets, thirds := 8, length.Of(t, 3)
				if group != maybe {
					subsets, thirds = 1, 3
				}
				for subset := range subsets {
					for i := range thirds { // of the second errors
						second := wireSeconds[(3*i+subset)%len(wireSeconds)]
						s.groupOutcome(t, tally, table, groupCase{
							change: orderSet(t).Insert(order(t, s)), first: fault, group: group, subset: subset, second: faults[second],
							say: fmt.Sprintf("%03b applied, then %s", subset, second),
						})
					}
				}
			})
		}
	}
	shared := outcomes(3, func(*testing.T, *wireShop) Order { return fresh() })
	joined := outcomes(6, func(t *testing.T, s *wireShop) Order { t.Helper(); return s.joined(t) })
	for first, fault := range wireFaults() {
		t.Run(first, func(t *testing.T) { t.Parallel(); shared(t, first, fault) })
		t.Run(first+", one has joined", func(t *testing.T) { t.Parallel(); joined(t, first, fault) })
	}
}

// groupCase is one write.
type groupCase struct {
	change        tables.Change
	first, second wireFault // of the group, and of the request to one table after it
	group         wireKnown
	subset        int
	say           string
}

func (s *wireShop) groupOutcome(t *testing.T, tally *wireTally, table string, c groupCase) {
	t.Helper()
	var made []wireKnown
	batch := s.When(cassandratest.Batch, sentByWriter).Choose(func(r cassandratest.Request) []cassandratest.Step {
		made = append(made, c.group)
		s.applyPart(r, c.subset)
		return append([]cassandratest.Step{cassandratest.Delay(5 * time.Millisecond)}, c.first.steps...)
	})
	alone := s.When(cassandratest.Execute, cassandratest.Table(table), sentByWriter).Choose(func(cassandratest.Request) []cassandratest.Step {
		made = append(made, c.second.partition)
		return c.second.steps
	})
	at := s.stamp()
	result, err := s.w.With(At(at)).Write(s.counted(t.Context()), "op", c.change)
	batch.End()
	alone.End()
	if batch.Handled() != 1 || result.Groups != 1 || result.Requests != 1 {
		t.Fatalf("%s: %d groups, %+v", c.say, batch.Handled(), result)
	}
	want := known(made)
	if (err == nil) != (want == Applied) && err == nil {
		t.Errorf("%s: error %v, want %v", c.say, err, want)
	}
	claims := map[string]TableResult{}
	if err != nil {
		for _, r := range asError(t, err).Tables {
			claims[r.Table] = r
		}
		wantConsistent(t, asError(t, err))
	}
	<-time.After(3 * time.Minute) // what comes late has come, what was cut is connected, and what left the groups is back
	for range 5 {                 // and nodes that did not answer come back into rotation
		if _, err := s.w.With(Group(0)).Write(t.Context(), "op", orderSet(t).Insert(fresh())); err != nil {
			t.Fatal(err)
		}
	}
	for part, statements := range statementsOf(t, c.change) {
		claim := claims[part]
		if err == nil {
			claim.Outcome, claim.Attempts = Applied, len(made)
		}
		if applied := s.ledger.has(part, at); !tally.judge(claim.Outcome, applied, statements) {
			t.Errorf("%s: %s is claimed to be %v, and of %d statements %d were applied", c.say, part, claim.Outcome, statements, applied)
		}
		switch {
		case part == table:
			if claim.Outcome != want || claim.Attempts != len(made) {
				t.Errorf("%s: %s is %v after %d attempts, want %v after %d: %v", c.say, part, claim.Outcome, claim.Attempts, want, len(made), err)
			}
		case claim.Outcome != Applied && (claim.Outcome != Unknown || claim.Attempts != 2): // it may lose its answer with the connection
			t.Errorf("%s: %s, which is not at fault, is %v after %d attempts", c.say, part, claim.Outcome, claim.Attempts)
		}
	}
}
