package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

const insertFinding = "INSERT INTO denorm_finding (subject, slice, entity, tbl, row_key, class, last_seen, first_seen, outcome) " +
	"VALUES ('shop order', 0, ?, 'orders_by_user', ?, ?, ?, ?, 'found')"

// A damaged row of denorm_finding does not end the process that resumes a run, and is not in its report.
func TestDamagedFinding(t *testing.T) {
	t.Parallel()
	whole := func(sizes ...int) (key []byte) {
		for _, n := range sizes {
			key = append(append(key, 0, byte(n)), make([]byte, n)...)
		}
		return key
	}
	for name, f := range map[string]struct {
		entity, key []byte
		class       string
	}{
		"empty key":       {whole(16), []byte{}, "ghost"},
		"short key":       {whole(16), []byte{1}, "ghost"},
		"long length":     {whole(16), []byte{0xff, 0xff, 1}, "ghost"},
		"too many values": {whole(16), whole(16, 16, 1), "ghost"},
		"no UUID":         {whole(16), whole(16, 3), "newer"},
		"empty entity":    {[]byte{}, whole(16, 16), "missing"},
		"bad entity":      {[]byte{0xff, 0xff}, whole(16, 16), "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				x := newWorld(t, c, 2)
				x.Create(reconcile.StateSchema("shop"))
				<-time.After(time.Minute)
				r := x.storing(reconcile.Settle(time.Second))
				report, err := r.Verify(t.Context(), orders.Orders)
				if err != nil {
					t.Fatal(err)
				}
				x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
				x.exec(insertFinding, f.entity, f.key, f.class, time.Now().Add(time.Hour), time.Now())
				report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
				if err != nil {
					t.Error(err)
				}
				for f := range report.Findings() {
					t.Error(f, f.Key(), f.Entity())
				}
			})
		})
	}
}

// The range of a damaged row of denorm_run_segment is read again by the process that resumes the run: a row that was
// lost there is found.
func TestDamagedSegment(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		"DELETE rows FROM denorm_run_segment", "DELETE in_flight FROM denorm_run_segment",
		"UPDATE denorm_run_segment SET rows = -1", "UPDATE denorm_run_segment SET in_flight = -1",
		"UPDATE denorm_run_segment SET rows = 9223372036854775807", "UPDATE denorm_run_segment SET in_flight = 9223372036854775807",
	} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				x := newWorld(t, c, 2)
				x.Create(reconcile.StateSchema("shop"))
				<-time.After(time.Minute)
				r := x.storing(reconcile.Settle(time.Second))
				report, err := r.Verify(t.Context(), orders.Orders)
				if err != nil {
					t.Fatal(err)
				}
				rows := report.Tables[0].Rows
				x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
				x.remove("orders_by_user", x.orders[0], time.Now().UnixMicro())
				<-time.After(time.Minute)
				if report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run)); err != nil {
					t.Fatal("what the run has read is read again:", err)
				}
				iter := x.s.Reads().Query("SELECT tbl, low FROM denorm_run_segment WHERE run = ? ALLOW FILTERING", report.Run).Iter()
				var table string
				var low int64
				for iter.Scan(&table, &low) {
					x.exec(damage+" WHERE run = ? AND tbl = ? AND low = ?", report.Run, table, low)
				}
				if err := iter.Close(); err != nil || table == "" {
					t.Fatal(err, table)
				}
				x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
				report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
				if !errors.Is(err, reconcile.ErrDrift) || report.Tables[0].Rows != rows || report.InFlight != 0 {
					t.Errorf("%d rows, were %d, %d in flight: %v", report.Tables[0].Rows, rows, report.InFlight, err)
				}
			})
		})
	}
}

