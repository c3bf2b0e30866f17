package reconcile_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// early are orders whose base rows are in the first half of a scan.
func (x *world) early(count int) []orders.Order {
	x.t.Helper()
	var out []orders.Order
	for _, o := range x.orders {
		if murmur3.Token(o.OrderID.Bytes()) < 0 && len(out) < count {
			out = append(out, o)
		}
	}
	if len(out) < count {
		x.t.Fatalf("%d orders", len(out))
	}
	return out
}

// differ gives the table orders_by_user an old row of an order.
func (x *world) differ(o orders.Order) {
	x.put("orders_by_id", paid(o), o.UpdatedAt+9)
	x.put("orders_by_status", paid(o), o.UpdatedAt+9)
	x.remove("orders_by_status", o, o.UpdatedAt+9)
}

// A run that is resumed keeps what an earlier process has found, except for rows that it reads again and that agree by
// now.
func TestResumedRunForgetsWhatAgrees(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 40)
		x.Create(reconcile.StateSchema("shop"))
		drifted := x.early(3)
		mended, missing, other := drifted[0], drifted[1], drifted[2]
		x.differ(mended) // found by its base row, and again in orders_by_user
		x.remove("orders_by_user", missing, missing.UpdatedAt)
		x.remove("orders_by_user", other, other.UpdatedAt)
		<-time.After(time.Minute)
		steering := x.storing()
		ended := make(chan error, 1)
		go func() {
			_, err := x.storing(reconcile.Settle(time.Second), reconcile.Rate(5)).Verify(t.Context(), orders.Orders)
			ended <- err
		}()
		var run reconcile.RunInfo
		for run.Findings < 3 {
			<-time.After(time.Second)
			if runs, err := steering.Runs(t.Context()); err == nil && len(runs) > 0 {
				run = runs[0]
			}
		}
		if err := steering.Stop(t.Context(), run.Run); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, reconcile.ErrStopped) {
			t.Fatal(err)
		}
		x.put("orders_by_user", paid(mended), mended.UpdatedAt+9)
		x.put("orders_by_user", other, other.UpdatedAt+1) // not read again
		x.put("orders_by_id", other, other.UpdatedAt+1)   // so that a delete does not cover it
		x.put("orders_by_status", other, other.UpdatedAt+1)
		x.put("orders_by_status", paid(other), other.UpdatedAt) // a ghost, for which the entity is looked at
		report, err := x.storing(reconcile.Rate(1000)).Verify(t.Context(), orders.Orders, reconcile.Resume(run.Run))
		found := slices.Collect(report.Findings())
		if !errors.Is(err, reconcile.ErrDrift) || len(found) != 2 || !strings.Contains(found[0].Key(), missing.OrderID.String()) || found[1].Class != reconcile.Ghost ||
			report.Tables[1].Found[reconcile.Differing] != 0 || report.Tables[1].Found[reconcile.Missing] != 1 {
			t.Errorf("%v\n%v%v", err, report, found)
		}
		if n := x.count("SELECT entity FROM denorm_finding"); n != 2 {
			t.Errorf("%d findings are stored", n)
		}
	})
}

// A digest reads everything again.
func TestResumedDigestForgetsWhatAgrees(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		o := x.orders[0]
		x.differ(o)
		<-time.After(time.Minute)
		r, err := reconcile.New(x.s, reconcile.State("shop"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := r.Verify(t.Context(), orders.Orders)
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		x.put("orders_by_user", paid(o), o.UpdatedAt+9)
		if report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run)); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if n := x.count("SELECT entity FROM denorm_finding"); n != 0 {
			t.Errorf("%d findings are stored", n)
		}
	})
}

// Of one entity there is no progress to watch, and it covers no table.
func TestEntityIsNoFullRun(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.differ(x.orders[0])
		<-time.After(time.Minute)
		told, last := &told{}, reconcile.Progress{}
		if _, err := reconcile.Entity(t.Context(), x.telling(told), orders.Orders, x.orders[0],
			reconcile.OnProgress(func(p reconcile.Progress) { last = p })); err != nil {
			t.Fatal(err)
		}
		if told.states > 0 || told.full || last.Done != 1 {
			t.Errorf("told %d times how far it is, full %t, at the end %+v", told.states, told.full, last)
		}
		if _, err := x.telling(told).Verify(t.Context(), orders.Orders); err != nil || !told.full {
			t.Errorf("%v, full %t", err, told.full)
		}
	})
}

