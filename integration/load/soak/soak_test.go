//go:build faults

package soak_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

var (
	long    = flag.Bool("long", false, "at least 10,000 writes under many faults, not 1,000 with each kind of fault once")
	seed    = flag.Uint64("seed", 0, "of the schedule of faults; 0: another one each time")
	figures = flag.String("figures", "", "write the report to this file, too")
)

const (
	writers  = 2 // of each client, of which there are two a service
	accounts = 20
	// patience is how long it may take to finish what is left, and how long until the cluster is quiet.
	patience = 4 * time.Minute
)

// pause is that of a writer between two writes, on average. The short form writes less, so that nodes start faster.
func pause() time.Duration {
	if *long {
		return 400 * time.Millisecond
	}
	return time.Second
}

// run is a run of the soak.
type run struct {
	*testing.T
	hosts    []string
	nodes    []*cluster.Node
	keyspace string
	dir      string // of the clients' journals
	admin    *gocql.Session
	writer   *writer.Writer
	orders   map[string][]orders.Order // by service
	accounts []gocql.UUID
	all      []*slot
	over     chan struct{}
	living   sync.WaitGroup

	outbox history.Queue // of the clients, for the consumers

	accountWrites history.History[soak.Account]

	mu              sync.Mutex
	orderWrites     []*history.History[orders.Order]
	orderJournals   map[string]*history.History[orders.Order] // by the name of the journal
	accountJournals map[string]int                            // of each, where it begins in accountWrites
	deliveries      []string                                  // journals
	report          Report
}

