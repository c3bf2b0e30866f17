package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/tables"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// Orders is a place with the tables of orders.
type Orders struct{ *Place }

// OpenOrders makes a keyspace with them.
func OpenOrders(t *testing.T, c Cassandra) Orders {
	t.Helper()
	return Orders{c.open(t, orders.Schema, noteTables...)}
}

type orderTests struct {
	Orders
	bucketed Orders
}

// orderRows is what the three tables hold of one order: by table, the WRITETIME of every row, and the rows as text.
type orderRows struct {
	writetimes map[string][]int64
	texts      map[string][]string
}

// find looks for the order in every place it could stand in, at ALL, so that what no replica has is seen as missing.
func (s Orders) find(t *testing.T, o orders.Order) orderRows {
	t.Helper()
	r := orderRows{map[string][]int64{}, map[string][]string{}}
	scan := func(table, where string, args ...any) {
		iter := s.Session.Reads().Query(fmt.Sprintf(`SELECT order_id, user_id, status, total, updated_at, WRITETIME(updated_at) FROM %s
			WHERE %s`, table, where), args...).Consistency(gocql.All).Iter()
		var got orders.Order
		var at int64
		for iter.Scan(&got.OrderID, &got.UserID, &got.Status, &got.Total, &got.UpdatedAt, &at) {
			r.writetimes[table] = append(r.writetimes[table], at)
			r.texts[table] = append(r.texts[table], orderText(got))
			got = orders.Order{}
		}
		must(t, iter.Close())
	}
	scan("orders_by_id", "order_id = ?", o.OrderID)
	scan("orders_by_user", "user_id = ? AND order_id = ?", o.UserID, o.OrderID)
	for _, status := range orders.Statuses {
		scan("orders_by_status", "status = ? AND order_id = ?", status, o.OrderID)
	}
	return r
}

func orderText(o orders.Order) string {
	return fmt.Sprint(o.OrderID, o.UserID, o.Status, o.Total, o.UpdatedAt)
}

func sameOrder(a, b orders.Order) bool { return orderText(a) == orderText(b) }

var orderTables = []string{"orders_by_id", "orders_by_user", "orders_by_status"}

// WantEverywhere checks that each table holds exactly the row o, written at its stamp.
func (s Orders) WantEverywhere(t *testing.T, o orders.Order) {
	t.Helper()
	r := s.find(t, o)
	for _, table := range orderTables {
		if len(r.texts[table]) != 1 {
			t.Errorf("%s has %d rows of the order, want 1: %v", table, len(r.texts[table]), r.texts[table])
			continue
		}
		got, want := r.texts[table][0], orderText(o)
		wrong(t, got != want, "%s has\n\t%s, want\n\t%s", table, got, want)
		at := r.writetimes[table][0]
		wrong(t, at != o.UpdatedAt, "%s was written at %d, want %d as in the other tables", table, at, o.UpdatedAt)
	}
}

func (s Orders) wantNowhere(t *testing.T, o orders.Order) {
	t.Helper()
	for table, texts := range s.find(t, o).texts {
		t.Errorf("%s still has %v", table, texts)
	}
}

// modes are all ways to write an order.
func orderModes(w *writer.Writer) map[string]*writer.Writer {
	return map[string]*writer.Writer{
		"auto": w, "logged": w.With(writer.Logged()), "concurrent": w.With(writer.Concurrent()),
		"grouped": w.With(writer.Concurrent(), writer.Group(4<<10)),
	}
}

// queries are those of the example.
func (s Orders) queries() orders.Reader { return orders.NewReader(s.Session.Reads()) }

// lossy is a writer that loses replies as the dialer says.
func (s Orders) lossy(t *testing.T, options ...writer.NewOption) (*faulty.Dialer, *writer.Writer) {
	t.Helper()
	dialer := new(faulty.Dialer)
	return dialer, NewWriter(t, s.Faulty(t, dialer), append([]writer.NewOption{writer.Timeout(20 * time.Second)}, options...)...)
}

