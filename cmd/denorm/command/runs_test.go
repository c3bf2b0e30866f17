package command

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/reconcile"
)

// command runs a command that needs no sets, as the standalone one has none.
func (x *shopOfOrders) command(args ...string) (out, errs string, code int) {
	x.t.Helper()
	return x.runOn(x.t.Context(), io.Discard, append(args, "--hosts", x.host, "--state", "shop")...)
}

// wantCommand runs such a command, which has to work, and compares its output with a golden file.
func (x *shopOfOrders) wantCommand(step string, args ...string) {
	x.t.Helper()
	out, errs, code := x.command(args...)
	if code != ExitFine || errs != "" {
		x.t.Errorf("%s: exit code %d: %s", step, code, errs)
	}
	golden.Check(x.t, "runs/"+step, same(out))
}

// stored are the runs that are stored, by JSON.
func (x *shopOfOrders) stored() []runJSON {
	x.t.Helper()
	out, errs, code := x.command("runs", "--format", "json")
	var listed struct{ Runs []runJSON }
	if err := json.Unmarshal([]byte(out), &listed); err != nil || code != ExitFine || errs != "" {
		x.t.Fatalf("runs: %v, exit code %d: %s\n%s", err, code, errs, out)
	}
	return listed.Runs
}

// requests counts what is sent to the tables of orders for some time.
func (x *shopOfOrders) requests(d time.Duration) int {
	of := cassandratest.Table("orders_by_id", "orders_by_user", "orders_by_status")
	before := len(x.cluster.Journal(cassandratest.Execute, of))
	<-time.After(d)
	return len(x.cluster.Journal(cassandratest.Execute, of)) - before
}

var (
	runID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moment  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	way     = regexp.MustCompile(`running|paused|stopping|incomplete`)
	columns = regexp.MustCompile(`\d+\.\d %  \d+ +\d+ `)
	numbers = regexp.MustCompile(`"(done|rows|findings)": \d+`)
)

// same replaces what is different in each run: how far it has come, unless it is done.
func same(out string) string {
	out = moment.ReplaceAllString(runID.ReplaceAllString(without(out), "00000000-0000-1000-8000-000000000000"), "2000-01-01T00:00:00Z")
	if !way.MatchString(out) {
		return out
	}
	out = columns.ReplaceAllString(regexp.MustCompile(`  +`).ReplaceAllString(out, "  "), "12.3 %  10  0 ")
	return numbers.ReplaceAllString(out, `"$1": 10`)
}

// ending is what a command that runs meanwhile has printed, and its exit code.
type ending struct {
	out, errs string
	code      int
}

// begin begins a stored run, and goes on when it has read something.
func (x *shopOfOrders) begin(args ...string) <-chan ending {
	ended := make(chan ending, 1)
	go func() {
		var e ending
		e.out, e.errs, e.code = x.run(append(args, "--state", "shop")...)
		ended <- e
	}()
	<-time.After(20 * time.Second)
	return ended
}

