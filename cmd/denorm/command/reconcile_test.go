package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// A run reads at the level that it is told, EACH_QUORUM too.
func TestVerifyAtEachQuorum(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.want("agree.text", ExitFine, "verify", "order", "--consistency", "each_quorum")
		if reads := c.Journal(cassandratest.Table("orders_by_status"), cassandratest.Where(func(r cassandratest.Request) bool {
			return r.Consistency == gocql.EachQuorum
		})); len(reads) == 0 {
			t.Error("nothing was read at EACH_QUORUM")
		}
	})
}

// Tables that agree, drift that is found, a repair without the file of removed rows and one with it: the output, exit
// codes, and what is in the tables afterwards.
func TestVerifyAndRepair(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		want := x.want
		want("agree.text", ExitFine, "verify", "order")
		want("agree.json", ExitFine, "verify", "order", "--format", "json")
		x.missing()
		x.ghost()
		want("drift.text", ExitFound, "verify", "order")
		var report struct{ Findings []struct{ Key string } }
		if err := json.Unmarshal([]byte(want("drift.json", ExitFound, "verify", "order", "--format", "json")), &report); err != nil || len(report.Findings) != 2 {
			t.Errorf("%v, %d findings", err, len(report.Findings))
		}
		for format, ids := range map[string]int{"text": 3, "json": 5} { // json has those of the base rows, too
			if out, _, _ := x.run("verify", "order", "--keys", "--format", format); len(uuid.FindAllString(out, -1)) != ids {
				t.Errorf("--keys, %s: want both keys, with %d UUIDs:\n%s", format, ids, out)
			}
		}
		want("one_table.text", ExitFound, "verify", "order", "--tables", "orders_by_user", "--rate", "100000", "--target", "1s")
		want("dry_run.text", ExitFound, "repair", "order", "--dry-run")
		want("not_removed.text", ExitFound, "repair", "order")
		want("left.text", ExitFound, "verify", "order")

		file := filepath.Join(t.TempDir(), "removed.jsonl")
		want("repaired.text", ExitFine, "repair", "order", "--removed", file)
		rows, err := os.ReadFile(file)
		var removed struct {
			Class, Table string
			Values       map[string]string
		}
		if err != nil || json.Unmarshal(rows, &removed) != nil || bytes.Count(rows, []byte("\n")) != 1 || removed.Class != "ghost" ||
			removed.Table != "shop.orders_by_status" || removed.Values["status"] != "'open'" {
			t.Errorf("%v, %s", err, rows)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, mode %v", err, info.Mode())
		}
		want("agree_again.text", ExitFine, "verify", "order")
		if _, errs, code := x.run("repair", "order", "--removed", file); code != ExitError || !strings.Contains(errs, "name a new file") {
			t.Errorf("a file with rows is used again: exit code %d, %s", code, errs)
		}
		unused := filepath.Join(t.TempDir(), "none.jsonl")
		want("", ExitFine, "repair", "order", "--removed", unused)
		if _, err := os.Stat(unused); !os.IsNotExist(err) {
			t.Errorf("a file without rows is left: %v", err)
		}
	})
}

// Why repairs failed is told once, with the findings.
func TestRepairFails(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		x.missing()
		c.When(cassandratest.Text("INSERT INTO shop.orders_by_user")).
			Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		for _, args := range [][]string{{"repair", "order"}, {"repair", "order", "--keys"}} {
			out, errs, code := x.run(args...)
			if code != ExitFound || strings.Count(out, "UNAUTHORIZED") != 1 || !strings.Contains(out, ": failed: put shop.orders_by_user: UNAUTHORIZED") {
				t.Errorf("%q: exit code %d:\n%s%s", args, code, out, errs)
			}
		}
	})
}

// A write by a clock that was ahead is left until somebody decides about it.
func TestRepairAhead(t *testing.T) {
	t.Parallel()
	startSignals()
	for _, decision := range []string{"keep", "remove"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				x := newShopOfOrders(t, c)
				var o orders.Order
				for range 2 {
					o = orders.New(gocql.MustRandomUUID(), nil)
					x.put(o, "orders_by_id", "orders_by_user", "orders_by_status")
				}
				o.Status, o.UpdatedAt = orders.Paid, 3*time.Hour.Microseconds()
				x.put(o, "orders_by_user")
				want := func(step string, code int, args ...string) {
					t.Helper()
					out, _, got := x.run(args...) // there are three looks, and a line of progress
					if golden.Check(t, "reconcile/"+step, without(out)); got != code {
						t.Errorf("%s: exit code %d, want %d", step, got, code)
					}
				}
				want("ahead.text", ExitFound, "repair", "order")
				want("ahead_"+decision+".text", ExitFine, "repair", "order", "--ahead", decision, "--removed", filepath.Join(t.TempDir(), "removed.jsonl"))
				want("agree_again.text", ExitFine, "verify", "order")
			})
		})
	}
}

