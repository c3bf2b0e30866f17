package reconcile_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

var errUnitKilled = errors.New("the process was killed")

// byUnits does a run in units, so many a table, each of which is killed so often at a random moment and goes on from
// what it has told last.
func byUnits(t *testing.T, r *reconcile.Reconciler, set tables.Described, kind, table string, count, kills int) (sum engine.Done) {
	t.Helper()
	run, err := r.Internal(t.Context(), kind, set, table)
	if err != nil {
		t.Fatal(err)
	}
	run.Share(0, 256)
	sum.Found = make(map[string]map[string]int64)
	width := math.MaxUint64/uint64(count) + 1
	for _, phase := range run.Phases() {
		for _, name := range phase.Tables {
			for i := range count {
				low := int64(uint64(i)*width ^ 1<<63)
				high := low + int64(width)
				if i == count-1 {
					high = math.MaxInt64
				}
				done := killed(t, run, engine.Unit{Fills: phase.Fills, Table: name, Low: low, High: high}, kills)
				if done.Cursor != high {
					t.Errorf("%s: done up to %d, want %d", name, done.Cursor, high)
				}
				sum.Put += done.Put
				sum.Uncovered += done.Uncovered
				sum.Unheld += done.Unheld
				if sum.Rows += done.Rows; phase.Fills {
					sum.Rows -= done.Rows
				}
				for at, found := range done.Found {
					if sum.Found[at] == nil {
						sum.Found[at] = make(map[string]int64)
					}
					for class, n := range found {
						sum.Found[at][class] += n
					}
				}
			}
		}
	}
	return sum
}

// killed does a unit. What it tells goes through JSON, as it does in an engine.
func killed(t *testing.T, run engine.Run, u engine.Unit, kills int) engine.Done {
	t.Helper()
	var told engine.Done
	for {
		ctx, kill := context.WithCancelCause(t.Context())
		if kills--; kills >= 0 {
			time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Minute))), func() { kill(errUnitKilled) })
		}
		done, err := run.Do(ctx, u, told, func(d engine.Done) {
			text, err := json.Marshal(d)
			told = engine.Done{}
			if err = errors.Join(err, json.Unmarshal(text, &told)); err != nil {
				t.Error(err)
			}
		})
		kill(nil)
		if err == nil {
			return done
		}
		if !errors.Is(err, errUnitKilled) {
			t.Fatal(err)
		}
	}
}

func countsOf(report *reconcile.Report) (rows int64, found engine.Found) {
	for _, table := range report.Tables {
		rows += int64(table.Rows)
		for class, n := range table.Found {
			if n != 0 {
				found.Add(table.Table, class.String(), int64(n))
			}
		}
	}
	return rows, found
}

// The units of a verification count what Verify counts: each row and each difference once, however the ring is cut, and
// wherever a unit is killed.
func TestUnitsCountOnce(t *testing.T) {
	t.Parallel()
	for _, cut := range []struct{ units, kills int }{{1, 0}, {7, 0}, {3, 4}} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				x := newWorld(t, c, 60)
				for i, d := range drifts {
					x.planted = x.orders[i]
					d.plant(x, x.orders[i])
					x.planted = x.orders[20+i]
					d.plant(x, x.orders[20+i])
				}
				<-time.After(time.Minute)
				report, err := x.r.Verify(t.Context(), orders.Orders)
				if !errors.Is(err, reconcile.ErrDrift) {
					t.Fatal(err)
				}
				rows, found := countsOf(report)
				got := byUnits(t, x.r, orders.Orders, engine.Verify, "", cut.units, cut.kills)
				if got.Rows != rows || !reflect.DeepEqual(got.Found, found) || got.Uncovered != 0 {
					t.Errorf("%+v, want %d rows and %v", got, rows, found)
				}
			})
		})
	}
}