// What a run has found itself is in the report of the process that resumes it, whatever the clock of the process that
// has found it said. What another run has found before it is not.
func TestSightingsBeforeTheRun(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]gocql.UUID{"of the run": {}, "of another run": gocql.TimeUUID()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				x := newWorld(t, c, 2)
				x.Create(reconcile.StateSchema("shop"))
				x.remove("orders_by_user", x.orders[0], time.Now().UnixMicro())
				<-time.After(time.Minute)
				r := x.storing(reconcile.Settle(time.Second), reconcile.Lookup())
				report, err := r.Verify(t.Context(), orders.Orders)
				if !errors.Is(err, reconcile.ErrDrift) {
					t.Fatal(err)
				}
				x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
				var slice int16
				var entity, key []byte
				if err := x.s.Reads().Query("SELECT slice, entity, row_key FROM denorm_finding").Scan(&slice, &entity, &key); err != nil {
					t.Fatal(err)
				}
				run := other
				if other == (gocql.UUID{}) {
					run = report.Run
				}
				x.exec("UPDATE denorm_finding SET last_seen = ?, run = ? WHERE subject = 'shop order' AND slice = ? AND entity = ? AND "+
					"tbl = 'orders_by_user' AND row_key = ?", report.Began.Add(-time.Minute), run, slice, entity, key)
				report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
				if mine := run == report.Run; errors.Is(err, reconcile.ErrDrift) != mine {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// Stored findings are read a page at a time, however many there are: all that the run has not seen are deleted.
func TestManySightings(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		for n := range 250 {
			id := append([]byte{0, 16}, gocql.UUIDFromTime(time.Unix(int64(n), 0)).Bytes()...)
			x.exec(insertFinding, id, slices.Concat(id, id), "ghost", time.Now().Add(time.Second), time.Now())
		}
		<-time.After(time.Minute)
		from := len(x.Journal())
		if _, err := x.storing(reconcile.Settle(time.Second)).Verify(t.Context(), orders.Orders); err != nil {
			t.Fatal(err)
		}
		for _, r := range x.Journal()[from:] {
			if len(r.Statements) > 0 && r.Statements[0].Table == "denorm_finding" && strings.HasPrefix(r.Statements[0].Text, "SELECT") &&
				r.Kind == cassandratest.Execute && (r.PageSize < 1 || r.PageSize > 1000) {
				t.Fatalf("%s: %d rows at a time", r.Statements[0].Text, r.PageSize)
			}
		}
		if left := x.count("SELECT run FROM denorm_finding"); left > 0 {
			t.Errorf("%d findings are left", left)
		}
	})
}

// A run that is resumed looks at so many stored findings again. The others are counted, and a repair that had begun is
// not believed to be done.
func TestMoreSightingsThanAreRestored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		outcome  string
		restored int
		want     error
	}{{"found", 2, nil}, {"found", 1, nil}, {"begun", 2, nil}, {"begun", 1, reconcile.ErrIncomplete}} {
		t.Run(fmt.Sprintf("%s, %d", test.outcome, test.restored), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				x := newWorld(t, c, 4)
				x.Create(reconcile.StateSchema("shop"))
				x.remove("orders_by_user", x.orders[0], time.Now().UnixMicro())
				x.remove("orders_by_user", x.orders[1], time.Now().UnixMicro())
				<-time.After(time.Minute)
				r := x.storing(reconcile.Settle(time.Second), reconcile.Restored(test.restored))
				report, err := r.Verify(t.Context(), orders.Orders)
				if !errors.Is(err, reconcile.ErrDrift) {
					t.Fatal(err)
				}
				x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
				iter := x.s.Reads().Query("SELECT slice, entity, row_key FROM denorm_finding").Iter()
				var slice int16
				var entity, key []byte
				for iter.Scan(&slice, &entity, &key) {
					x.exec("UPDATE denorm_finding SET outcome = ? WHERE subject = 'shop order' AND slice = ? AND entity = ? AND "+
						"tbl = 'orders_by_user' AND row_key = ?", test.outcome, slice, entity, key)
				}
				if err := iter.Close(); err != nil {
					t.Fatal(err)
				}
				report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
				found := len(slices.Collect(report.Findings()))
				if want := 2 - report.Uncovered; !errors.Is(err, reconcile.ErrDrift) || found != want || errors.Is(err, reconcile.ErrIncomplete) != (test.want != nil) {
					t.Errorf("%d findings: %v\n%v", found, err, report)
				}
			})
		})
	}
}