// A run is listed, paused, resumed, slowed down and stopped by commands of other processes while it runs, and continued
// by one of its own.
func TestSteeredByCommand(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.cluster.Create(reconcile.StateSchema("shop"))
		want := x.wantCommand
		want("none.text", "runs")
		want("none.json", "runs", "--format", "json")
		x.missing()
		ended := x.begin("verify", "order", "--rate", "10", "--method", "lookup")
		want("running.text", "runs")
		run := x.stored()[0].Run

		want("pause.text", "pause", run)
		<-time.After(20 * time.Second)
		want("paused.text", "runs")
		if n := x.requests(2 * time.Minute); n > 0 {
			t.Errorf("paused, it sends %d requests", n)
		}
		want("resume.text", "resume", run)
		<-time.After(10 * time.Second)
		if n := x.requests(10 * time.Second); n < 90 || n > 110 {
			t.Errorf("resumed, it sends %d requests in ten seconds, want 100", n)
		}
		want("rate.text", "rate", run, "2")
		<-time.After(10 * time.Second)
		if n := x.requests(10 * time.Second); n < 18 || n > 22 {
			t.Errorf("slowed down, it sends %d requests in ten seconds, want 20", n)
		}
		want("pause.json", "pause", run, "--format", "json")
		want("stop.text", "stop", run)
		want("stopping.text", "runs")
		if e := <-ended; e.code != ExitError || !strings.Contains(e.errs, "option Resume (--resume) continues it") || !strings.Contains(e.out, "\nrun "+run+"\n") {
			t.Errorf("stopped: exit code %d: %s\n%s", e.code, e.errs, e.out)
		}
		want("incomplete.text", "runs")
		for _, order := range []string{"pause " + run, "resume " + run, "stop " + run, "rate " + run + " 7"} {
			if out, errs, code := x.command(strings.Fields(order)...); code != ExitError || out != "" || !strings.Contains(errs, "has ended, and is incomplete") {
				t.Errorf("%s, of a run that has ended: exit code %d: %s\n%s", order, code, errs, out)
			}
		}
		out, errs, code := x.run("verify", "order", "--method", "lookup", "--state", "shop", "--resume", run, "--rate", "1000", "--format", "json")
		var report struct {
			Run      string
			Findings []struct{}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != ExitFound || report.Run != run || len(report.Findings) != 1 {
			t.Errorf("continued: %v, exit code %d: %s\n%s", err, code, errs, out)
		}
		if _, errs, code := x.run("verify", "order"); code != ExitFound { // it stores nothing
			t.Errorf("exit code %d: %s", code, errs)
		}
		want("done.text", "runs")
		want("done.json", "runs", "--format", "json")
	})
}

// A run whose process has died is listed as such, and orders to it say how it is continued.
func TestRunThatDied(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.cluster.Create(reconcile.StateSchema("shop"))
		ended := x.begin("repair", "order", "--rate", "10", "--consistency", "quorum")
		run := x.stored()[0].Run
		if _, _, code := x.command("stop", run); code != ExitFine {
			t.Fatal(code)
		}
		<-ended
		if err := x.session.Query("UPDATE denorm_run SET state = 'running' WHERE job = 'repair shop order' AND run = ?", run).Exec(); err != nil {
			t.Fatal(err)
		}
		if got := x.stored()[0]; got.State != "interrupted" || got.Keyspaces[0] != "shop" || got.Kind != "repair" {
			t.Errorf("%+v", got)
		}
		for _, order := range []string{"pause", "resume", "stop"} {
			_, errs, code := x.command(order, run)
			if code != ExitError || !strings.HasSuffix(errs, "with --state shop --resume "+run) {
				t.Errorf("%s: exit code %d: %s", order, code, errs)
			}
		}
		if err := x.session.Query("UPDATE denorm_run SET kind = 'watch' WHERE job = 'repair shop order' AND run = ?", run).Exec(); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := x.command("stop", run); code != ExitError || !strings.Contains(errs, "another process that watches the set continues the run by itself") {
			t.Errorf("stop of a watching service: exit code %d: %s", code, errs)
		}
		out, errs, code := x.command("rate", run, "0")
		if code != ExitFine || !strings.HasSuffix(out, "sends requests without a bound of their rate once it is continued: its process has died\n") {
			t.Errorf("rate: exit code %d: %s\n%s", code, errs, out)
		}
	})
}

// A backfill is stored as one run, and its verification as another; the report has the first, which --resume continues.
func TestStoredBackfill(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.cluster.Create(reconcile.StateSchema("shop"))
		fill := []string{"backfill", "order", "orders_by_user", "--writers", time.Now().Add(-time.Hour).Format(time.RFC3339), "--state", "shop"}
		for range 2 {
			out, errs, code := x.run(fill...)
			if code != ExitFine {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			runs := x.stored()
			filled := runs[len(runs)-1]
			if filled.Kind != "backfill" || filled.Done != filled.Ranges || !strings.Contains(out, "run "+filled.Run) {
				t.Errorf("%+v\n%s", runs, out)
			}
			fill = append(fill, "--resume", filled.Run)
		}
		if runs := x.stored(); len(runs) != 3 || runs[0].Kind != "verify" || runs[1].Kind != "verify" {
			t.Errorf("%+v", runs)
		}
	})
}

