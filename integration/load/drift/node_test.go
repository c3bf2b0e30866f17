//go:build faults

package drift_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/reconcile"
)

var (
	long    = flag.Bool("long", false, "1,000,000 orders and 300 differences")
	sized   = flag.Int("orders", 0, "another number of orders")
	settle  = flag.Duration("settle", 0, "another Settle")
	figures = flag.String("figures", "", "write the table of figures to this file")
)

func TestMain(m *testing.M) {
	var worker drift.Worker
	child.Main(m, &worker, worker.Run)
}

// Tables are verified and repaired next to a service that writes. The processes are killed, and others continue their
// runs; a node stops while one works, and a last one ends it. Each difference that was planted is found as what it is,
// and nothing else is; what can be repaired is, the rest is reported with its reason, and but for that all tables are
// equal at ALL.
func TestNodeGoneUnderRepair(t *testing.T) {
	cluster.Alone(t)
	x := open(t)
	begin := time.Now()
	x.serve()

	x.kill(x.start(drift.Worker{}), func() bool { return len(x.runs("verify")) == len(drift.Sets) && len(x.ranges("verify")) >= 10 })
	x.continued("verify", func() []drift.Done {
		all := x.end(x.start(drift.Worker{Resumes: true}))
		x.verified(all)
		return all
	})

	hanging := x.start(drift.Worker{Repairs: true, Hangs: 5})
	x.kill(hanging, func() bool {
		_, err := os.Stat(hanging.Hanging())
		return err == nil && len(x.repaired()) >= 5 && len(x.runs("repair")) == len(drift.Sets)
	})
	before, runs := x.repaired(), x.runs("repair")
	x.sheet.before = len(before)
	node := cluster.Nodes(t)[2]
	second := x.start(drift.Worker{Repairs: true, Resumes: true})
	if err := node.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.partly(x.end(second), runs, before)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Whole(t.Context(), cluster.Nodes(t)); err != nil {
		t.Fatal(err)
	}
	last := x.end(x.start(drift.Worker{Repairs: true}))
	x.service.stop()
	x.sheet.served = time.Since(begin)
	x.ended(last)
	x.equal()

	s := &x.sheet
	s.writes, s.resumed, s.lost, s.lasted = x.service.writes.Load(), x.service.resumed.Load(), len(x.service.lost), time.Since(begin)
	t.Logf("%d orders; of %d writes of the service %d were resumed, and %d orders were not acknowledged in the end; in %v",
		s.orders, s.writes, s.resumed, s.lost, s.lasted.Round(time.Second))
	for id, err := range x.service.lost {
		t.Logf("%s: %v", id, err)
	}
	if *figures != "" {
		if err := s.write(*figures); err != nil {
			t.Error(err)
		}
	}
}

// trial is a run of the test.
type trial struct {
	*testing.T
	*suite.Place
	settle  time.Duration
	loaded  int64
	planted int
	want    map[gocql.UUID]drift.Planted
	service *service
	sheet   sheet
}

// open loads and plants.
func open(t *testing.T) *trial {
	t.Helper()
	x := &trial{T: t, settle: 15 * time.Second, planted: 60, want: make(map[gocql.UUID]drift.Planted)}
	x.sheet.orders = 6_000
	if *long {
		x.settle, x.planted, x.sheet.orders = 90*time.Second, 300, 1_000_000
	}
	if *sized != 0 {
		x.sheet.orders = *sized
	}
	if *settle != 0 {
		x.settle = *settle
	}
	x.Place = nodes.Cassandra.Open(t, 3, slices.Concat(orders.Schema.Statements(), drift.SmallSchema.Statements())...)
	for statement := range strings.SplitSeq(strings.TrimSpace(reconcile.StateSchema(x.Keyspace)), ";") {
		if statement != "" {
			x.ChangeSchema(t, x.Keyspace, statement)
		}
	}
	x.loaded = time.Now().Add(-time.Hour).UnixMicro()
	begin := time.Now()
	if err := drift.Load(t.Context(), x.Session.Writes(), x.sheet.orders, x.loaded, drift.Tables...); err != nil {
		t.Fatal(err)
	}
	x.sheet.load = time.Since(begin)
	t.Logf("%d orders in three tables loaded in %v", x.sheet.orders, x.sheet.load.Round(time.Second))
	var err error
	if x.sheet.want, err = drift.Plant(x.Session.Writes(), x.planted, x.loaded, x.loaded+1_000_000); err != nil {
		t.Fatal(err)
	}
	for _, w := range x.sheet.want {
		x.want[w.ID] = w
	}
	x.sheet.settle, x.sheet.found, x.sheet.left = x.settle, make(map[string]int), make(map[string]int)
	return x
}

func (x *trial) serve() {
	x.service = serve(x.T, x.Place, x.sheet.orders, x.planted, x.loaded, x.settle)
}

// process is a worker that works.
type process struct {
	*child.Child
	drift.Worker
}

func (x *trial) start(w drift.Worker) process {
	x.Helper()
	w.Hosts, w.Keyspace, w.Settle, w.Report = cluster.Hosts(x), x.Keyspace, x.settle, filepath.Join(x.TempDir(), "report")
	c, err := child.Start(w)
	if err != nil {
		x.Fatal(err)
	}
	return process{c, w}
}