// The same of a Watch that continues its pass, and of times in denorm_run that are to come: the next pass comes in
// time.
func TestDamagedStateOfWatch(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		first := x.watch(reconcile.State("shop"))
		<-time.After(period / 4)
		x.exec(insertFinding, []byte{}, []byte{}, "ghost", time.Now().Add(time.Hour), time.Now())
		first.cancel()
		if err := <-first.ended; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		second := x.watch(reconcile.State("shop"))
		if p := second.next(t); p.err != nil {
			t.Fatal(p.err)
		}
		never := time.Now().Add(100 * 365 * 24 * time.Hour)
		x.exec("UPDATE denorm_run SET started = ?, ended = ? WHERE job = ? AND run = ?", never, never, "watch shop order", x.lastRun("watch shop order"))
		x.exec("INSERT INTO denorm_run (job, run, state, started) VALUES ('watch shop order', ?, 'done', ?)", gocql.MinTimeUUID(never), never)
		second.cancel()
		if err := <-second.ended; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		began := time.Now()
		if p := x.watch(reconcile.State("shop")).next(t); p.err != nil || time.Since(began) > 2*period {
			t.Errorf("%v after %v", p.err, time.Since(began))
		}
	})
}

func (x *world) lastRun(job string) (run gocql.UUID) {
	x.t.Helper()
	if err := x.s.Reads().Query("SELECT run FROM denorm_run WHERE job = ? LIMIT 1", job).Scan(&run); err != nil {
		x.t.Fatal(err)
	}
	return run
}

// Nobody has seen a finding before its row was written: an early first_seen does not make a young row proven. The base
// row of an order that was acknowledged is gone, as after a restored backup, and a repair puts it back.
func TestFirstSeenBeforeTheRow(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		o := x.orders[0]
		x.exec("TRUNCATE orders_by_id")
		x.put("orders_by_id", x.orders[1], x.orders[1].UpdatedAt)
		r := x.storing()
		if _, err := r.Verify(t.Context(), orders.Orders); !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		iter := x.s.Reads().Query("SELECT slice, entity, tbl, row_key FROM denorm_finding").Iter()
		var slice int16
		var entity, key []byte
		var table string
		for iter.Scan(&slice, &entity, &table, &key) {
			x.exec("UPDATE denorm_finding SET first_seen = ? WHERE subject = 'shop order' AND slice = ? AND entity = ? AND tbl = ? AND row_key = ?",
				time.Unix(0, 0), slice, entity, table, key)
		}
		if err := iter.Close(); err != nil || table == "" {
			t.Fatal(err, table)
		}
		report, err := r.Repair(t.Context(), orders.Orders, reconcile.OnRemoval(func(reconcile.Removal) error { return nil }))
		if rows := x.rows(o); len(rows) != 3 {
			t.Errorf("rows of the order: %v; %v\n%v", rows, err, report)
		}
		for f := range report.Findings() {
			if f.FirstSeen.Before(f.RowTime) {
				t.Errorf("%v: first seen at %v, written at %v", f, f.FirstSeen, f.RowTime)
			}
		}
	})
}

// The texts of a stored finding are of whoever wrote it: they are short, and make no line of their own in a log.
func TestTextsOfStoredFindings(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		x.exec("TRUNCATE orders_by_user")
		<-time.After(time.Minute)
		r := x.storing(reconcile.Settle(time.Second))
		report, err := r.Verify(t.Context(), orders.Orders)
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		x.exec("UPDATE denorm_run SET state = 'incomplete' WHERE job = ? AND run = ?", "verify shop order", report.Run)
		iter := x.s.Reads().Query("SELECT slice, entity, tbl, row_key FROM denorm_finding").Iter()
		var slice int16
		var entity, key []byte
		var table string
		for iter.Scan(&slice, &entity, &table, &key) {
			x.exec("UPDATE denorm_finding SET differs = ?, reason = ?, outcome = 'repaired' WHERE subject = 'shop order' AND slice = ? AND entity = ? AND tbl = ? "+
				"AND row_key = ?", "\x1b[2J", "x\n12:00 INFO"+strings.Repeat("x", 1<<20), slice, entity, table, key)
		}
		if err := iter.Close(); err != nil || table == "" {
			t.Fatal(err, table)
		}
		report, _ = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
		texts := ""
		for f := range report.Findings() {
			texts += f.String()
		}
		if strings.ContainsAny(texts, "\n\x1b") || len(texts) > 5000 || !strings.Contains(texts, `\x1b[2J: repaired: x\n12:00 INFO`) {
			t.Errorf("%d bytes: %.300q", len(texts), texts)
		}
	})
}
