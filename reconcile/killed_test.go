package reconcile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

var killedAtAll = flag.Bool("reconcile.killed", false, "TestKilledAtEveryStep kills at each write, before and after it; TestFrozenBeyondLease and "+
	"TestWrittenAtEveryStep take each step, too")

// process reconciles, with a session of its own, until it is killed; it may be frozen.
type process struct {
	gocql.Dialer
	s *session.Session

	mu    sync.Mutex
	dead  bool
	ice   chan struct{} // closed when it goes on; nil: it is not frozen
	conns []net.Conn
}

var errKilled = errors.New("the process was killed")

func startProcess(t *testing.T, c *cassandratest.Cluster) *process {
	t.Helper()
	config := c.Config()
	config.Keyspace = "shop"
	p := &process{Dialer: config.Dialer}
	config.Dialer = p
	var err error
	if p.s, err = session.Open(config, session.Budget(retry.NewBudget(1<<30, 0))); err != nil {
		t.Fatal(err)
	}
	return p
}

// DialContext implements [gocql.Dialer].
func (p *process) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil, errKilled
	}
	c, err := p.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.conns = append(p.conns, c)
	return frozenConn{c, p}, nil
}

// kill cuts off the process: nothing that it still does reaches a node, or anybody else.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for _, c := range p.conns {
		_ = c.Close()
	}
}

func (p *process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// ward is tables whose run is killed.
type ward interface {
	cluster() *cassandratest.Cluster
	// plant empties the tables, and plants what disagrees.
	plant()
	// differences are the rows that disagree, by a comparison of its own.
	differences() []string
	// rows are those of the query tables, as keys.
	rows() []string
	// values are what the base table has, without times.
	values() string
	// moved are rows that a repair which finishes a move removes, as the write itself would have done: what was there is
	// under another key.
	moved() []string
	set() tables.Described
}

// treatment is a run that is killed.
type treatment struct {
	name    string
	options []reconcile.Option
}

func (m *mortal) run(ctx context.Context, r *reconcile.Reconciler, options ...reconcile.Option) (*reconcile.Report, error) {
	options = append(options, m.options...)
	switch m.name {
	case "verify":
		return r.Verify(ctx, m.set(), options...)
	case "repair":
		return r.Repair(ctx, m.set(), append(options, reconcile.Rewrite())...)
	case "backfill":
		return r.Backfill(ctx, m.set(), "items_by_owner", append(options, reconcile.Writers(time.Now().Add(-time.Hour)))...)
	}
	return r.Adopt(ctx, m.set(), append(options, reconcile.Writers(m.ended))...)
}

// mortal is one world, whose runs are killed.
type mortal struct {
	ward
	treatment
	t        *testing.T
	r        *reconcile.Reconciler // of the process that resumes
	expected string                // values after a run that was not disturbed
	ended    time.Time             // of the writers by hand; a run to adopt is continued with the same

	mu     sync.Mutex
	handed []string // rows
}

// onRemoval hands out rows of a process.
func (m *mortal) onRemoval(p *process) reconcile.Option {
	return reconcile.OnRemoval(func(r reconcile.Removal) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if p.killed() {
			return errKilled
		}
		m.handed = append(m.handed, rowKey(strings.TrimPrefix(r.Table, "shop."), r.Values))
		return nil
	})
}

// rowKey is a row as findings name it.
func rowKey(table string, values map[string]string) string {
	for _, column := range []string{"owner", "status", "agent"} {
		if strings.HasSuffix(table, "_by_"+column) {
			return fmt.Sprintf("%s: %s = %s AND id = %s", table, column, values[column], values["id"])
		}
	}
	return table + ": id = " + values["id"]
}

func isWrite(r cassandratest.Request) bool { return !isRead(r) }

// attempt plants, and has a process run that dies at its n-th write, which is applied or not, and others resume. All
// but the last one may die as well, at the n-th write of after. It gives false if the first process has ended before.
func (m *mortal) attempt(n int, applied bool, after ...int) (died bool) {
	m.plant()
	m.handed = nil
	want, before := m.differences(), m.rows()
	left := slices.Clone(want) // and what a death has left
	report, died, err := m.process(n, applied)
	for next, again := 0, died; again; next++ {
		<-time.After(61 * time.Second) // of the lease
		left = append(left, m.differences()...)
		n := 0
		if next < len(after) {
			n = after[next]
		}
		report, again, err = m.process(n, applied)
	}
	m.checkReport(want, left, report, err)
	m.checkTables(before)
	return died
}