func TestSteeringErrors(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.cluster.Create("CREATE KEYSPACE empty WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", reconcile.StateSchema("shop"))
		id := gocql.TimeUUID().String()
		at := " --state shop --hosts " + x.host
		for args, says := range map[string]string{
			"runs":                                 "name the keyspace in which runs are stored with --state",
			"runs --state shop":                    "name nodes of the cluster with --hosts",
			"runs --state= --hosts " + x.host:      "--state is empty",
			"runs all" + at:                        `runs has no arguments: leave out "all"`,
			"runs --format xml" + at:               `unknown --format "xml": text or json`,
			"runs --state empty --hosts " + x.host: "create its tables with StateSchema",
			"runs --state nowhr --hosts " + x.host: "state in keyspace nowhr",
			"runs --username shop" + at:            "--username without TLS",
			"runs --local-dc dc9" + at:             "dc9",
			"pause" + at:                           "give RUN; denorm runs lists the runs",
			"rate " + id + at:                      "give RUN REQUESTS; denorm runs lists the runs",
			"rate " + id + " fast" + at:            `"fast" is not a number of requests a second: give one of at most 2147483647, or 0 for no bound`,
			"rate " + id + " 3000000000" + at:      `"3000000000" is not a number of requests a second`,
			"stop " + gocql.UUID{}.String() + at:   `"00000000-0000-0000-0000-000000000000" is not the id of a run: denorm runs lists them`,
			"rate " + id + at + " -- -1":           `"-1" is not a number of requests a second`,
			"stop order" + at:                      `"order" is not the id of a run: denorm runs lists them`,
			"pause " + id + at:                     "no run " + id + " is stored in keyspace shop",
			"resume " + id + at:                    "no run " + id + " is stored in keyspace shop",
			"stop " + id + at + " --format json":   "no run " + id + " is stored in keyspace shop",
			"rate " + id + " 5" + at:               "no run " + id + " is stored in keyspace shop",
			"verify order" + at + " --keyspace shop --settle 8s --resume " + gocql.UUID{}.String(): "is not the id of a run: denorm runs lists them",
			"verify order" + at + " --keyspace shop --settle 8s --resume " + id:                    "no run " + id + " to verify set order",
			"verify order --state empty --keyspace shop --settle 8s --hosts " + x.host:             "create its tables with StateSchema",
		} {
			out, errs, code := x.runOn(t.Context(), io.Discard, strings.Fields(args)...)
			if code != ExitError || !strings.Contains(errs, says) || out != "" {
				t.Errorf("denorm %s: exit code %d: %s\nwant %s\n%s", args, code, errs, says, out)
			}
		}
	})
}

// The standalone command has no sets, and steers runs all the same.
func TestSteeringWithoutSets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"runs", "pause", "resume", "rate", "stop"} {
		c, _, err := New().Find([]string{name})
		if err != nil || c.Name() != name || c.Hidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := New(Declared(orders.Schema)).Find([]string{"runs"}); err != nil {
		t.Error(err)
	}
}

// A run that cannot store a finding has ended early: that is said, and no exit code of differences alone.
func TestRunWhoseStateIsNotStored(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.cluster.Create(reconcile.StateSchema("shop"))
		x.missing()
		c.When(cassandratest.Text("INSERT INTO shop.denorm_finding")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		out, errs, code := x.run("verify", "order", "--state", "shop")
		if code != ExitError || !strings.Contains(errs, "state in keyspace shop") || !strings.Contains(out, "missing 1") {
			t.Errorf("exit code %d: %s\n%s", code, errs, out)
		}
	})
}