// A table is filled, filled again, and has a row that filling it does not remove. A run that waits for --settle can be
// interrupted.
func TestBackfill(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		if err := x.session.Query("TRUNCATE orders_by_user").Exec(); err != nil {
			t.Fatal(err)
		}
		fill := []string{"backfill", "order", "orders_by_user", "--writers", time.Now().Add(-time.Minute).Format(time.RFC3339)}
		want := func(step string, code int, more ...string) { x.want(step, code, append(fill, more...)...) }
		want("backfill.text", ExitFine)
		want("backfill_again.json", ExitFine, "--format", "json")
		o := orders.New(gocql.MustRandomUUID(), nil)
		x.put(o, "orders_by_user")
		o.UserID, o.UpdatedAt = gocql.MustRandomUUID(), time.Minute.Microseconds()
		x.put(o, "orders_by_id", "orders_by_status")
		want("backfill_drift.text", ExitFound)
		want("backfill_drift.json", ExitFound, "--format", "json")
		x.put(o, "orders_by_user") // and a process without the table moves it after --writers
		o.UserID, o.UpdatedAt = gocql.MustRandomUUID(), (59 * time.Minute).Microseconds()
		x.put(o, "orders_by_id", "orders_by_status")
		want("backfill_late.text", ExitFound)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		args := []string{"backfill", "order", "orders_by_user", "--writers", time.Now().Format(time.RFC3339), "--settle", "1h"}
		out, errs, code := x.runOn(ctx, io.Discard, append(args, "--hosts", x.host, "--keyspace", "shop")...)
		if code != ExitError || !strings.Contains(out, "rows put into orders_by_user: 0\n") || strings.Contains(out, "in -") ||
			!strings.Contains(errs, "interrupted: ") {
			t.Errorf("interrupted while it waits: exit code %d: %s\n%s", code, errs, out)
		}
	})
}