// try carries out a write of which only the error matters.
func try(ctx context.Context, w *writer.Writer, changes ...tables.Change) error {
	_, err := w.Write(ctx, "test", changes...)
	return err
}

func createOrder(t *testing.T, w *writer.Writer) orders.Order {
	t.Helper()
	o := shop.NewOrder()
	res, err := w.Write(context.Background(), "createOrder", orders.Orders.Insert(o))
	must(t, err)
	o.UpdatedAt = res.Timestamp
	return o
}

func (s orderTests) CreateOrder(t *testing.T) {
	want := map[string]writer.Mode{"auto": writer.FanOut, "logged": writer.LoggedBatch, "concurrent": writer.FanOut, "grouped": writer.FanOut}
	for name, w := range orderModes(s.Writer) {
		t.Run(name, func(t *testing.T) {
			o := shop.NewOrder()
			res := Write(t, w, "createOrder", orders.Orders.Insert(o))
			wrong(t, res.Mode != want[name], "mode %v, want %v", res.Mode, want[name])
			o.UpdatedAt = res.Timestamp
			s.WantEverywhere(t, o)
			s.wantQueries(t, o)
		})
	}
}

// wantQueries checks that the three queries find the order.
func (s Orders) wantQueries(t *testing.T, o orders.Order) {
	t.Helper()
	byID, err := s.queries().ByID(t.Context(), o.OrderID)
	wrong(t, err != nil || orderText(byID) != orderText(o), "by id: %v, %v, want %v", orderText(byID), err, orderText(o))
	byUser, err := s.queries().ByUser(t.Context(), o.UserID, 10)
	wrong(t, err != nil || len(byUser) != 1 || orderText(byUser[0]) != orderText(o), "by user: %v, %v, want %v", byUser, err, orderText(o))
	byStatus, err := s.queries().ByStatus(t.Context(), o.Status, 1000)
	wrong(t, err != nil || !slices.ContainsFunc(byStatus, func(x orders.Order) bool { return orderText(x) == orderText(o) }),
		"by status: %d orders without %v, %v", len(byStatus), orderText(o), err)
}

func (s orderTests) ListsNewestFirst(t *testing.T) {
	user := gocql.MustRandomUUID()
	var ids []gocql.UUID
	for range 5 {
		o := orders.New(user, nil)
		Write(t, s.Writer, "createOrder", orders.Orders.Insert(o))
		ids = append([]gocql.UUID{o.OrderID}, ids...)
	}
	list, err := s.queries().ByUser(t.Context(), user, 3)
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for i := range list {
		wrong(t, list[i].OrderID != ids[i] || list[i].Total != nil, "order %d is %v, want %v without a total", i, list[i], ids[i])
	}
}

// A status change leaves exactly one row among all statuses, whatever the way there.
func (s orderTests) ChangeStatus(t *testing.T) {
	want := map[string]writer.Mode{"auto": writer.LoggedBatch, "logged": writer.LoggedBatch, "concurrent": writer.FanOut, "grouped": writer.FanOut}
	for name, w := range orderModes(s.Writer) {
		t.Run(name, func(t *testing.T) {
			o := createOrder(t, w)
			for _, status := range []orders.Status{orders.Paid, orders.Open, orders.Shipped, orders.Shipped, orders.Cancelled} {
				next := o
				next.Status = status
				res := Write(t, w, "changeStatus", orders.Orders.Update(o, next))
				wrong(t, res.Mode != want[name], "mode %v, want %v", res.Mode, want[name])
				wrong(t, res.Timestamp <= o.UpdatedAt, "timestamp %d does not follow the stamp %d", res.Timestamp, o.UpdatedAt)
				next.UpdatedAt = res.Timestamp
				s.WantEverywhere(t, next)
				o = next
			}
			s.wantQueries(t, o)
		})
	}
}

// An update also removes what the row had and the new one has not.
func (s orderTests) UpdateClearsAbsentValues(t *testing.T) {
	o := createOrder(t, s.Writer)
	next := o
	next.Total = nil
	res := Write(t, s.Writer, "dropTotal", orders.Orders.Update(o, next))
	next.UpdatedAt = res.Timestamp
	s.WantEverywhere(t, next)
}