// Claims are compared in units as well.
func TestUnitsOfUniqueKeys(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, users, reconcile.Settle(30*time.Second))
		x := usersWorld{t, s, w, r}
		for i := range 20 {
			if _, err := w.Write(t.Context(), "create", users.Insert(user{ID: i, Name: "name", Email: fmt.Sprint(i, "@example.org")})); err != nil {
				t.Fatal(err)
			}
		}
		x.exec("DELETE FROM users_by_email WHERE email = ?", "3@example.org")
		x.exec("DELETE FROM users_by_name WHERE name = ? AND id = ?", "name", 4)
		x.exec("INSERT INTO users_by_email (email, id) VALUES (?, ?)", "nobody@example.org", 5)
		<-time.After(time.Hour)
		report, err := r.Verify(t.Context(), users)
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		rows, found := countsOf(report)
		unheld := 0
		for _, table := range report.Tables {
			unheld += table.Unheld
		}
		got := byUnits(t, r, users, engine.Verify, "", 5, 1)
		if got.Rows != rows || !maps.EqualFunc(got.Found, found, maps.Equal) || got.Unheld != int64(unheld) || unheld != 1 {
			t.Errorf("%+v, want %d rows, %v, and %d claims that nobody holds", got, rows, found, unheld)
		}
	})
}

// A backfill in units puts each row once, and compares the new table.
func TestBackfillInUnits(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			d.act(oldTickets, r)
		}
		<-time.After(time.Minute)
		on, err := reconcile.New(d.s, reconcile.Settle(30*time.Second), reconcile.Writers(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		got := byUnits(t, on, newTickets, engine.Backfill, "tickets_by_owner", 3, 2)
		if rows := int64(len(d.rows("tickets"))); got.Put != rows || got.Rows != 2*rows || len(got.Found) != 0 || got.Uncovered != 0 {
			t.Errorf("%+v, want %d rows put", got, rows)
		}
		if wrong := d.wrong(); len(wrong) > 0 {
			t.Error(wrong)
		}
	})
}

// What is left of a range that cannot be read is an error, so that it is tried again; a last try leaves it, and counts
// it.
func TestUnitsLeave(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 10)
		run, err := x.r.Internal(t.Context(), engine.Verify, orders.Orders, "")
		if err != nil {
			t.Fatal(err)
		}
		run.Share(0, 4)
		c.When(cassandratest.Table("orders_by_user")).Do(cassandratest.Fail(cassandratest.Overloaded))
		u := engine.Unit{Table: "orders_by_user", Low: math.MinInt64, High: math.MaxInt64}
		done, err := run.Do(t.Context(), u, engine.Done{}, func(engine.Done) {})
		if err == nil || errors.Is(err, engine.ErrAway) || done.Cursor == u.High {
			t.Errorf("%+v, %v", done, err)
		}
		u.Skip = true
		for _, fail := range []cassandratest.Error{cassandratest.Overloaded, cassandratest.Unavailable(gocql.Quorum, 2, 1)} {
			down := c.When(cassandratest.Table("orders_by_id")).Do(cassandratest.Fail(fail))
			if done, err := run.Do(t.Context(), u, done, func(engine.Done) {}); !errors.Is(err, engine.ErrAway) || done.Uncovered > 0 {
				t.Errorf("%v: %+v, %v", fail, done, err)
			}
			down.End()
		}
		done, err = run.Do(t.Context(), u, done, func(engine.Done) {})
		if err != nil || done.Cursor != u.High || done.Uncovered == 0 {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// A time that has come leaves the rest of a unit, and never all of it.
func TestUnitsEndInTime(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		run, err := x.r.Internal(t.Context(), engine.Verify, orders.Orders, "")
		if err != nil {
			t.Fatal(err)
		}
		run.Share(0, 4)
		last := murmur3.Token(x.orders[0].OrderID[:])
		u := engine.Unit{Table: "orders_by_id", Low: last - 100, High: last, Until: time.Now()} // a wide one has thousands of parts
		parts := 0
		var sum int64
		for ; u.Low < u.High; parts++ {
			done, err := run.Do(t.Context(), u, engine.Done{}, func(engine.Done) {})
			if err != nil {
				t.Fatal(err)
			}
			u.Low, sum = done.Cursor, sum+done.Rows
		}
		if parts < 3 || sum != 1 {
			t.Errorf("%d parts with %d rows", parts, sum)
		}
	})
}