func TestReconcileErrors(t *testing.T) {
	t.Parallel()
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	if err := x.session.Query("DROP TABLE orders_by_user").Exec(); err != nil {
		t.Fatal(err)
	}
	at := " --hosts " + x.host + " --keyspace shop"
	fill := "backfill order orders_by_user" + at
	past, future := time.Now().Add(-time.Hour).Format(time.RFC3339), time.Now().Add(time.Hour).Format(time.RFC3339)
	for args, says := range map[string]string{
		"verify":                                              "name one set: order",
		"verify order user":                                   "name one set: order",
		"verify user" + at:                                    `no set is named "user": the declared ones are order`,
		"verify order":                                        "name nodes of the cluster with --hosts",
		"verify order --hosts " + x.host:                      "table orders_by_status names no keyspace: say which with --keyspace",
		"verify order --hosts=":                               "--hosts is empty",
		"verify order" + at + " --settle 0s":                  "--settle 0s is not positive",
		"verify order" + at + " --rate -1":                    "--rate -1 is not positive",
		"verify order" + at + " --rate 3000000000":            "--rate 3000000000 is more than 2147483647",
		"verify order" + at + " --target -1s":                 "--target -1s is not positive",
		"repair order" + at + " --max-removals 0":             "--max-removals 0 is not positive",
		"repair order" + at + " --removed=":                   "--removed is empty",
		"repair order" + at + " --dry-run --removed x":        "leave out one of them",
		"repair order" + at + " --removed /nowhere/x":         "--removed: open /nowhere/x",
		"verify order" + at + " --removed x":                  "unknown flag: --removed",
		"verify order" + at + " --format xml":                 `unknown --format "xml": text or json`,
		"verify order" + at + " --map orders=shop":            `--map: no table is declared in keyspace "orders"`,
		"verify order" + at + " --map =shop":                  "--keyspace is for tables that name none",
		"verify order" + at + " --map shop":                   "shop must be formatted as key=value",
		"verify order" + at + " --tables orders_by_day":       "set order has no table orders_by_day",
		"verify order" + at + " --tables orders_by_id":        "orders_by_id is the base table alone",
		"verify order" + at:                                   "the cluster has no table shop.orders_by_user",
		"verify order" + at + " --username shop":              "--username without TLS",
		"verify order" + at + " --local-dc dc9":               "dc9",
		"backfill":                                            "name one set, and its new table; the sets are: order",
		"backfill order" + at:                                 "name one set, and its new table; the sets are: order",
		"backfill user orders_by_day":                         `no set is named "user": the declared ones are order`,
		"backfill order orders_by_user":                       "name nodes of the cluster with --hosts",
		fill:                                                  "say with --writers TIME when the last of the processes that do not write orders_by_user had ended",
		fill + " --writers=":                                  "--writers is empty",
		fill + " --writers yesterday":                         `--writers "yesterday" is not a time: write it as 2006-01-02T15:04:05Z`,
		fill + " --writers " + future:                         "--writers " + future + " is in the future: processes that do not write orders_by_user may still write",
		fill + " --writers " + past:                           "the cluster has no table shop.orders_by_user",
		fill + " --dry-run":                                   "unknown flag: --dry-run",
		"adopt order" + at:                                    "say with --writers TIME when the last of the processes that write without the library had ended",
		"adopt order" + at + " --writers " + future:           "is in the future: processes that write without the library may still write",
		"adopt order orders_by_user" + at:                     "name one set: order",
		"adopt order" + at + " --tables orders_by_user":       "unknown flag: --tables",
		"adopt order" + at + " --writers " + past:             "the cluster has no table shop.orders_by_user",
		fill + " --tables orders_by_user":                     "unknown flag: --tables",
		"backfill order orders_by_day --writers " + past + at: "set order has no table orders_by_day",
		"backfill order orders_by_id --writers " + past + at:  "orders_by_id is the base table alone",
		"verify order --writers " + past:                      "unknown flag: --writers",
		"verify order" + at + " --resume x":                   "--resume needs --state",
		"verify order" + at + " --state=":                     "--state is empty",
		"verify order" + at + " --state shop --resume x":      `"x" is not the id of a run: denorm runs lists them`,
		"verify order" + at + " --method hash":                `unknown --method "hash": digest or lookup`,
		"verify order" + at + " --method lookup --spool /tmp": "--spool is for --method digest",
		"verify order" + at + " --spool /nowhere":             "Spool: /nowhere is not a folder",
		"repair order" + at + " --method lookup --spool /tmp": "--spool is for --method digest",
		"repair order" + at + " --spool /nowhere":             "Spool: /nowhere is not a folder",
		"repair order" + at + " --ahead maybe":                "unknown --ahead \"maybe\": keep or remove",
		"verify order" + at + " --consistency any":            "--consistency any is not a level: give one of [ONE TWO THREE QUORUM ALL LOCAL_QUORUM EACH_QUORUM LOCAL_ONE]",
		"verify order --hosts 127.0.0.1:1 --keyspace s":       "connect to [127.0.0.1:1]",
		"verify order --keyspace nothing --hosts " + x.host:   "nothing",
	} {
		out, errs, code := x.runOn(t.Context(), io.Discard, strings.Fields(args)...)
		if code != ExitError || !strings.Contains(errs, says) || out != "" {
			t.Errorf("denorm %s: exit code %d: %s\nwant %s\n%s", args, code, errs, says, out)
		}
	}
	root := New()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"verify", "order"})
	if err := root.ExecuteContext(t.Context()); ExitCode(err) != ExitError || !strings.Contains(err.Error(), "this binary declares no sets") {
		t.Errorf("a binary without sets: %v", err)
	}
}

// A set of tables that name their keyspace, for a tenant whose keyspace has another name.
func TestReconcileMaps(t *testing.T) {
	t.Parallel()
	type user struct{ ID, Name string }
	users := tables.Must(tables.New[user]("user",
		tables.Table{Keyspace: "crm", Name: "users", PartKey: []string{"id"}},
		tables.Table{Keyspace: "crm", Name: "users_by_name", PartKey: []string{"name"}, SortKey: []string{"id"}}))
	bills := tables.Must(tables.New[user]("bill", tables.Table{Keyspace: "billing", Name: "bills", PartKey: []string{"id"}}))
	declared := schema.Must(schema.Declare(schema.Sets(users, bills)))
	c := cassandratest.Listen(t, 1)
	c.Create(declared.In(map[string]string{"crm": "acme", "billing": "acme"}).Statements()...)
	host := net.JoinHostPort(c.Config().Hosts[0], strconv.Itoa(c.Config().Port))
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"--map crm=acme":              {ExitFine, "acme.users_by_name"},
		"--map crm=acme --keyspace x": {ExitError, "--keyspace is for tables that name none"},
		"--map crm=acme,billing=acme": {ExitFine, "acme.users_by_name"}, // of another set
		"--map crm=acme,shop=acme":    {ExitError, `no table is declared in keyspace "shop"`},
		"":                            {ExitError, "the cluster has no table crm.users"},
		"--map crm=acme;--keyspace":   {ExitError, "is not a name"},
	} {
		var out bytes.Buffer
		root := New(Declared(declared))
		root.SetOut(&out)
		root.SetErr(io.Discard)
		root.SetArgs(append([]string{"verify", "user", "--hosts", host}, strings.Fields(args)...))
		err := root.ExecuteContext(t.Context())
		if err != nil {
			out.WriteString(err.Error())
		}
		if ExitCode(err) != want.code || !strings.Contains(out.String(), want.says) {
			t.Errorf("%s: exit code %d\n%s", args, ExitCode(err), &out)
		}
	}
}

