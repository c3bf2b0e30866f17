package reconcile_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type account struct {
	AccountID gocql.UUID
	Team      string
	Name      string
	UpdatedAt int64
}

var accounts = tables.Must(tables.New[account]("account",
	tables.Table{Name: "accounts", PartKey: []string{"account_id"}},
	tables.Table{Name: "accounts_by_team", PartKey: []string{"team"}, SortKey: []string{"account_id"}},
	tables.Stamp("updated_at"),
))

// fastClock is a write by a client whose clock is an hour ahead, which dies before the write has reached all tables.
// Another client may then change or delete the entity, which is acknowledged.
type fastClock[T any] struct {
	set    *tables.Set[T]
	create T
	dead   func(*T)
	lost   []string // tables that dead has not reached
	then   func(*T)
	delete bool
	column string // that the changes are of
	// What tables have of it ten minutes later, after a repair that leaves the entity, one that keeps the dead write, and
	// one that removes it.
	left, kept, removed map[string]string
}

func (f fastClock[T]) test(t *testing.T) {
	t.Helper()
	t.Parallel()
	for name, tt := range map[string]struct {
		options []reconcile.Option
		want    map[string]string
	}{
		"left":                  {want: f.left},
		"left, and found again": {[]reconcile.Option{reconcile.State("shop")}, f.left},
		"not handed out":        {[]reconcile.Option{reconcile.RemoveAhead(), reconcile.OnRemoval(nil)}, f.left},
		"kept":                  {[]reconcile.Option{reconcile.KeepAhead()}, f.kept},
		"removed":               {[]reconcile.Option{reconcile.RemoveAhead()}, f.removed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				x := &world{Cluster: c, t: t}
				x.s, x.w, x.r = openSet(t, c, f.set, handed)
				f.plant(x)
				if name == "left, and found again" {
					c.Create(reconcile.StateSchema("shop"))
					if report, err := x.r.Verify(t.Context(), f.set, tt.options...); !errors.Is(err, reconcile.ErrDrift) {
						t.Errorf("%v\n%v", err, report)
					}
					<-time.After(2 * time.Hour)
				}
				report, err := x.r.Repair(t.Context(), f.set, tt.options...)
				resolved := name == "kept" || name == "removed"
				if (err == nil) != resolved || err != nil && !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v\n%v", err, report)
				}
				found := slices.Collect(report.Findings())
				for _, found := range found {
					if name != "kept" && found.Class != reconcile.Ahead || !resolved && (found.Outcome != reconcile.Found || found.Reason == "") {
						t.Error(found)
					}
				}
				got := make(map[string]string)
				for _, table := range tablerow.Layouts(f.set.Internal()) {
					iter := x.s.Reads().Query("SELECT " + f.column + " FROM " + table.Name()).Iter()
					for value := ""; iter.Scan(&value); {
						got[table.Name()] += value
					}
					if err := iter.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if len(found) == 0 || !maps.Equal(got, tt.want) {
					t.Errorf("%d findings, and the tables have %v", len(found), got)
				}
				if !resolved {
					return
				}
				if report, err := x.r.Verify(t.Context(), f.set); err != nil {
					t.Errorf("%v\n%v", err, report)
				}
				if tt.want[tablerow.Layouts(f.set.Internal())[0].Name()] == "" {
					return
				}
				change := func() error {
					_, err := writer.Modify(t.Context(), x.w, "change", f.set, f.create, func(o T) (T, error) { return o, nil })
					return err
				}
				if err := change(); !errors.Is(err, writer.ErrInvalid) {
					t.Errorf("a write before the time of the dead one: %v", err)
				}
				<-time.After(time.Hour)
				if err := change(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// plant writes all of it.
func (f fastClock[T]) plant(x *world) {
	x.t.Helper()
	fast, err := writer.New(x.s, writer.Concurrent(), writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(time.Hour) })))
	if err == nil {
		_, err = x.w.Write(x.t.Context(), "create", f.set.Insert(f.create))
	}
	if err != nil {
		x.t.Fatal(err)
	}
	load := func() T {
		o, err := writer.Load(x.t.Context(), x.w, "load", f.set, f.create)
		if err != nil {
			x.t.Fatal(err)
		}
		return o
	}
	before := load()
	var lost []*cassandratest.Rule
	for _, table := range f.lost {
		lost = append(lost, x.When(cassandratest.Table(table)).Do(cassandratest.Drop))
	}
	dead := before
	f.dead(&dead)
	if _, err := fast.Write(x.t.Context(), "dead", f.set.Update(before, dead)); err == nil {
		x.t.Fatal("the write was not lost")
	}
	for _, rule := range lost {
		rule.End()
	}
	<-time.After(10 * time.Minute)
	switch before = load(); {
	case f.delete:
		_, err = x.w.Write(x.t.Context(), "delete", f.set.Delete(before))
	case f.then != nil:
		after := before
		f.then(&after)
		_, err = x.w.Write(x.t.Context(), "change", f.set.Update(before, after))
	}
	if err != nil {
		x.t.Fatal(err)
	}
	<-time.After(10 * time.Minute)
}

func TestRepairOfAWriteByAFastClock(t *testing.T) {
	fastClock[account]{
		set: accounts, create: account{AccountID: gocql.MustRandomUUID(), Team: "red", Name: "first"}, column: "name",
		dead: func(a *account) { a.Name = "dead" }, lost: []string{"accounts"}, then: func(a *account) { a.Name = "acknowledged" },
		left:    map[string]string{"accounts": "acknowledged", "accounts_by_team": "dead"},
		kept:    map[string]string{"accounts": "dead", "accounts_by_team": "dead"},
		removed: map[string]string{"accounts": "acknowledged", "accounts_by_team": "acknowledged"},
	}.test(t)
}

func TestRepairOfADeletedEntityWithAWriteByAFastClock(t *testing.T) {
	fastClock[account]{
		set: accounts, create: account{AccountID: gocql.MustRandomUUID(), Team: "red", Name: "first"}, column: "name",
		dead: func(a *account) { a.Name = "dead" }, lost: []string{"accounts"}, delete: true,
		left:    map[string]string{"accounts_by_team": "dead"},
		kept:    map[string]string{"accounts": "dead", "accounts_by_team": "dead"},
		removed: map[string]string{},
	}.test(t)
}

func TestRepairOfAMoveByAFastClock(t *testing.T) {
	move := fastClock[orders.Order]{
		set: orders.Orders, create: orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)), column: "status",
		dead: func(o *orders.Order) { o.Status = orders.Paid }, then: func(o *orders.Order) { o.Status = orders.Shipped },
		kept:    map[string]string{"orders_by_id": "paid", "orders_by_user": "paid", "orders_by_status": "paid"},
		removed: map[string]string{"orders_by_id": "shipped", "orders_by_user": "shipped", "orders_by_status": "shipped"},
	}
	user, status := move, move
	user.lost = []string{"orders_by_id", "orders_by_status"}
	user.left = map[string]string{"orders_by_id": "shipped", "orders_by_user": "paid", "orders_by_status": "shipped"}
	status.lost = []string{"orders_by_id", "orders_by_user"}
	status.left = map[string]string{"orders_by_id": "shipped", "orders_by_user": "shipped", "orders_by_status": "paid"}
	base := move
	base.then, base.lost = nil, []string{"orders_by_user", "orders_by_status"}
	base.left = map[string]string{"orders_by_id": "paid", "orders_by_user": "open", "orders_by_status": "open"}
	base.removed = map[string]string{"orders_by_id": "open", "orders_by_user": "open", "orders_by_status": "open"}
	t.Run("that has reached the base table", base.test)
	t.Run("that has reached the table by user", user.test)
	t.Run("that has reached the table by status", status.test)
}

