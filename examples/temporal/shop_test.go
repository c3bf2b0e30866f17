//go:build faults

package main

import (
	"fmt"
	"hash/maphash"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.temporal.io/sdk/client"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/temporal"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	on "github.com/denorm-go/denorm/reconcile/temporal"
)

// settleFor is longer than a write takes: nobody writes.
const settleFor = 10 * time.Second

// shop is a cluster with orders, a Temporal, and workers.
type shop struct {
	*testing.T
	*suite.Place
	server *temporal.Server
	client client.Client
	at     int64
}

func open(t *testing.T, tables ...string) *shop {
	t.Helper()
	x := &shop{T: t, server: temporal.Serve(t, t.TempDir()+"/temporal.db"), at: time.Now().Add(-time.Hour).UnixMicro()}
	x.Place = nodes.Cassandra.Open(t, 3, orders.Schema.Statements()...)
	begin := time.Now()
	if err := drift.Load(t.Context(), x.Session.Writes(), *count, x.at, tables...); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d orders loaded in %v", *count, time.Since(begin).Round(time.Second))
	var err error
	if x.client, err = client.Dial(client.Options{HostPort: x.server.Address, Logger: silent{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.client.Close)
	return x
}

// silent is no logger.
type silent struct{}

func (silent) Debug(string, ...any) {}

func (silent) Info(string, ...any) {}

func (silent) Warn(string, ...any) {}

func (silent) Error(string, ...any) {}

// work starts a worker.
func (x *shop) work() *child.Child {
	x.Helper()
	w, err := child.Start([]string{"--hosts", strings.Join(cluster.Hosts(x), ","), "--keyspace", x.Keyspace, "--temporal", x.server.Address})
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		_ = w.Signal(syscall.SIGCONT)
		_ = w.Kill() // or it has ended
	})
	return w
}

// progress is what Temporal's own command says of a run; it is patient, as workers and the server may be away.
func (x *shop) progress(id string) (p on.Progress) {
	x.Helper()
	var err error
	for range 60 {
		value, e := x.client.QueryWorkflow(x.Context(), id, "", "progress")
		if err = e; err == nil {
			if err = value.Get(&p); err == nil {
				return p
			}
		}
		<-time.After(time.Second)
	}
	x.Fatal(err)
	return p
}

// until waits until so much is done.
func (x *shop) until(id string, done float64) on.Progress {
	x.Helper()
	for {
		p := x.progress(id)
		if p.Done >= done || p.State == "done" {
			x.Logf("%s: %.1f %%, %d rows, %d put, %d units", id, 100*p.Done, p.Rows, p.Put, p.Units)
			return p
		}
		<-time.After(time.Second)
	}
}

// rests sees that a run is paused, and does nothing for a while.
func (x *shop) rests(id string) {
	x.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(time.Second) {
		if p := x.progress(id); p.State == "paused" && p.Running == 0 {
			break
		}
		if time.Now().After(deadline) {
			x.Fatalf("not paused: %+v", x.progress(id))
		}
	}
	before := x.progress(id)
	<-time.After(10 * time.Second)
	if after := x.progress(id); after != before {
		x.Errorf("a paused run has gone on: %+v, then %+v", before, after)
	}
}

// goesAt waits until a run has a rate.
func (x *shop) goesAt(id string, rate int) {
	x.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Second) {
		p := x.progress(id)
		if p.Rate == rate && p.State == "running" {
			return
		}
		if time.Now().After(deadline) {
			x.Fatalf("the rate is not %d: %+v", rate, p)
		}
	}
}

// firstRun is the first execution of a run.
func (x *shop) firstRun(id string) string {
	x.Helper()
	d, err := x.client.DescribeWorkflowExecution(x.Context(), id, "")
	if err != nil {
		x.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetFirstRunId()
}

// secrets are texts of rows and keys, in the ways in which they may be written: of some orders, as all would take too
// long.
func (x *shop) secrets() (out []string) {
	for i := 0; i < *count; i += max(1, *count/50) {
		o := drift.Order(i, x.at)
		out = append(out, o.OrderID.String(), o.UserID.String(), string(o.OrderID[:]), fmt.Sprintf("%x", o.OrderID[:]), fmt.Sprintf("%x", o.UserID[:]))
	}
	return out
}

var seed = maphash.MakeSeed()

// all reads a table at ALL.
func (x *shop) all(table string) map[gocql.UUID]uint64 {
	x.Helper()
	out := make(map[gocql.UUID]uint64, *count)
	iter := x.Session.Reads().Query("SELECT order_id, user_id, status, total, updated_at FROM " + table).Consistency(gocql.All).PageSize(2000).Iter()
	var o orders.Order
	for iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt) {
		if _, twice := out[o.OrderID]; twice {
			x.Errorf("%s has two rows of one order", table)
		}
		out[o.OrderID] = maphash.String(seed, fmt.Sprint(o))
	}
	if err := iter.Close(); err != nil {
		x.Fatal(err)
	}
	return out
}

// in is the shop in a part of the test.
func (x *shop) in(t *testing.T) *shop {
	t.Helper()
	part := *x
	part.T = t
	return &part
}
