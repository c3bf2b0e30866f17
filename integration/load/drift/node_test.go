//go:build faults

package drift_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/reconcile"
)

var long = flag.Bool("long", false, "1,000,000 orders and 300 differences")

func TestMain(m *testing.M) {
	var worker drift.Worker
	if is, err := child.Told(&worker); is {
		if err == nil {
			err = worker.Run(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rate is how many writes a second the service makes meanwhile.
const rate = 200

// A repair runs next to a service that writes. Its process is killed, a node stops while the next one works, and a last one ends it: each
// difference that was planted is found, nothing else is, and in the end all tables are equal at ALL, but for the rows that no repair at their
// own time can put back.
func TestNodeGoneUnderRepair(t *testing.T) {
	cluster.Alone(t)
	count, planted, settle := 6_000, 60, 15*time.Second
	if *long {
		count, planted, settle = 1_000_000, 300, 90*time.Second
	}
	p := nodes.Cassandra.Open(t, 3, orders.Schema.Statements()...)
	ctx := t.Context()
	loaded := time.Now().Add(-time.Hour).UnixMicro()
	begin := time.Now()
	if err := drift.Load(ctx, p.Session.Writes(), count, loaded); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d orders in three tables loaded in %v", count, time.Since(begin).Round(time.Second))
	want, err := drift.Plant(p.Session.Writes(), planted, loaded, loaded+1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, p, count, planted, loaded)

	worker := func() (*child.Child, drift.Worker) {
		w := drift.Worker{Hosts: cluster.Hosts(t), Keyspace: p.Keyspace, Settle: settle, Report: filepath.Join(t.TempDir(), "report")}
		c, err := child.Start(w)
		if err != nil {
			t.Fatal(err)
		}
		return c, w
	}
	killed, first := worker()
	for repairing := false; !repairing; {
		select {
		case <-killed.Ended():
			t.Fatalf("nothing was removed: %v", killed.End())
		case <-time.After(10 * time.Millisecond):
			_, err := os.Stat(first.Repairing())
			repairing = err == nil
		}
	}
	if err := killed.Kill(); err != nil {
		t.Fatal(err)
	}
	node := cluster.Nodes(t)[2]
	second, w := worker()
	if err := node.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	<-second.Ended()
	if err := second.End(); err != nil {
		t.Errorf("with a node away: %v", err)
	}
	while := read(t, w.Report)
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Whole(ctx, cluster.Nodes(t)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Second) // hints
	last, w := worker()
	if err := last.End(); err != nil {
		t.Fatal(err)
	}
	after := read(t, w.Report)
	writes, failed := stop()
	t.Logf("meanwhile %d writes of the service, %d not acknowledged; findings with a node away: %s; afterwards: %s", writes, failed, summary(while), summary(after))

	// Nothing but what was planted was found.
	for _, f := range slices.Concat(while, after) {
		if !slices.ContainsFunc(want, func(w drift.Planted) bool { return strings.Contains(f.Key, w.Order.OrderID.String()) }) {
			t.Errorf("a false finding: %+v", f)
		}
	}
	shadowed := 0
	for _, w := range want {
		if w.Outcome == reconcile.Shadowed {
			shadowed++
		}
	}
	for _, f := range after {
		if f.Outcome != reconcile.Repaired && f.Outcome != reconcile.Shadowed {
			t.Errorf("%+v", f)
		}
	}
	differ, all, err := drift.Differ(ctx, p.Session.Reads())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if differ[w.Order.OrderID] != (w.Outcome == reconcile.Shadowed) {
			t.Errorf("%s: differs %t", w.Name, differ[w.Order.OrderID])
		}
		delete(differ, w.Order.OrderID)
		var status string
		err := p.Session.Reads().Query("SELECT status FROM orders_by_id WHERE order_id=?", w.Order.OrderID).Consistency(gocql.All).Scan(&status)
		if w.Status == "" && !errors.Is(err, gocql.ErrNotFound) || w.Status != "" && (err != nil || status != string(w.Status)) {
			t.Errorf("%s: order %q, %v, want %q", w.Name, status, err, w.Status)
		}
	}
	t.Logf("%d orders are in the tables; %d rows are covered by deletes", all, shadowed)
	if failed == 0 && len(differ) > 0 || len(differ) > int(failed) {
		t.Errorf("%d orders differ that nothing was planted in, %d writes were not acknowledged", len(differ), failed)
	}
}

func read(t *testing.T, file string) (out []drift.Done) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func summary(done []drift.Done) string {
	count := make(map[string]int)
	for _, f := range done {
		count[f.Class.String()+" "+f.Outcome.String()]++
	}
	return fmt.Sprint(count)
}

// serve writes as an order service does: new orders, and changes of those that nothing is planted in. The function that it returns ends it,
// resumes what failed, and gives how many writes there were, and how many were not acknowledged in the end.
func serve(t *testing.T, p *suite.Place, count, planted int, loaded int64) (stop func() (writes, failed int64)) {
	t.Helper()
	over := make(chan struct{})
	var writes, failed atomic.Int64
	var group sync.WaitGroup
	const workers = 20
	for n := range workers {
		group.Go(func() {
			w := suite.NewWriter(t, p.Session)
			own := make([]orders.Order, 0, 100)
			tick := time.NewTicker(time.Second * workers / rate)
			defer tick.Stop()
			for i := planted + n; ; i += workers {
				select {
				case <-over:
					return
				case <-tick.C:
				}
				writes.Add(1)
				var before, after orders.Order
				switch {
				case rand.IntN(3) == 0 || i >= count && len(own) == 0:
					after = orders.New(gocql.MustRandomUUID(), inf.NewDec(rand.Int64N(10_000), 2))
				case i < count:
					before = drift.Order(i, loaded)
				default:
					k := rand.IntN(len(own))
					before, own = own[k], slices.Delete(own, k, k+1)
				}
				change := orders.Orders.Insert(after)
				if before.OrderID != (gocql.UUID{}) {
					after = before
					after.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
					change = orders.Orders.Update(before, after)
				}
				res, err := w.Write(context.Background(), "serve", change)
				if err != nil {
					failed.Add(1)
					continue
				}
				if after.UpdatedAt = res.Timestamp; len(own) < cap(own) {
					own = append(own, after)
				}
			}
		})
	}
	return func() (int64, int64) {
		close(over)
		group.Wait()
		return writes.Load(), failed.Load()
	}
}