// kill kills a worker as soon as it has come so far. Its leases are ended, for which another process would otherwise
// wait up to a minute.
func (x *trial) kill(p process, far func() bool) {
	x.Helper()
	for !far() {
		select {
		case <-p.Ended():
			x.Fatalf("it was not killed: %v", p.End())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := p.Kill(); err != nil {
		x.Fatal(err)
	}
	if *long {
		return
	}
	for set := range drift.Sets {
		x.read("DELETE FROM denorm_lease WHERE job = ? IF EXISTS", func(gocql.Scanner) error { return nil }, p.Kind()+" "+x.Keyspace+" "+set)
	}
}

// end waits for a worker, and reads what it has reported.
func (x *trial) end(p process) []drift.Done {
	x.Helper()
	<-p.Ended()
	if err := p.End(); err != nil {
		x.Fatal(err)
	}
	text, err := os.ReadFile(p.Report)
	if err != nil {
		x.Fatal(err)
	}
	var out []drift.Done
	if err := json.Unmarshal(text, &out); err != nil {
		x.Fatal(err)
	}
	for _, d := range out {
		count := make(map[string]int)
		for _, f := range d.Findings {
			count[f.Class.String()+" "+f.Outcome.String()]++
		}
		x.Logf("%s %s: %d rows in %.0f s: %v", p.Kind(), d.Set, d.Rows, d.Seconds, count)
	}
	return out
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// findings are those of the planted entities. Any other is an error.
func (x *trial) findings(all []drift.Done) map[gocql.UUID][]drift.Finding {
	x.Helper()
	out := make(map[gocql.UUID][]drift.Finding)
	for _, d := range all {
		for _, f := range d.Findings {
			planted, slow := false, false
			for _, text := range uuids.FindAllString(f.Key, -1) {
				id, err := gocql.ParseUUID(text)
				if err != nil {
					x.Fatal(err)
				}
				if _, planted = x.want[id]; planted {
					out[id] = append(out[id], f)
					break
				}
				x.service.mu.Lock()
				slow = slow || x.service.slow[id] || x.service.lost[id] != nil
				x.service.mu.Unlock()
			}
			if !planted && !slow {
				x.sheet.false++
				x.Errorf("a false finding: %+v", f)
			}
		}
	}
	return out
}

// found is what was found of an entity.
func found(all []drift.Finding) (out []string) {
	for _, f := range all {
		out = append(out, f.Table+" "+f.Class.String())
	}
	slices.Sort(out)
	return out
}

// verified compares what was found with what was planted.
func (x *trial) verified(all []drift.Done) {
	x.Helper()
	got := x.findings(all)
	for id, w := range x.want {
		if f := found(got[id]); !slices.Equal(f, w.Found) {
			x.Errorf("%s: found %v, want %v", w.Name, f, w.Found)
			continue
		}
		x.sheet.found[w.Name]++
	}
}

// partly looks at a repair that continues a run while a node is away.
func (x *trial) partly(all []drift.Done, runs map[string]gocql.UUID, before map[string]bool) {
	x.Helper()
	x.same(all, runs)
	for id, got := range x.findings(all) {
		w, away := x.want[id], false
		for _, f := range got {
			if f.Outcome == reconcile.Repaired {
				delete(before, f.Table+" "+id.String())
			}
			away = away || f.Outcome == reconcile.Found && strings.Contains(f.Why, "when all replicas of the base row have answered")
			if f.Outcome != reconcile.Repaired && f.Why == "" {
				x.Errorf("%s: %+v: no reason", w.Name, f)
			}
		}
		if away {
			x.sheet.after++
		}
	}
	for row := range before {
		x.Errorf("the report lacks what was repaired before the process was killed: %s", row)
	}
	if x.sheet.after == 0 {
		x.Errorf("nothing was left while a node was away")
	}
}

// ended looks at the last repair.
func (x *trial) ended(all []drift.Done) {
	x.Helper()
	got := x.findings(all)
	for id, w := range x.want {
		for _, f := range got[id] {
			if f.Outcome != w.Outcome || w.Outcome != reconcile.Repaired && f.Why == "" {
				x.Errorf("%s: %+v, want %s", w.Name, f, w.Outcome)
			}
		}
		if w.Outcome == reconcile.Repaired {
			continue
		}
		if f := found(got[id]); !slices.Equal(f, w.Found) {
			x.Errorf("%s: left is %v, want %v", w.Name, f, w.Found)
			continue
		}
		x.sheet.left[w.Name]++
	}
	for _, d := range all {
		x.sheet.rows += d.Rows
	}
}

// equal compares all tables at ALL.
func (x *trial) equal() {
	x.Helper()
	differ, _, err := drift.Differ(x.Context(), x.Session.Reads(), drift.Tables)
	if err != nil {
		x.Fatal(err)
	}
	small, there, err := drift.Differ(x.Context(), x.Session.Reads(), drift.SmallTables...)
	if err != nil {
		x.Fatal(err)
	}
	for id, w := range x.want {
		if left := w.Outcome != reconcile.Repaired; left != (differ[id] || small[id]) {
			x.Errorf("%s: the tables differ: %t", w.Name, !left)
		}
		if w.Set != "order" {
			if there[id] == w.Gone {
				x.Errorf("%s: there is a base row: %t", w.Name, there[id])
			}
		} else if status := x.status(id); status != string(w.Status) {
			x.Errorf("%s: order %q, want %q", w.Name, status, w.Status)
		}
		delete(differ, id)
		delete(small, id)
	}
	for id := range differ {
		if x.service.lost[id] == nil {
			x.Errorf("%s differs, and nothing was planted in it", id)
		}
	}
	for id := range small {
		x.Errorf("%s differs, and was not planted", id)
	}
}

// status is that of an order at ALL, empty if it is not there.
func (x *trial) status(id gocql.UUID) (status string) {
	x.Helper()
	var err error
	for range 20 {
		err = x.Session.Reads().Query("SELECT status FROM orders_by_id WHERE order_id = ?", id).Consistency(gocql.All).Scan(&status)
		if err == nil || errors.Is(err, gocql.ErrNotFound) {
			return status
		}
		<-time.After(time.Second)
	}
	x.Fatal(err)
	return ""
}