// Several services write while nodes are killed, fall silent and are restarted, clients are killed and the schema
// changes. Nothing that was acknowledged is lost, nothing that was said not to be applied is there, and the tables
// agree, but for what was in flight or told to be open where nobody finishes it.
func TestNodeFaultsUnderLoad(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	s := &run{
		T: t, hosts: cluster.Hosts(t), nodes: cluster.Nodes(t), dir: t.TempDir(), over: make(chan struct{}),
		report: Report{Kills: make(map[string]int)}, outbox: history.Queue(t.TempDir()),
		orderJournals: make(map[string]*history.History[orders.Order]), accountJournals: make(map[string]int),
	}
	if *seed == 0 {
		*seed = uint64(time.Now().Unix())
	}
	s.report.Seed = *seed
	t.Logf("-seed %d", *seed)
	s.open()
	began := time.Now()
	s.slots()
	s.living.Go(s.killer)
	for _, f := range Schedule(*seed, len(s.nodes), *long) {
		s.suffer(began, f)
	}
	atLeast := 1_000
	if *long {
		atLeast = 10_000
	}
	for s.begun() < atLeast && !t.Failed() {
		<-time.After(time.Second)
	}
	close(s.over)
	s.living.Wait()
	s.report.Length = time.Since(began)
	s.drain()
	s.judge(began)
	t.Logf("\n%v", &s.report)
	if *figures != "" {
		if err := os.WriteFile(*figures, []byte(s.report.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range s.report.Wrong {
		t.Error(wrong)
	}
	if len(s.report.Kills) <= len(soak.Services) || s.report.Repeated == 0 || s.report.Stored == 0 {
		t.Errorf("a service of which no client was killed, no write in flight when one was, or none stored: this load is of no use")
	}
}

// open makes the tables, and what is in them at first.
func (s *run) open() {
	s.Helper()
	s.keyspace = cluster.Keyspace(s, 3)
	connect := func() *gocql.Session {
		return cluster.Session(s.T, s.keyspace, func(c *gocql.ClusterConfig) {
			session.Configure(c, "")
			c.Timeout = 20 * time.Second // of what has no deadline of its own
		})
	}
	s.admin = connect()
	for _, statement := range soak.Tables {
		s.execute(statement)
	}
	var err error
	s.writer, err = writer.New(testsession.New(s.T, connect(), s.admin), writer.Timeout(20*time.Second), writer.ClaimGrace(soak.Grace))
	if err != nil {
		s.Fatal(err)
	}
	h := history.New[orders.Order](nil)
	s.orderWrites = append(s.orderWrites, h)
	s.orders = make(map[string][]orders.Order)
	var services sync.WaitGroup
	for _, service := range soak.Services {
		created := make([]orders.Order, service.Orders())
		s.orders[service.Name] = created
		services.Go(func() { s.create(h, service.Name+"/first", created) })
	}
	services.Wait()
	for n := range accounts {
		id := gocql.MustRandomUUID()
		s.accounts = append(s.accounts, id)
		_, err := s.writer.Write(s.Context(), "createAccount", soak.Accounts.Insert(soak.Account{
			AccountID: id, Email: soak.Address(n), Status: "new",
		}))
		if err != nil {
			s.Fatal(err)
		}
	}
	if s.Failed() {
		s.FailNow()
	}
}

// create fills a list with orders that exist.
func (s *run) create(h *history.History[orders.Order], by string, list []orders.Order) {
	for n := range list {
		o := orders.New(gocql.MustRandomUUID(), inf.NewDec(int64(n), 2))
		noted := h.Begin(by, tables.Insert, o)
		res, err := s.writer.Write(s.Context(), "createOrder", orders.Orders.Insert(o))
		h.End(noted, res.Timestamp, err)
		if err != nil {
			s.Error(err)
			return
		}
		o.UpdatedAt = res.Timestamp
		list[n] = o
	}
}

// suffer lets a fault happen, and waits until all nodes are well again.
func (s *run) suffer(began time.Time, f Fault) {
	if s.Failed() {
		return // it would only take longer
	}
	<-time.After(f.After)
	at, node := time.Now(), s.nodes[f.Node]
	s.Logf("second %.0f: %v", at.Sub(began).Seconds(), f)
	var err error
	switch f.Kind {
	case Kill:
		err = node.Kill(s.Context())
		<-time.After(f.For)
		err = errors.Join(err, node.Start(s.Context()))
	case Silence:
		err = node.Pause(s.Context())
		s.die()
		<-time.After(f.For)
		err = errors.Join(err, node.Continue(s.Context()))
	case Roll:
		for n := range s.nodes {
			node := s.nodes[(f.Node+n)%len(s.nodes)]
			err = errors.Join(err, node.Stop(s.Context()), node.Start(s.Context()), cluster.Whole(s.Context(), s.nodes))
		}
	case Schema:
		s.changeSchema()
	}
	if err != nil {
		s.Errorf("%v: %v", f, err)
		return
	}
	s.heal()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Events = append(s.report.Events, Event{At: at.Sub(began), Took: time.Since(at), What: f.String()})
}

// changeSchema adds a column to query tables and a table to the keyspace, and takes them away again.
func (s *run) changeSchema() {
	for _, statement := range []string{
		"ALTER TABLE orders_by_status ADD IF NOT EXISTS note text",
		"ALTER TABLE accounts_by_status ADD IF NOT EXISTS note text",
		"CREATE TABLE IF NOT EXISTS notes (id uuid PRIMARY KEY, note text)",
	} {
		s.execute(statement)
	}
	<-time.After(2 * time.Second)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS notes",
		"ALTER TABLE orders_by_status DROP IF EXISTS note",
		"ALTER TABLE accounts_by_status DROP IF EXISTS note",
	} {
		s.execute(statement)
	}
}

func (s *run) execute(statement string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	if err := s.until(ctx, func() error { return s.admin.Query(statement).WithContext(ctx).Exec() }); err != nil {
		s.Errorf("%s: %v", statement, err)
	}
}

// heal waits until all nodes are well and makes them equal. A node that was killed has lost what reached it in the last
// 100 ms of its life and is in no file yet, and nobody has hints of that: a second one that dies could take with it the
// only other copy of a write that was acknowledged by these two. To read everything at ALL repairs it.
func (s *run) heal() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	began := time.Now()
	if err := cluster.Whole(ctx, s.nodes); err != nil {
		s.Error(err)
		return
	}
	whole := time.Since(began)
	_, failed := history.Read(ctx, s.admin, orders.Orders)
	_, err := soak.ReadAccounts(ctx, s.admin)
	if err := errors.Join(failed, err); err != nil {
		s.Error(err)
	}
	s.Logf("all nodes were well after %.1f s, and equal after %.1f s", whole.Seconds(), time.Since(began).Seconds())
}

// judge waits until the cluster is quiet and checks everything.
func (s *run) judge(began time.Time) {
	s.Helper()
	ended := time.Now()
	ctx, cancel := context.WithTimeout(s.Context(), 2*patience)
	defer cancel()
	if err := history.Quiesce(ctx, s.hosts, began, s.restart); err != nil {
		s.Fatal(err)
	}
	s.report.Quiet = time.Since(ended)
	s.judgeOrders(ctx)
	s.judgeAccounts(ctx)
}

func (s *run) restart(ctx context.Context, host string) error {
	for _, n := range s.nodes {
		if n.Host() == host {
			s.Logf("%v is restarted, as batches stay in its batchlog", n)
			return errors.Join(n.Stop(ctx), n.Start(ctx), cluster.Whole(ctx, s.nodes))
		}
	}
	return fmt.Errorf("no node %s", host)
}

func (s *run) judgeOrders(ctx context.Context) {
	s.Helper()
	var writes []history.Write[orders.Order]
	for _, h := range s.orderWrites {
		writes = append(writes, h.Writes()...)
	}
	contents, err := history.Read(ctx, s.admin, orders.Orders)
	if err != nil {
		s.Fatal(err)
	}
	found, err := history.Check(contents, writes)
	if err != nil {
		s.Fatal(err)
	}
	s.Logf("orders: %v", found)
	s.report.Tallies, s.report.Wrong = soak.Judge(soak.Services, writes, found.Findings)
}

func (s *run) judgeAccounts(ctx context.Context) {
	s.Helper()
	writes := s.accountWrites.Writes()
	s.report.Changes = s.accountWrites.Count()
	for _, w := range writes {
		if w.Resumed && w.Outcome == writer.Applied {
			s.report.Resumed++
		}
	}
	check := func() *soak.AccountReport {
		t, err := soak.ReadAccounts(ctx, s.admin)
		if err != nil {
			s.Fatal(err)
		}
		return soak.CheckAccounts(t, s.accounts, writes)
	}
	s.report.Before = check()
	for _, id := range s.accounts {
		if err := s.until(ctx, func() error {
			_, err := writer.Modify(ctx, s.writer, "touchAccount", soak.Accounts, soak.Account{AccountID: id},
				func(a soak.Account) (soak.Account, error) { return a, nil })
			return err
		}); err != nil {
			s.Fatal(err)
		}
	}
	s.report.After = check()
	s.report.Wrong = append(s.report.Wrong, soak.Wrong(s.report.Before, s.report.After)...)
	for _, email := range s.report.After.Unclaimed {
		a := soak.Account{AccountID: gocql.MustRandomUUID(), Email: email, Status: "next"}
		if _, err := s.writer.Write(ctx, "createAccount", soak.Accounts.Insert(a)); err != nil {
			s.report.Wrong = append(s.report.Wrong, fmt.Sprintf("an address that nobody has cannot be had: %v", err))
			continue
		}
		s.report.Released++
	}
}
