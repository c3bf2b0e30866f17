//go:build faults

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
	on "github.com/denorm-go/denorm/reconcile/temporal"
)

var (
	count  = flag.Int("orders", 20_000, "orders in the tables")
	frozen = flag.Duration("frozen", time.Minute, "how long a worker is stopped")
)

func TestMain(m *testing.M) {
	var args []string
	child.Main(m, &args, func(ctx context.Context) error { return takePart(ctx, args...) })
}

// disturb has a run lose a worker, another one for a while, and the server, and be paused and resumed in both ways.
func (x *shop) disturb(id string, killed, stopped *child.Child) {
	x.Helper()
	x.until(id, 0.05)
	if err := killed.Kill(); err != nil {
		x.Fatal(err)
	}
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		x.Fatal(err)
	}
	time.AfterFunc(*frozen, func() { _ = stopped.Signal(syscall.SIGCONT) })
	<-time.After(5 * time.Second)
	if err := x.server.Kill(); err != nil {
		x.Fatal(err)
	}
	if err := x.server.Restart(context.Background()); err != nil {
		x.Fatal(err)
	}
	p := x.until(id, 0.15)
	if p.State == "done" {
		x.Errorf("%s was over before it was paused: give more orders", id)
		return
	}
	if err := x.client.SignalWorkflow(x.Context(), id, "", "pause", nil); err != nil {
		x.Fatal(err)
	}
	x.rests(id)
	if out, err := x.server.Command(x.Context(), "workflow", "signal", "--workflow-id", id, "--name", "resume"); err != nil {
		x.Fatal(err, out)
	}
	x.until(id, 0.20)
	lost := x.work()
	x.until(id, 0.25)
	if err := lost.Kill(); err != nil { // it cannot give what it has done
		x.Fatal(err)
	}
	if out, err := x.server.Command(x.Context(), "workflow", "signal", "--workflow-id", id, "--name", "pause"); err != nil {
		x.Fatal(err, out)
	}
	x.rests(id)
	if out, err := x.server.Command(x.Context(), "workflow", "query", "--workflow-id", id, "--type", "progress"); err != nil || !strings.Contains(out, "paused") {
		x.Errorf("%v\n%s", err, out)
	}
	if err := x.client.SignalWorkflow(x.Context(), id, "", "resume", nil); err != nil {
		x.Fatal(err)
	}
	if err := x.client.SignalWorkflow(x.Context(), id, "", "rate", 50_000); err != nil {
		x.Fatal(err)
	}
	x.goesAt(id, 50_000)
	if out, err := x.server.Command(x.Context(), "workflow", "signal", "--workflow-id", id, "--name", "rate", "--input", "0"); err != nil {
		x.Fatal(err, out)
	}
	x.goesAt(id, 0)
}

// stop stops a verification that has begun.
func (x *shop) stop() {
	x.Helper()
	run, err := on.Start(x.Context(), x.client, "denorm", on.Run{Kind: on.Verify, Set: "order", Settle: settleFor})
	if err != nil {
		x.Fatal(err)
	}
	x.until(run.GetID(), 0.01)
	if err := x.client.CancelWorkflow(x.Context(), run.GetID(), ""); err != nil {
		x.Fatal(err)
	}
	var canceled *sdk.CanceledError
	var report on.Report
	if err := run.Get(x.Context(), nil); !errors.As(err, &canceled) {
		x.Errorf("a run that was stopped: %v", err)
	} else if err := canceled.Details(&report); err != nil || !errors.Is(report.Err(), reconcile.ErrIncomplete) || report.Tables[0].Rows == 0 {
		x.Errorf("%v, %+v", err, report)
	}
}

// run starts a run by Temporal's own command, disturbs it, and gives its report.
func (x *shop) run(killed, stopped *child.Child, run on.Run) (report on.Report) {
	x.Helper()
	begin := time.Now()
	run.Settle, run.PageSize = settleFor, 200
	input, err := json.Marshal(run)
	if err != nil {
		x.Fatal(err)
	}
	id := "denorm-" + run.Kind + "-order"
	if out, err := x.server.Command(x.Context(), "workflow", "start", "--type", "denorm.reconcile", "--task-queue", "denorm",
		"--workflow-id", id, "--input", string(input)); err != nil {
		x.Fatal(err, out)
	}
	if run.Kind == on.Verify {
		if _, err := on.Start(x.Context(), x.client, "denorm", on.Run{Kind: on.Verify, Set: "order"}); !errors.Is(err, reconcile.ErrRunning) {
			x.Errorf("a second run: %v", err)
		}
	}
	x.disturb(id, killed, stopped)
	if err := x.client.GetWorkflow(x.Context(), id, "").Get(x.Context(), &report); err != nil {
		x.Fatal(err)
	}
	x.Logf("%s in %v\n%v", run.Kind, time.Since(begin).Round(time.Second), report)
	if p := x.progress(id); p.State != "done" || p.Done != 1 {
		x.Errorf("%+v", p)
	}
	x.history(id)
	return report
}