// Before the migration, a run says which column a table lacks, and the statement that adds it.
func TestRunBeforeMigration(t *testing.T) {
	t.Parallel()
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	if err := x.session.Query("ALTER TABLE orders_by_user DROP updated_at").Exec(); err != nil {
		t.Fatal(err)
	}
	at := " --settle 1ms --keyspace shop --hosts " + x.host
	for _, args := range []string{"verify order", "adopt order --writers 2026-11-26T00:00:00Z"} {
		_, errs, code := x.runOn(t.Context(), io.Discard, strings.Fields(args+at)...)
		if code != ExitError || !strings.Contains(errs, "no column updated_at: ALTER TABLE shop.orders_by_user ADD updated_at bigint (ddl --migrate") {
			t.Errorf("%s: exit code %d: %s", args, code, errs)
		}
	}
}

// signalled sends the process SIGINT when something is written that contains what it waits for.
type signalled struct {
	wait string
	once sync.Once
	text string
}

func (s *signalled) Write(p []byte) (int, error) {
	if s.text += string(p); strings.Contains(s.text, s.wait) {
		s.once.Do(func() {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(os.Interrupt)
			}
		})
	}
	return len(p), nil
}

// A run that is interrupted prints what it has, and does not say that the tables agree.
func TestInterruptedRun(t *testing.T) { //nolint:paralleltest // a signal is for all tests that run
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	x.missing()
	on := []string{"--hosts", x.host, "--keyspace", "shop"}
	for name, c := range map[string]struct{ args, wait string }{
		"while it waits": {"verify order --settle 1h", "100.0 %"},
		"while it reads": {"verify order --rate 50", "%"},
	} {
		progress := &signalled{wait: c.wait}
		out, errs, code := x.runOn(t.Context(), progress, append(strings.Fields(c.args), on...)...)
		if code != ExitError || !strings.Contains(out, "shop.orders_by_id") || !strings.Contains(out, "were not compared") || strings.Contains(out, "agrees") ||
			!strings.Contains(errs, "\rverify order  ") || !strings.Contains(errs, "\r\x1b[Kinterrupted: what was found until then") {
			t.Errorf("%s: exit code %d\n%s\n%q", name, code, out, errs)
		}
		out, errs, code = x.runOn(t.Context(), &signalled{wait: c.wait}, append(strings.Fields(c.args+" --format json"), on...)...)
		var report struct {
			Uncovered int
			Error     string
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != ExitError || report.Uncovered == 0 || report.Error == "" {
			t.Errorf("%s: %v, exit code %d\n%s\n%q", name, err, code, out, errs)
		}
	}
}

// Where nobody watches, a line every 10 s is enough, and one for each wait.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, terminal := range []bool{false, true} {
			var out bytes.Buffer
			line := newProgressLine(&out, func(io.Writer) bool { return terminal }, "verify order")
			for i := range 25 {
				<-time.After(time.Second)
				line.show(reconcile.Progress{Done: float64(i+1) / 50, Rows: 50_000 * (i + 1), Findings: 3, Waiting: 2, InFlight: 24})
			}
			for range 65 {
				<-time.After(time.Second)
				line.show(reconcile.Progress{Done: 1, Rows: 2_500_000, Findings: 3, Waiting: 2, Waits: "until TIME to read 2 rows again"})
			}
			line.end()
			golden.Check(t, fmt.Sprintf("reconcile/progress_%t.text", terminal), strings.ReplaceAll(out.String(), "\r", "\n"))
		}
	})
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1236400: "1,236,400"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
