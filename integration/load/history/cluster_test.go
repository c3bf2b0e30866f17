package history_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// patience is how long a slow machine may take to come to rest.
const patience = 2 * time.Minute

// market is the tables of orders on a real cluster, with a history of what was written to them.
type market struct {
	*testing.T
	session *session.Session
	began   time.Time
	history history.History[orders.Order]
	extra   []history.Write[orders.Order] // which nobody sent
	known   map[string]bool               // findings
}

func openMarket(t *testing.T) *market {
	t.Helper()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3, orders.Schema.Statements()...)
	m := &market{T: t, began: time.Now(), known: make(map[string]bool)}
	configure := func(c *gocql.ClusterConfig) { session.Configure(c, ""); c.Timeout = patience }
	m.session = testsession.New(t, cluster.Session(t, keyspace, configure), cluster.Session(t, keyspace, configure))
	return m
}

func (m *market) execute(statement string, values ...any) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	if err := m.session.Reads().Query(statement, values...).Consistency(gocql.All).WithContext(ctx).Exec(); err != nil {
		m.Fatalf("%s: %v", statement, err)
	}
}

// write carries out and notes a write, and returns the row with its stamp.
func (m *market) write(w *writer.Writer, kind tables.Kind, before, row orders.Order) orders.Order {
	m.Helper()
	n := m.history.Begin("test", kind, row)
	var change tables.Change
	switch kind {
	case tables.Insert:
		change = orders.Orders.Insert(row)
	case tables.Delete:
		change = orders.Orders.Delete(row)
	default:
		change = orders.Orders.Update(before, row)
	}
	res, err := w.Write(m.Context(), kind.String(), change)
	m.history.End(n, res.Timestamp, err)
	if err != nil {
		m.Fatal(err)
	}
	row.UpdatedAt = res.Timestamp
	return row
}

// check waits until the cluster is quiet, and returns what it finds that it had not found before.
func (m *market) check() (fresh []history.Finding, report *history.Report) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	if err := history.Quiesce(ctx, cluster.Hosts(m), m.began, nil); err != nil {
		m.Fatal(err)
	}
	contents, err := history.Read(ctx, m.session.Reads(), orders.Orders)
	if err != nil {
		m.Fatal(err)
	}
	report, err = history.Check(contents, append(m.history.Writes(), m.extra...))
	if err != nil {
		m.Fatal(err)
	}
	for _, f := range report.Findings {
		if !m.known[f.String()] {
			m.known[f.String()] = true
			fresh = append(fresh, f)
		}
	}
	return fresh, report
}