// history reads all executions of a run: they are short, show progress, and no payload has anything of a row.
func (x *shop) history(id string) {
	x.Helper()
	secrets := x.secrets()
	counted, executions := 0, 0
	for run := x.firstRun(id); run != ""; executions++ {
		iter := x.client.GetWorkflowHistory(x.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		next, events, bytes := "", 0, 0
		for iter.HasNext() {
			e, err := iter.Next()
			if err != nil {
				x.Fatal(err)
			}
			events++
			bytes += len(e.String())
			text := e.String()
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					x.Fatalf("%s is in the history: %s", secret, text)
				}
			}
			if a := e.GetActivityTaskCompletedEventAttributes(); a != nil && strings.Contains(string(a.GetResult().GetPayloads()[0].GetData()), `"rows":`) {
				counted++
			}
			next = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
		x.Logf("execution %d of %s: %d events, %d bytes as text", executions+1, id, events, bytes)
		if events > 10_240 || bytes > 10<<20 {
			x.Errorf("the history of %s has %d events, %d bytes", id, events, bytes)
		}
		run = next
	}
	if counted == 0 {
		x.Error("no activity of the history says what it has counted")
	}
}

// Three workers fill a table and compare all tables, while one of them is killed, one stopped for a minute, and the
// server started again. The new table then is equal to the others at ALL, and what is counted is what the embedded
// verification counts. Either part can be run alone, as a million orders take each an hour or two.
func TestThreeWorkers(t *testing.T) {
	cluster.Alone(t)
	x := open(t, "orders_by_id", "orders_by_status")
	filled := false
	t.Run("backfill", func(t *testing.T) { filled = true; x.in(t).fills() })
	t.Run("verify", func(t *testing.T) {
		if !filled {
			if err := drift.Load(t.Context(), x.Session.Writes(), *count, x.at, "orders_by_user"); err != nil {
				t.Fatal(err)
			}
		}
		x.in(t).verifies()
	})
}

// fills has three workers fill a table.
func (x *shop) fills() {
	x.Helper()
	first, second := x.work(), x.work()
	x.work()
	filled := x.run(first, second, on.Run{
		Kind: on.Backfill, Set: "order", Table: "orders_by_user", Writers: time.Now().Add(-time.Minute).UTC(),
	})
	if filled.Put < int64(*count) || filled.Err() != nil || filled.Tables[0].Rows != int64(*count) || filled.Tables[1].Rows != int64(*count) {
		x.Errorf("%+v", filled)
	}
	base := x.all("orders_by_id")
	for _, table := range drift.Tables {
		if got := x.all(table); len(got) != *count || !maps.Equal(got, base) {
			x.Errorf("%s is not equal to the base table: %d rows", table, len(got))
		}
	}
}

// verifies plants differences, and has three workers find them.
func (x *shop) verifies() {
	x.Helper()
	for i := range 30 {
		o := drift.Order(i*(*count/30), x.at)
		statement, key := "DELETE FROM orders_by_user USING TIMESTAMP ? WHERE user_id = ? AND order_id = ?", []any{o.UserID, o.OrderID}
		switch i % 3 {
		case 1:
			statement, key = "DELETE FROM orders_by_id USING TIMESTAMP ? WHERE order_id = ?", []any{o.OrderID}
		case 2:
			statement, key = "DELETE total FROM orders_by_status USING TIMESTAMP ? WHERE status = ? AND order_id = ?", []any{string(o.Status), o.OrderID}
		}
		if err := x.Session.Writes().Query(statement, append([]any{x.at + 1}, key...)...).Idempotent(true).Exec(); err != nil {
			x.Fatal(err)
		}
	}
	killed, second := x.work(), x.work()
	x.work()
	x.stop()
	verified := x.run(killed, second, on.Run{Kind: on.Verify, Set: "order"})
	r, err := reconcile.New(x.Session, reconcile.Settle(settleFor))
	if err != nil {
		x.Fatal(err)
	}
	begin := time.Now()
	want, err := r.Verify(x.Context(), orders.Orders)
	if !errors.Is(err, reconcile.ErrDrift) {
		x.Fatal(err)
	}
	x.Logf("embedded in %v\n%v", time.Since(begin).Round(time.Second), want)
	if !errors.Is(verified.Err(), reconcile.ErrDrift) {
		x.Error(verified.Err())
	}
	for i, table := range want.Tables {
		found := make(map[string]int64)
		for class, n := range table.Found {
			if n > 0 {
				found[class.String()] = int64(n)
			}
		}
		got := verified.Tables[i]
		if got.Table != table.Table || got.Rows != int64(table.Rows) || !maps.Equal(got.Found, found) {
			x.Errorf("%+v, want %+v", got, table)
		}
	}
}
