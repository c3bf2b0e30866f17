package orders_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/faulty"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// shop is a keyspace with the tables of orders, and a writer on it.
type shop struct {
	keyspace string
	session  *session.Session
	read     *gocql.Session // of session
	dialer   *faulty.Dialer // of its writes
	w        *writer.Writer
	orders   orders.Reader
}

func open(t *testing.T, schema []string, options ...writer.NewOption) *shop {
	t.Helper()
	cluster.Need(t, 3)
	s := &shop{keyspace: cluster.Keyspace(t, 3), dialer: &faulty.Dialer{}}
	s.read = cluster.Session(t, s.keyspace, func(c *gocql.ClusterConfig) { session.Configure(c, "") })
	cluster.ChangeSchema(t, s.keyspace, schema...)
	s.session = testsession.New(t, cluster.Session(t, s.keyspace, func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.Dialer = s.dialer
	}), s.read)
	w, err := writer.New(s.session, append([]writer.NewOption{writer.Timeout(20 * time.Second)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	s.w, s.orders = w, orders.NewReader(s.read)
	return s
}

func newOrder() orders.Order { return orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)) }

// rows is what the three tables hold of one order: by table, the WRITETIME of every row, and the rows as text.
type rows struct {
	writetimes map[string][]int64
	texts      map[string][]string
}

// find looks for the order in every place it could stand in, at ALL, so that what no replica has is seen as missing.
func (s *shop) find(t *testing.T, o orders.Order) rows {
	t.Helper()
	r := rows{map[string][]int64{}, map[string][]string{}}
	scan := func(table, where string, args ...any) {
		iter := s.read.Query(fmt.Sprintf(`SELECT order_id, user_id, status, total, updated_at, WRITETIME(updated_at) FROM %s
			WHERE %s`, table, where), args...).Consistency(gocql.All).Iter()
		var got orders.Order
		var at int64
		for iter.Scan(&got.OrderID, &got.UserID, &got.Status, &got.Total, &got.UpdatedAt, &at) {
			r.writetimes[table] = append(r.writetimes[table], at)
			r.texts[table] = append(r.texts[table], text(got))
			got = orders.Order{}
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
	}
	scan("orders_by_id", "order_id = ?", o.OrderID)
	scan("orders_by_user", "user_id = ? AND order_id = ?", o.UserID, o.OrderID)
	for _, status := range orders.Statuses {
		scan("orders_by_status", "status = ? AND order_id = ?", status, o.OrderID)
	}
	return r
}

func text(o orders.Order) string {
	return fmt.Sprint(o.OrderID, o.UserID, o.Status, o.Total, o.UpdatedAt)
}

var tableNames = []string{"orders_by_id", "orders_by_user", "orders_by_status"}

// wantEverywhere checks that each table holds exactly the row o, written at its stamp.
func (s *shop) wantEverywhere(t *testing.T, o orders.Order) {
	t.Helper()
	r := s.find(t, o)
	for _, table := range tableNames {
		if len(r.texts[table]) != 1 {
			t.Errorf("%s has %d rows of the order, want 1: %v", table, len(r.texts[table]), r.texts[table])
			continue
		}
		if got, want := r.texts[table][0], text(o); got != want {
			t.Errorf("%s has\n\t%s, want\n\t%s", table, got, want)
		}
		if at := r.writetimes[table][0]; at != o.UpdatedAt {
			t.Errorf("%s was written at %d, want %d as in the other tables", table, at, o.UpdatedAt)
		}
	}
}

func (s *shop) wantNowhere(t *testing.T, o orders.Order) {
	t.Helper()
	for table, texts := range s.find(t, o).texts {
		t.Errorf("%s still has %v", table, texts)
	}
}

// modes are all ways to write an order.
func modes(w *writer.Writer) map[string]*writer.Writer {
	return map[string]*writer.Writer{
		"auto": w, "logged": w.With(writer.Logged()), "concurrent": w.With(writer.Concurrent()),
	}
}

func create(t *testing.T, w *writer.Writer) orders.Order {
	t.Helper()
	o := newOrder()
	res, err := w.Write(context.Background(), "createOrder", orders.Orders.Insert(o))
	if err != nil {
		t.Fatal(err)
	}
	o.UpdatedAt = res.Timestamp
	return o
}

func TestMain(m *testing.M) {
	if os.Getenv(resumeEnv) != "" {
		os.Exit(resumeInThisProcess())
	}
	os.Exit(m.Run())
}