// A clean history on a real cluster is found clean. Then the tables are corrupted behind the writer's back, one order
// after the other, and each corruption is found for what it is, and nothing else.
func TestCorruption(t *testing.T) {
	t.Parallel()
	m := openMarket(t)
	w, err := writer.New(m.session, writer.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	modes := []*writer.Writer{w, w.With(writer.Logged()), w.With(writer.Concurrent())}
	user := gocql.MustRandomUUID()
	sold := make([]orders.Order, 12) // each was open, then paid, then shipped
	for i := range sold {
		w := modes[i%len(modes)]
		o := orders.New(user, inf.NewDec(int64(10*i+1), 0))
		o = m.write(w, tables.Insert, o, o)
		paid := o
		paid.Status, paid.Total = orders.Paid, inf.NewDec(int64(10*i+2), 0)
		paid = m.write(w, tables.Update, o, paid)
		shipped := paid
		shipped.Status, shipped.Total = orders.Shipped, nil
		if i%2 == 0 {
			shipped.Total = inf.NewDec(int64(10*i+3), 0)
		}
		sold[i] = m.write(w, tables.Update, paid, shipped)
	}
	gone := orders.New(user, inf.NewDec(7, 0))
	gone = m.write(w, tables.Insert, gone, gone)
	m.write(w, tables.Delete, gone, gone)
	if fresh, report := m.check(); len(fresh) > 0 {
		t.Fatal(report)
	} else {
		t.Log(report)
	}

	for i, c := range []struct {
		name    string
		corrupt func(o orders.Order)
		kind    history.Kind
		table   string // of the finding
	}{
		{"deleted from all tables", func(o orders.Order) {
			m.execute(`DELETE FROM orders_by_id USING TIMESTAMP ? WHERE order_id = ?`, o.UpdatedAt, o.OrderID)
			m.execute(`DELETE FROM orders_by_user USING TIMESTAMP ? WHERE user_id = ? AND order_id = ?`, o.UpdatedAt, user, o.OrderID)
			m.execute(`DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status = ? AND order_id = ?`,
				o.UpdatedAt, o.Status, o.OrderID)
		}, history.Lost, "orders_by_id"},
		{"an order that nobody created", func(o orders.Order) {
			m.put("orders_by_user", orders.New(user, inf.NewDec(7, 0)), o.UpdatedAt)
		}, history.Phantom, "orders_by_user"},
		{"a value that nobody wrote", func(o orders.Order) { // at one WRITETIME the greater value stays
			m.execute(`UPDATE orders_by_id USING TIMESTAMP ? SET total = 100 WHERE order_id = ?`, o.UpdatedAt, o.OrderID)
		}, history.Phantom, "orders_by_id"},
		{"left under its former status", func(o orders.Order) {
			o.Status = orders.Paid
			o.Total = inf.NewDec(10*3+2, 0)
			m.put("orders_by_status", o, o.UpdatedAt+1)
		}, history.Ghost, "orders_by_status"},
		{"deleted from one table", func(o orders.Order) {
			m.execute(`DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status = ? AND order_id = ?`,
				o.UpdatedAt, o.Status, o.OrderID)
		}, history.Missing, "orders_by_status"},
		{"an older value in one table", func(o orders.Order) { // its last total is null, which a value at the same time replaces
			m.execute(`UPDATE orders_by_user USING TIMESTAMP ? SET total = ? WHERE user_id = ? AND order_id = ?`,
				o.UpdatedAt+1, inf.NewDec(10*5+2, 0), user, o.OrderID)
		}, history.Differing, "orders_by_user"},
		{"reported not applied", func(o orders.Order) {
			next := o
			next.Status = orders.Cancelled
			m.extra = append(m.extra, history.Write[orders.Order]{
				By: "nobody", Kind: tables.Update, Row: next, Timestamp: o.UpdatedAt + 1, Outcome: writer.NotApplied,
			})
			next.UpdatedAt++
			for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
				m.put(table, next, next.UpdatedAt)
			}
			m.execute(`DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status = ? AND order_id = ?`,
				next.UpdatedAt, o.Status, o.OrderID)
		}, history.Unsound, "orders_by_id"},
		{"reported applied to a table", func(o orders.Order) {
			m.extra = append(m.extra, history.Write[orders.Order]{
				By: "nobody", Kind: tables.Update, Row: o, Timestamp: o.UpdatedAt + 1, Tables: map[string]writer.Outcome{
					"orders_by_user": writer.Applied,
				},
			})
		}, history.Unsound, "orders_by_id"},
		{"a value written again, later", func(o orders.Order) {
			m.execute(`UPDATE orders_by_user USING TIMESTAMP ? SET total = ? WHERE user_id = ? AND order_id = ?`,
				o.UpdatedAt+1, o.Total, user, o.OrderID)
		}, history.Unequal, "orders_by_user"},
		{
			"a row written again, later", func(o orders.Order) { m.put("orders_by_status", o, o.UpdatedAt+1) },
			history.Unequal, "orders_by_status",
		},
		{"a row deleted and written again by its former write", func(o orders.Order) {
			m.execute(`DELETE FROM orders_by_user USING TIMESTAMP ? WHERE user_id = ? AND order_id = ?`, o.UpdatedAt, user, o.OrderID)
			o.Status, o.Total = orders.Paid, inf.NewDec(10*10+2, 0)
			m.put("orders_by_user", o, o.UpdatedAt+1)
		}, history.Differing, "orders_by_user"},
	} {
		o := sold[i]
		c.corrupt(o)
		fresh, _ := m.check()
		if len(fresh) != 1 || fresh[0].Kind != c.kind || fresh[0].Table != c.table {
			t.Errorf("%s: want one finding of kind %s in %s, got %d:", c.name, c.kind, c.table, len(fresh))
		}
		for _, f := range fresh {
			if c.name != "an order that nobody created" && !strings.Contains(f.Key, fmt.Sprint(o.OrderID)) {
				t.Errorf("%s: the finding is of another order", c.name)
			}
			t.Logf("%s:\n\t%v", c.name, f)
		}
	}
}

func (m *market) put(table string, o orders.Order, at int64) {
	m.Helper()
	m.execute(`INSERT INTO `+table+` (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?`,
		o.OrderID, o.UserID, o.Status, o.Total, o.UpdatedAt, at)
}

// A cluster that has no rest is no cluster to read from.
func TestQuiesceGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := history.Quiesce(ctx, append(cluster.Hosts(t), "127.0.0.1:1"), time.Now(), nil)
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1: it does not answer CQL") {
		t.Errorf("error %v, want the host that does not answer", err)
	}
}