// Progress says what a run waits for.
func TestProgressSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		var mu sync.Mutex
		waits := make(map[string]int)
		last := ""
		progress := reconcile.OnProgress(func(p reconcile.Progress) {
			mu.Lock()
			defer mu.Unlock()
			waits[p.Waits]++
			last = p.Waits
		})
		writers := time.Now()
		if _, err := x.r.Backfill(t.Context(), orders.Orders, "orders_by_user", reconcile.Writers(writers), progress); err != nil {
			t.Fatal(err)
		}
		until := "writes that began before Writers may be applied until " + writers.Add(30*time.Second).UTC().Format(time.RFC3339)
		if waits[until] < 25 || last != "" {
			t.Errorf("%v, at the end %q", waits, last)
		}
		x.differ(x.orders[0])
		again := regexp.MustCompile(`^until \S+Z to read 1 row again$`)
		if _, err := x.r.Repair(t.Context(), orders.Orders, progress); err != nil ||
			!slices.ContainsFunc(slices.Collect(maps.Keys(waits)), again.MatchString) || last != "" {
			t.Errorf("%v, %v, at the end %q", err, waits, last)
		}
		other := x.storing()
		ended := make(chan error, 1)
		go func() {
			_, err := x.storing(reconcile.Rate(10), progress).Verify(t.Context(), orders.Orders)
			ended <- err
		}()
		<-time.After(10 * time.Second)
		runs, err := other.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Pause(t.Context(), runs[0].Run); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		mu.Lock()
		if waits["the run is paused"] < 50 {
			t.Errorf("%v", waits)
		}
		mu.Unlock()
		if err := errors.Join(other.Continue(t.Context(), runs[0].Run), <-ended); err != nil {
			t.Error(err)
		}
	})
}

// A backfill counts the rows that it has put, not those that it has only read.
func TestProgressCountsWhatIsDone(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			x := newWorld(t, c, 5)
			if fails {
				c.When(cassandratest.Table("orders_by_user"), cassandratest.Text("INSERT")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
			}
			most := 0
			_, err := x.r.Backfill(t.Context(), orders.Orders, "orders_by_user", reconcile.Writers(time.Now()),
				reconcile.OnProgress(func(p reconcile.Progress) { most = max(most, p.Rows) }))
			if fails != (err != nil) || fails != (most == 0) {
				t.Errorf("fails %t: %v, %d rows", fails, err, most)
			}
		})
	}
}

// A run that is resumed reads again where rows could not be compared, so it does not say that all is well.
func TestResumedRunTellsOfRowsThatWereNotCompared(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set    tables.Described
		put    string
		adopts bool
		says   error
	}{
		"leads nowhere":             {jobRuns, "INSERT INTO job_runs_by_kind (kind, id) VALUES ('a', 9)", false, reconcile.ErrDrift},
		"leads nowhere, adopted":    {jobRuns, "INSERT INTO job_runs_by_kind (kind, id, note) VALUES ('a', 9, 'n')", true, reconcile.ErrDrift},
		"null in a compared column": {comparedCards, "INSERT INTO cards (id, text) VALUES (1, 'n')", false, reconcile.ErrIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, test.set, reconcile.Settle(30*time.Second), handed, reconcile.State("shop"))
				c.Create(reconcile.StateSchema("shop"))
				exec(t, s, test.put)
				<-time.After(time.Hour)
				ended := reconcile.Writers(time.Now())
				call := func(options ...reconcile.Option) (*reconcile.Report, error) {
					if test.adopts {
						return r.Adopt(t.Context(), test.set, append(options, ended)...)
					}
					return r.Verify(t.Context(), test.set, append(options, reconcile.Lookup())...)
				}
				first, err := call()
				if !errors.Is(err, test.says) {
					t.Fatal(err)
				}
				if again, err := call(reconcile.Resume(first.Run)); !errors.Is(err, test.says) || again.Uncovered != first.Uncovered {
					t.Errorf("resumed: %v\n%v", err, again)
				}
			})
		})
	}
}

// A ghost that an earlier process has found stays in the report if the entity is looked at again for another row.
func TestResumedRunKeepsWhatAnEntityHasElsewhere(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := &world{Cluster: c, t: t}
		x.s, x.w, x.r = openSet(t, c, memos, reconcile.Settle(2*time.Second), reconcile.State("shop"), reconcile.Lookup())
		c.Create(reconcile.StateSchema("shop"))
		m := memo{ID: gocql.UUID{15: 1}, Team: "sales", Status: "open", UpdatedAt: time.Now().UnixMicro()}
		for _, table := range []string{"memos", "memos_by_team"} {
			x.memo(table, m)
		}
		for _, status := range []string{"open", "done"} {
			x.exec("INSERT INTO memos_by_status (id,team,status,updated_at) VALUES (?,?,?,?) USING TIMESTAMP ?", m.ID, m.Team, status, m.UpdatedAt, m.UpdatedAt)
		}
		m.Team = "support"
		x.memo("memos_by_team", m)
		<-time.After(time.Minute)
		unread := c.When(cassandratest.Table("memos_by_status"), cassandratest.Text("token(")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
		first, err := x.r.Verify(t.Context(), memos)
		unread.End()
		if !errors.Is(err, reconcile.ErrIncomplete) {
			t.Fatal(err)
		}
		report, err := x.r.Verify(t.Context(), memos, reconcile.Resume(first.Run))
		if found := slices.Collect(report.Findings()); len(found) != 2 || !errors.Is(err, reconcile.ErrDrift) {
			t.Errorf("%d findings, want both ghosts: %v\n%v%v", len(found), err, report, found)
		}
	})
}