// ordersAhead are two orders, of which one was created by a clock that is an hour ahead.
func ordersAhead(t *testing.T, c *cassandratest.Cluster) (x *world, now, ahead orders.Order) {
	t.Helper()
	x = newWorld(t, c, 1)
	o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
	o.UpdatedAt = time.Now().Add(time.Hour).UnixMicro()
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		x.put(table, o, o.UpdatedAt)
	}
	return x, x.orders[0], o
}

func TestBackfillOfAWriteByAFastClock(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x, _, _ := ordersAhead(t, c)
		x.exec("TRUNCATE orders_by_user")
		fill := func(options ...reconcile.Option) (*reconcile.Report, error) {
			return x.r.Backfill(t.Context(), orders.Orders, "orders_by_user", append(options, reconcile.Writers(time.Now()))...)
		}
		if report, err := fill(); !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(err.Error(), "--ahead keep") || report.Put != 1 {
			t.Errorf("%v\n%v", err, report)
		}
		if n := x.count("SELECT * FROM orders_by_user"); n != 1 {
			t.Errorf("%d rows", n)
		}
		if report, err := fill(reconcile.KeepAhead()); err != nil || report.Put != 2 {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

func TestAdoptOfAWriteByAFastClock(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x, now, ahead := ordersAhead(t, c)
		x.exec("TRUNCATE orders_by_user")
		for _, o := range []orders.Order{now, ahead} { // by hand
			x.exec("INSERT INTO orders_by_user (order_id,user_id,status,total) VALUES (?,?,?,?) USING TIMESTAMP ?", o.OrderID, o.UserID, string(o.Status), o.Total,
				now.UpdatedAt)
		}
		if report, err := x.r.Adopt(t.Context(), orders.Orders, reconcile.Writers(time.Now()), handed); !errors.Is(err, reconcile.ErrIncomplete) || report.Stamped != 1 {
			t.Errorf("%v\n%v", err, report)
		}
		if n := x.count("SELECT * FROM orders_by_user WHERE updated_at > 0 ALLOW FILTERING"); n != 1 {
			t.Errorf("%d rows have a stamp", n)
		}
	})
}