func (s orderTests) Cancel(t *testing.T) {
	for name, w := range orderModes(s.Writer) {
		t.Run(name, func(t *testing.T) {
			o := createOrder(t, w)
			// The before-image is out of date: somebody else has paid meanwhile. Nothing of the order may stay.
			paid := o
			paid.Status = orders.Paid
			Write(t, w, "payOrder", orders.Orders.Update(o, paid))
			Write(t, w, "cancelOrder", orders.Orders.Delete(o))
			s.wantNowhere(t, o)
			wantError(t, "by id", errorOf(s.queries().ByID(t.Context(), o.OrderID)), gocql.ErrNotFound)
		})
	}
}

// The server applies a write and its reply is lost: the next attempt sends the same at the same timestamp, and nobody
// can tell that there were two.
func (s orderTests) RetriesKeepTheTimestamp(t *testing.T) {
	dialer, lossy := s.lossy(t)
	for name, w := range orderModes(lossy) {
		t.Run(name, func(t *testing.T) {
			createOrder(t, w) // statements are prepared now, so that the lost replies are those of writes
			before := shop.NewOrder()
			dialer.LoseReplies(1)
			res := Write(t, w, "createOrder", orders.Orders.Insert(before))
			wrong(t, dialer.Left() != 0, "no reply was lost")
			wrong(t, res.Attempts <= res.Requests, "%d attempts for %d requests: nothing was retried", res.Attempts, res.Requests)
			before.UpdatedAt = res.Timestamp
			s.WantEverywhere(t, before)
		})
	}
}

// What may have happened is not reported as not happened, and Resume makes it whole.
func (s orderTests) LostReplyIsUnknownUntilResumed(t *testing.T) {
	dialer, lossy := s.lossy(t, writer.Retry(retry.Policy{MaxAttempts: 1}))
	for name, w := range orderModes(lossy) {
		t.Run(name, func(t *testing.T) {
			createOrder(t, w.With(writer.Retry(retry.Policy{})))
			o := shop.NewOrder()
			dialer.LoseReplies(1)
			res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
			failed := failedOf(t, err)
			wrong(t, !errors.Is(err, writer.ErrUnknown) || failed.NotApplied(), "error %v, want ErrUnknown", err)
			wrong(t, res.Timestamp == 0 || failed.Timestamp != res.Timestamp, "timestamps %d and %d, want the same", res.Timestamp, failed.Timestamp)
			res, err = w.With(writer.Retry(retry.Policy{})).Resume(t.Context(), failed)
			must(t, err)
			o.UpdatedAt = failed.Timestamp
			wrong(t, res.Timestamp != failed.Timestamp, "resumed at %d, want %d", res.Timestamp, failed.Timestamp)
			s.WantEverywhere(t, o)
		})
	}
}

func (s orderTests) BadInputSendsNothing(t *testing.T) {
	o := createOrder(t, s.Writer)
	other, user, lost := o, o, o
	other.OrderID, user.UserID, lost.Status = gocql.TimeUUID(), gocql.MustRandomUUID(), "lost"
	random := shop.NewOrder()
	random.OrderID = gocql.MustRandomUUID() // not a timeuuid
	for name, changes := range map[string][]tables.Change{
		"zero id":         {orders.Orders.Insert(orders.Order{Status: "open"})},
		"not a timeuuid":  {orders.Orders.Insert(random)},
		"unknown status":  {orders.Orders.Update(o, lost)},
		"another id":      {orders.Orders.Update(o, other)},
		"another user":    {orders.Orders.Update(o, user)},
		"blind upsert":    {orders.Orders.Upsert(o)},
		"one order twice": {orders.Orders.Update(o, o), orders.Orders.Delete(o)},
	} {
		wantInvalid(t, s.Writer, name, changes...)
	}
	s.WantEverywhere(t, o)
	s.wantNowhere(t, other)
}