// process has a process run, or resume the run that there is, until it dies at its n-th write, after which nothing of
// it reaches the cluster. Reads need no death of their own: what a process has read dies with it, so that one which
// dies at a read leaves what one leaves that dies at the next write.
func (m *mortal) process(n int, applied bool) (report *reconcile.Report, died bool, err error) {
	t, c := m.t, m.cluster()
	run := m.interrupted()
	p := startProcess(t, c)
	defer p.s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	writes := 0
	rule := c.When(cassandratest.Where(isWrite)).Choose(func(cassandratest.Request) []cassandratest.Step {
		if writes++; n == 0 || writes < n {
			return nil
		}
		p.kill()
		cancel()
		if applied && writes == n {
			return []cassandratest.Step{cassandratest.Apply, cassandratest.Cut}
		}
		return []cassandratest.Step{cassandratest.Cut}
	})
	if (run == gocql.UUID{}) {
		m.ended = time.Now().Add(-time.Minute)
	}
	r, err := reconcile.New(p.s, reconcile.State("shop"), reconcile.Settle(settleKilled), reconcile.Ranges(killedRanges), m.onRemoval(p))
	if err != nil {
		t.Fatal(err)
	}
	report, err = m.run(ctx, r, reconcile.Resume(run))
	rule.End()
	cancel()
	if died = p.killed(); !died {
		m.checkStored(report, err)
	}
	return report, died, err
}

const (
	settleKilled = 5 * time.Second
	killedRanges = 2
)

// interrupted is the run of a process that has died, zero if it was not stored yet.
func (m *mortal) interrupted() (run gocql.UUID) {
	t := m.t
	runs, err := m.r.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs = slices.DeleteFunc(runs, func(r reconcile.RunInfo) bool { return r.Kind != m.name }) // the verification of a backfill
	for _, r := range runs {
		if run = r.Run; r.State != "interrupted" && r.State != "done" || len(runs) > 1 {
			t.Errorf("%+v", runs)
		}
	}
	return run
}

// checkStored checks what is stored of a run that has ended.
func (m *mortal) checkStored(report *reconcile.Report, err error) {
	if report == nil {
		m.t.Fatal(err)
	}
	runs, err := m.r.Runs(m.t.Context())
	if err != nil || !slices.ContainsFunc(runs, func(r reconcile.RunInfo) bool {
		return r.Run == report.Run && r.State == "done" && r.Done == r.Ranges
	}) {
		m.t.Errorf("%v: %+v", err, runs)
	}
}

// keys are the rows that a report has, in order.
func keys(report *reconcile.Report) (out []string) {
	for f := range report.Findings() {
		out = append(out, strings.TrimPrefix(f.Table, "shop.")+": "+f.Key())
	}
	slices.Sort(out)
	return out
}

// checkReport checks a run, or the one that has resumed it, when left is what disagreed before, or after a death.
func (m *mortal) checkReport(want, left []string, report *reconcile.Report, err error) {
	t := m.t
	if m.name == "backfill" { // it repairs what is missing by the way
		want = nil
	}
	found, counted := keys(report), 0
	for _, table := range report.Tables {
		for _, n := range table.Found {
			counted += n
		}
	}
	if len(slices.Compact(slices.Clone(found))) != len(found) || counted != len(found) {
		t.Errorf("%d findings counted: %v", counted, found)
	}
	for _, key := range want {
		if !slices.Contains(found, key) {
			t.Errorf("not in the report: %s", key)
		}
	}
	for _, key := range found {
		if !slices.Contains(want, key) && !slices.Contains(left, key) {
			t.Errorf("found, and no difference: %s", key)
		}
	}
	if (err != nil) != (m.name == "verify" && len(want) > 0) || err != nil && !errors.Is(err, reconcile.ErrDrift) {
		t.Errorf("%v\n%v", err, report)
	}
}

