package hot_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/leaks"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/internal/testutil/streams"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

const (
	writers   = 16
	hotOrders = 100
	// patience is how long it may take to finish all writes of a load, and how long until the cluster is quiet.
	patience = 4 * time.Minute
)

// length is how long a load runs.
func length() time.Duration {
	if *long {
		return 30 * time.Second
	}
	return 5 * time.Second
}

// market is a keyspace with the tables of orders, and what was written to them. Several loads run on it one after the
// other, each on orders of its own.
type market struct {
	*testing.T
	keyspace string
	began    time.Time
	write    *gocql.Session
	read     *gocql.Session
	streams  *streams.Counter
	history  *history.History[orders.Order]
	known    map[string]bool // findings of earlier loads
	orders   []orders.Order  // of this load
	killed   map[string]bool // hosts
	// restart kills and starts a node. Nil: nodes are not this test's to restart.
	restart func(ctx context.Context, host string) error
}

// open makes a market. When the test ends nothing of its sessions may be left.
func open(t *testing.T) *market {
	t.Helper()
	m := &market{
		T: t, began: time.Now(), streams: &streams.Counter{All: true}, history: history.New[orders.Order](nil), known: make(map[string]bool),
		killed: make(map[string]bool),
	}
	others := goleak.IgnoreCurrent()
	t.Cleanup(func() { m.wantNoGoroutines(others) }) // runs last
	cluster.Need(t, 3)
	m.keyspace = cluster.Keyspace(t, 3)
	m.read, m.write = m.session(), m.session()
	cluster.ChangeSchema(t, m.keyspace, orders.Schema.Statements()...)
	t.Logf("the market is open after %.1f s", time.Since(m.began).Seconds())
	return m
}

// session is one as services have it.
func (m *market) session(changes ...func(*gocql.ClusterConfig)) *gocql.Session {
	m.Helper()
	return cluster.Session(m.T, m.keyspace, append([]func(*gocql.ClusterConfig){func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.Timeout = 20 * time.Second // of what has no deadline of its own: schema statements
		c.StreamObserver = m.streams
	}}, changes...)...)
}

// in is the market for a load with new orders.
func (m *market) in(t *testing.T) *market {
	t.Helper()
	of := *m
	of.T, of.began, of.orders = t, time.Now(), make([]orders.Order, hotOrders)
	w := of.writer()
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for i := n; i < len(of.orders); i += writers {
				of.orders[i] = of.create(w, i)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return &of
}

// create creates an order, and returns it with its stamp.
func (m *market) create(w *writer.Writer, n int) orders.Order {
	o := orders.New(gocql.MustRandomUUID(), inf.NewDec(int64(n), 2))
	noted := m.history.Begin("creator", tables.Insert, o)
	res, err := w.Write(m.Context(), "createOrder", orders.Orders.Insert(o))
	m.history.End(noted, res.Timestamp, err)
	if err != nil {
		m.Error(err)
	}
	o.UpdatedAt = res.Timestamp
	return o
}

func (m *market) writer(options ...writer.NewOption) *writer.Writer {
	m.Helper()
	w, err := writer.New(testsession.New(m.T, m.write, m.read), options...)
	if err != nil {
		m.Fatal(err)
	}
	return w
}

// same is one writer for all.
func same(w *writer.Writer) []*writer.Writer { return slices.Repeat([]*writer.Writer{w}, writers) }

// run runs a load of these writers on the orders of the market.
func (m *market) run(set *tables.Set[orders.Order], ws []*writer.Writer) hot.Figures {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), length()+patience)
	defer cancel()
	load := hot.Load{
		Name: "here", Set: set, Orders: m.orders, Writers: ws, Reader: orders.NewReader(m.read), History: m.history,
		Length: length(), First: 1_000_000,
	}
	f, err := load.Run(ctx)
	if err != nil {
		m.Error(err)
	}
	if f.Overtaken == 0 {
		m.Error("no before-image was overtaken: this load is of no use")
	}
	return f
}

// check waits until the cluster is quiet and holds the tables against the history. Findings of other kinds than those
// allowed fail the test.
func (m *market) check(f hot.Figures, remark string, allowed ...history.Kind) *history.Report {
	m.Helper()
	m.quiesce()
	m.wantAnswers(m.streams)
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	contents, err := history.Read(ctx, m.read, orders.Orders)
	if err != nil {
		m.Fatal(err)
	}
	report, err := history.Check(contents, m.history.Writes())
	if err != nil {
		m.Fatal(err)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f history.Finding) bool {
		s := f.String()
		known := m.known[s]
		m.known[s] = true
		return known
	})
	line := fmt.Sprintf("%s: %v; %s; %s", m.name(), f, report.Summary(), remark)
	sheet.WriteString("- " + line + "\n")
	m.Log(line)
	for _, k := range history.Kinds {
		if n := report.Count(k); n > 0 && !slices.Contains(allowed, k) {
			m.Errorf("%d findings of kind %s:\n%v", n, k, report)
			break
		}
	}
	return report
}

// quiesce waits until nothing can change the tables any more.
func (m *market) quiesce() {
	m.Helper()
	began := time.Now()
	restart := m.restart
	if restart != nil {
		restart = func(ctx context.Context, host string) error {
			m.killed[host] = true
			m.Logf("%s is restarted, as batches stay in its batchlog", host)
			return m.restart(ctx, host)
		}
	}
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	if err := history.Quiesce(ctx, cluster.Hosts(m), m.began, restart); err != nil {
		m.Fatal(err)
	}
	m.Logf("the cluster was quiet after %.1f s", time.Since(began).Seconds())
}

// wantAnswers waits until every request of the open sessions has been answered, also those that their callers gave up,
// but for requests to nodes that were killed.
func (m *market) wantAnswers(counter *streams.Counter) {
	m.Helper()
	var open map[string]int
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) { // heartbeats come and go
		open = counter.ByHost()
		maps.DeleteFunc(open, func(host string, _ int) bool { return m.killed[host] })
		if len(open) == 0 {
			return
		}
	}
	m.Errorf("%v requests are neither answered nor given up", open)
}

// wantNoGoroutines looks for goroutines when all sessions are closed.
func (m *market) wantNoGoroutines(others goleak.Option) {
	m.Helper()
	began := time.Now()
	if err := leaks.Wait(others); err != nil {
		m.Error(err)
		return
	}
	m.Logf("nothing was left of %d requests after %.1f s", m.streams.Started(), time.Since(began).Seconds())
}