// What is found behind a place that waits is not told yet, or it would be counted twice when the unit is continued from
// that place.
func TestUnitsTellInOrder(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 30)
		slices.SortFunc(x.orders, func(a, b orders.Order) int {
			return cmp.Compare(murmur3.Token(a.OrderID[:]), murmur3.Token(b.OrderID[:]))
		})
		for _, o := range x.orders[1:] {
			x.remove("orders_by_user", o, o.UpdatedAt+9)
		}
		busy := func(n int64) { x.put("orders_by_user", paid(x.orders[0]), x.orders[0].UpdatedAt+n) } // it differs, otherwise each time
		busy(1)
		run, err := x.r.Internal(t.Context(), engine.Verify, orders.Orders, "")
		if err != nil {
			t.Fatal(err)
		}
		run.Share(0, 256)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for n := range int64(40) {
				<-time.After(10 * time.Second)
				busy(2 + n)
			}
		}()
		ctx, kill := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Minute, func() { kill(errUnitKilled) })
		u := engine.Unit{Table: "orders_by_id", Low: math.MinInt64, High: math.MaxInt64}
		done, err := run.Do(ctx, u, engine.Done{}, func(engine.Done) {})
		if !errors.Is(err, errUnitKilled) || done.Cursor == u.High || len(done.Found) > 0 {
			t.Errorf("%+v, %v", done, err)
		}
		<-ended
		done, err = run.Do(t.Context(), u, done, func(engine.Done) {})
		if err != nil || done.Rows != 30 || done.Found["shop.orders_by_user"]["missing"] != 29 {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// An attempt that goes on where a lost one has ended counts nothing of what lies before, which the lost one has
// counted, though it meets it again: an order has ghosts on both sides of that place.
func TestUnitsGoOn(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		o := x.orders[0]
		var at []int64
		for _, status := range orders.Statuses {
			if ghost := o; status != o.Status {
				ghost.Status = status
				x.put("orders_by_status", ghost, o.UpdatedAt-1)
				at = append(at, murmur3.Token([]byte(status)))
			}
		}
		slices.Sort(at)
		<-time.After(time.Hour)
		run, err := x.r.Internal(t.Context(), engine.Verify, orders.Orders, "")
		if err != nil {
			t.Fatal(err)
		}
		run.Share(0, 4)
		u := engine.Unit{Table: "orders_by_status", Low: math.MinInt64, High: math.MaxInt64}
		for i, cursor := range append(at, math.MinInt64) {
			from := engine.Done{Begun: true, Cursor: cursor}
			done, err := run.Do(t.Context(), u, from, func(engine.Done) {})
			want := int64(len(at) - i - 1) // that come after
			if cursor == math.MinInt64 {
				want = int64(len(at))
			}
			if err != nil || done.Found["shop.orders_by_status"]["ghost"] != want {
				t.Errorf("from the ghost %d on: %+v, %v, want %d", i, done, err, want)
			}
		}
	})
}

// Units are of one run only where all workers have the same declaration, tables, and options that decide what is found.
func TestDeclarationOfARun(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		of := func(options ...reconcile.Option) string {
			r, err := reconcile.New(x.s, append(options, reconcile.Settle(30*time.Second))...)
			if err != nil {
				t.Fatal(err)
			}
			run, err := r.Internal(t.Context(), engine.Verify, orders.Orders, "")
			if err != nil {
				t.Fatal(err)
			}
			return run.Declaration()
		}
		first := of()
		if of(reconcile.Rate(5), reconcile.PageSize(9)) != first {
			t.Error("what bounds the work makes another run")
		}
		if of(reconcile.Consistency(session.All)) == first || of(reconcile.OldTimestamps()) == first || of(reconcile.Tables("orders_by_user")) == first {
			t.Error("other options make no other run")
		}
		x.exec("DROP TABLE orders_by_user")
		for _, statement := range orders.Schema.In(map[string]string{"": "shop"}).Statements() {
			if strings.Contains(statement, "orders_by_user") {
				c.Create(statement)
			}
		}
		if of() == first {
			t.Error("another table of the same name makes no other run")
		}
	})
}