// checkTables checks what a run has left of the rows that were there before.
func (m *mortal) checkTables(before []string) {
	t := m.t
	if m.name == "verify" {
		if after := m.rows(); !slices.Equal(after, before) {
			t.Errorf("had %v, have %v", before, after)
		}
		return
	}
	if left := m.differences(); len(left) > 0 {
		t.Errorf("the tables disagree:\n%s", strings.Join(left, "\n"))
	}
	after := append(m.rows(), m.moved()...)
	for _, key := range before {
		if !slices.Contains(after, key) && !slices.Contains(m.handed, key) {
			t.Errorf("removed, and not handed out: %s", key)
		}
	}
	if values := m.values(); m.expected == "" {
		m.expected = values
	} else if values != m.expected {
		t.Errorf("the base table has\n%s\nwant\n%s", values, m.expected)
	}
	if report, err := m.r.Verify(t.Context(), m.set()); err != nil || len(keys(report)) > 0 {
		t.Errorf("verified: %v\n%v", err, report)
	}
}

var unstamped = newRule("OneOf", rule{moves: true, stamp: true}, tables.OneOf("status", statuses...), tables.UnstampedRows())

// A run is killed at each of its writes, and another process resumes it: all that disagrees is in the report, nothing
// else is, the tables agree where the run repairs, and no row is removed that was not handed out.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	lookup := []reconcile.Option{reconcile.Lookup()}
	for i, test := range []struct {
		rule
		treatment
		plants []wreck
		stride int
	}{
		{rules[0], treatment{"repair", lookup}, wrecks, 17},
		{rules[0], treatment{name: "repair"}, wrecks, 17},
		{rules[0], treatment{"repair", lookup}, wrecks[len(wrecks)-1:], 1}, // nothing disagrees
		{rules[0], treatment{"verify", lookup}, wrecks, 7},
		{rules[0], treatment{name: "verify"}, wrecks, 7},
		{rules[0], treatment{"verify", lookup}, []wreck{wrecks[7], wrecks[0], wrecks[0], wrecks[0]}, 1}, // the range of the base rows is done last
		{rules[1], treatment{"repair", lookup}, wrecks, 17},
		{rules[1], treatment{name: "repair"}, wrecks, 17},
		{rules[2], treatment{"repair", lookup}, wrecks, 13},
		{rules[2], treatment{"repair", lookup}, wrecks[5:6], 1}, // the orphan of a create, which takes the most steps
		{rules[2], treatment{name: "repair"}, wrecks, 13},
		{rules[3], treatment{"repair", lookup}, wrecks, 13},
		{rules[3], treatment{name: "repair"}, wrecks, 13},
		{rules[4], treatment{"repair", lookup}, wrecks, 13},
		{rules[4], treatment{name: "repair"}, wrecks, 13},
		{rules[0], treatment{name: "backfill"}, []wreck{wrecks[0], wrecks[0], wrecks[0]}, 4},
		{unstamped, treatment{name: "adopt"}, nil, 5},
		{rule{name: "Versioned"}, treatment{"repair", lookup}, nil, 7},
		{rule{name: "Versioned"}, treatment{name: "repair"}, nil, 7},
	} {
		t.Run(fmt.Sprint(i, " ", test.rule.name, " ", test.treatment.name), func(t *testing.T) {
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				var m *mortal
				if test.set == nil {
					m = newKilledTickets(t, c)
				} else {
					m = newKilledItems(t, c, test.rule, test.plants)
				}
				m.treatment = test.treatment
				m.kill(test.stride)
			})
		})
	}
}

// kill kills runs at each of their writes, before and after it, or at every so many of them.
func (m *mortal) kill(stride int) {
	if m.attempt(0, false); *killedAtAll {
		stride = 1
	}
	for n := 1; !m.t.Failed(); n += stride {
		if stride == 1 && !m.attempt(n, false) || !m.attempt(n, stride == 1 || n%3 > 0) || *killedAtAll && !m.attempt(n, true, 3+n%7, 8+n%5) {
			m.t.Logf("it has fewer than %d writes", n)
			return
		}
	}
}
