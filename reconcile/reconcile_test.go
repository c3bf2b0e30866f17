package reconcile_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// world is orders on a cluster of a test.
type world struct {
	*cassandratest.Cluster
	t      *testing.T
	s      *session.Session
	w      *writer.Writer
	r      *reconcile.Reconciler
	orders []orders.Order

	planted orders.Order
}

func newWorld(t *testing.T, c *cassandratest.Cluster, count int) *world {
	t.Helper()
	c.Create(orders.Schema.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	x := &world{Cluster: c, t: t, s: s}
	if x.w, err = writer.New(s, writer.WithClock(writer.NewClock(time.Now))); err != nil {
		t.Fatal(err)
	}
	if x.r, err = reconcile.New(s, reconcile.Settle(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	for range count {
		o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
		res, err := x.w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
		if err != nil {
			t.Fatal(err)
		}
		o.UpdatedAt = res.Timestamp
		x.orders = append(x.orders, o)
	}
	<-time.After(time.Hour / 2)
	return x
}

func (x *world) exec(statement string, values ...any) {
	x.t.Helper()
	if err := x.s.Writes().Query(statement, values...).DefaultTimestamp(false).Exec(); err != nil {
		x.t.Fatalf("%s: %v", statement, err)
	}
}

// put puts a row of an order into a table at a time, as a write that was lost half-way would.
func (x *world) put(table string, o orders.Order, at int64) {
	x.exec("INSERT INTO "+table+" (order_id,user_id,status,total,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ?",
		o.OrderID, o.UserID, string(o.Status), o.Total, at, at)
}

// remove removes the row of an order from a table at a time.
func (x *world) remove(table string, o orders.Order, at int64) {
	switch table {
	case "orders_by_id":
		x.exec("DELETE FROM orders_by_id USING TIMESTAMP ? WHERE order_id=?", at, o.OrderID)
	case "orders_by_user":
		x.exec("DELETE FROM orders_by_user USING TIMESTAMP ? WHERE user_id=? AND order_id=?", at, o.UserID, o.OrderID)
	default:
		x.exec("DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status=? AND order_id=?", at, string(o.Status), o.OrderID)
	}
}

func paid(o orders.Order) orders.Order {
	o.Status = orders.Paid
	return o
}

// The drifts that are planted, one an order, and what a repair makes of them.
var drifts = []struct {
	name    string
	class   reconcile.Class
	plant   func(x *world, o orders.Order)
	outcome reconcile.Outcome
	status  orders.Status // of the order afterwards, empty if it is gone
}{
	{"missing", reconcile.Missing, func(x *world, o orders.Order) {
		x.exec("UPDATE orders_by_id USING TIMESTAMP ? SET status=?, total=?, updated_at=? WHERE order_id=?", o.UpdatedAt+9, "paid", o.Total, o.UpdatedAt+9, o.OrderID)
		x.exec("UPDATE orders_by_id USING TIMESTAMP ? SET user_id=? WHERE order_id=?", o.UpdatedAt+9, o.UserID, o.OrderID)
		x.put("orders_by_user", paid(o), o.UpdatedAt+9)
		x.remove("orders_by_status", o, o.UpdatedAt+9)
	}, reconcile.Repaired, orders.Paid},
	{"differing", reconcile.Differing, func(x *world, o orders.Order) {
		x.put("orders_by_id", paid(o), o.UpdatedAt+9)
		x.put("orders_by_status", paid(o), o.UpdatedAt+9)
		x.remove("orders_by_status", o, o.UpdatedAt+9)
	}, reconcile.Repaired, orders.Paid},
	{"ghost", reconcile.Ghost, func(x *world, o orders.Order) {
		x.put("orders_by_id", paid(o), o.UpdatedAt+9)
		x.put("orders_by_user", paid(o), o.UpdatedAt+9)
		x.put("orders_by_status", paid(o), o.UpdatedAt+9)
	}, reconcile.Repaired, orders.Paid},
	{"a delete that died half-way", reconcile.Orphan, func(x *world, o orders.Order) {
		x.remove("orders_by_id", o, o.UpdatedAt+9)
	}, reconcile.Repaired, ""},
	{"a create that died half-way", reconcile.Orphan, func(x *world, o orders.Order) {
		o.OrderID, o.UpdatedAt = gocql.UUIDFromTime(time.Now().Add(-time.Hour)), o.UpdatedAt+5
		x.planted = o
		x.put("orders_by_user", o, o.UpdatedAt)
	}, reconcile.Repaired, orders.Open},
	{"a move that died half-way", reconcile.Newer, func(x *world, o orders.Order) {
		x.put("orders_by_status", paid(o), o.UpdatedAt+9)
	}, reconcile.Repaired, orders.Paid},
	{"shadowed", reconcile.Missing, func(x *world, o orders.Order) {
		x.remove("orders_by_user", o, o.UpdatedAt+9)
	}, reconcile.Shadowed, orders.Open},
}

// rows are what the tables have of an order: its status in each, by table.
func (x *world) rows(o orders.Order) map[string][]string {
	out := make(map[string][]string)
	for _, q := range []struct {
		table, where string
		value        any
	}{
		{"orders_by_id", "order_id=?", o.OrderID},
		{"orders_by_user", "user_id=?", o.UserID},
		{"orders_by_status", "status='open'", nil},
		{"orders_by_status", "status='paid'", nil},
		{"orders_by_status", "status='shipped'", nil},
		{"orders_by_status", "status='cancelled'", nil},
	} {
		var values []any
		if q.value != nil {
			values = []any{q.value}
		}
		iter := x.s.Reads().Query("SELECT order_id, status FROM "+q.table+" WHERE "+q.where, values...).Iter()
		var id gocql.UUID
		var status string
		for iter.Scan(&id, &status) {
			if id == o.OrderID {
				out[q.table] = append(out[q.table], status)
			}
		}
		if err := iter.Close(); err != nil {
			x.t.Fatal(err)
		}
	}
	return out
}

// Tables that agree are found to agree, each class of difference is found once, with no false alarm, and repaired. A
// second verification finds what could not be repaired, and nothing else.
func TestClasses(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 40)
		report, err := x.r.Verify(t.Context(), orders.Orders)
		if err != nil || report.Tables[0].Rows != 40 || len(report.Tables) != 3 {
			t.Fatalf("%v\n%v", err, report)
		}
		planted := make([]orders.Order, len(drifts))
		for i, d := range drifts {
			x.planted = x.orders[i]
			d.plant(x, x.orders[i])
			planted[i] = x.planted
		}
		<-time.After(time.Minute)
		verify := func(want int) *reconcile.Report {
			report, err := x.r.Verify(t.Context(), orders.Orders)
			if found := len(slices.Collect(report.Findings())); !errors.Is(err, reconcile.ErrDrift) || found != want {
				t.Errorf("%v, %d findings, want %d\n%v", err, found, want, report)
			}
			return report
		}
		report = verify(len(drifts) + 1) // the delete has left two orphans
		for i, d := range drifts {
			if !slices.ContainsFunc(slices.Collect(report.Findings()), func(f reconcile.Finding) bool {
				return f.Class == d.class && strings.Contains(f.Key(), planted[i].OrderID.String()) && f.Certainty == reconcile.Settled
			}) {
				t.Errorf("%s: not found\n%v", d.name, report)
			}
		}
		var removed atomic.Int32
		report, err = x.r.Repair(t.Context(), orders.Orders, reconcile.OnRemoval(func(reconcile.Removal) error {
			removed.Add(1)
			return nil
		}))
		if !errors.Is(err, reconcile.ErrDrift) || removed.Load() != 3 {
			t.Errorf("%v, %d rows removed\n%v", err, removed.Load(), report)
		}
		for i, d := range drifts {
			for f := range report.Findings() {
				if strings.Contains(f.Key(), planted[i].OrderID.String()) && f.Outcome != d.outcome {
					t.Errorf("%s: %v, want %v", d.name, f, d.outcome)
				}
			}
			want := map[string][]string{}
			for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
				if d.status != "" && (d.outcome == reconcile.Repaired || table != "orders_by_user") {
					want[table] = []string{string(d.status)}
				}
			}
			if got := x.rows(planted[i]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", d.name, got, want)
			}
		}
		verify(1)
		report, err = x.r.Repair(t.Context(), orders.Orders, reconcile.Rewrite())
		if err != nil {
			t.Errorf("Rewrite: %v\n%v", err, report)
		}
		if report, err = x.r.Verify(t.Context(), orders.Orders); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// A delete from the future, by a client whose clock is an hour ahead, covers a row also after Rewrite has written it
// again, once.
func TestRewriteUnderADeleteFromTheFuture(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		o := x.orders[0]
		x.remove("orders_by_user", o, time.Now().Add(time.Hour).UnixMicro())
		<-time.After(time.Minute)
		report, err := x.r.Repair(t.Context(), orders.Orders, reconcile.Rewrite())
		found := slices.Collect(report.Findings())
		if !errors.Is(err, reconcile.ErrDrift) || len(found) != 1 || found[0].Outcome != reconcile.Shadowed || !strings.Contains(found[0].Reason, "a delete later than Settle ago") {
			t.Errorf("%v\n%v", err, report)
		}
		<-time.After(time.Hour)
		if report, err = x.r.Repair(t.Context(), orders.Orders, reconcile.Rewrite()); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// A row that cannot be handed out is not removed, and the finding says why.
func TestRowThatCannotBeHandedOut(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		o := x.orders[0]
		for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
			x.put(table, paid(o), o.UpdatedAt+9)
		}
		<-time.After(time.Minute)
		full := errors.New("no space left on device")
		report, err := x.r.Repair(t.Context(), orders.Orders, reconcile.OnRemoval(func(reconcile.Removal) error { return full }))
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Errorf("%v\n%v", err, report)
		}
		for f := range report.Findings() {
			if f.Class != reconcile.Ghost || f.Outcome != reconcile.Found || !strings.Contains(f.Reason, full.Error()) {
				t.Error(f)
			}
		}
		if got := x.rows(o)["orders_by_status"]; len(got) != 2 {
			t.Errorf("orders_by_status has %v", got)
		}
	})
}
