package suite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/ordersplit"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Orders is a place with the tables of orders.
type Orders struct{ *Place }

// OpenOrders makes a keyspace with them.
func OpenOrders(t *testing.T, c Cassandra) Orders {
	t.Helper()
	return Orders{c.open(t, schema.Add(orders.Schema, schemaOf(notes)))}
}

type orderTests struct {
	Orders
	bucketed Orders
}

// find looks for the order in every place it could stand in, at ALL, so that what no replica has is seen as missing. It
// gives the rows of each table, with their WRITETIME.
func (s Orders) find(t *testing.T, o orders.Order) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	scan := func(table, where string, args ...any) {
		query := s.Session.Reads().Query(fmt.Sprintf(`SELECT order_id, user_id, status, total, updated_at,
			WRITETIME(updated_at) AS at FROM %s WHERE %s`, table, where), args...).Consistency(gocql.All)
		for _, row := range value(rowsOf[struct {
			orders.Order
			At int64
		}](query))(t) {
			found[table] = append(found[table], writtenAt(row.Order, row.At))
		}
	}
	scan("orders_by_id", "order_id = ?", o.OrderID)
	scan("orders_by_user", "user_id = ? AND order_id = ?", o.UserID, o.OrderID)
	for _, status := range orders.Statuses {
		scan("orders_by_status", "status = ? AND order_id = ?", status, o.OrderID)
	}
	return found
}

func writtenAt(o orders.Order, at int64) string { return fmt.Sprint(orderText(o), " written at ", at) }

func orderText(o orders.Order) string {
	return fmt.Sprint(o.OrderID, o.UserID, o.Status, o.Total, o.UpdatedAt)
}

func sameOrder(a, b orders.Order) bool { return orderText(a) == orderText(b) }

// WantEverywhere checks that each table holds exactly the row o, written at its stamp.
func (s Orders) WantEverywhere(t *testing.T, o orders.Order) {
	t.Helper()
	found := s.find(t, o)
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		wantRows(t, table, found[table], []string{writtenAt(o, o.UpdatedAt)})
	}
}

func (s Orders) wantNowhere(t *testing.T, o orders.Order) {
	t.Helper()
	for table, rows := range s.find(t, o) {
		t.Errorf("%s still has %v", table, rows)
	}
}

// orderMode is a way to write an order, and the modes of its insert and its update.
type orderMode struct {
	*writer.Writer
	insert, update writer.Mode
}

// inModes runs a subtest for each of them.
func inModes(t *testing.T, w *writer.Writer, test func(t *testing.T, w orderMode)) {
	t.Helper()
	concurrent := w.With(writer.Concurrent())
	for name, mode := range map[string]orderMode{
		"auto":       {w, writer.FanOut, writer.LoggedBatch},
		"logged":     {w.With(writer.Logged()), writer.LoggedBatch, writer.LoggedBatch},
		"concurrent": {concurrent, writer.FanOut, writer.FanOut},
		"grouped":    {concurrent.With(writer.Group(4 << 10)), writer.FanOut, writer.FanOut},
	} {
		t.Run(name, func(t *testing.T) { test(t, mode) })
	}
}

// queries are those of the example.
func (s Orders) queries() orders.Reader { return orders.NewReader(s.Session.Reads()) }

// try carries out a write of which only the error matters.
func try(ctx context.Context, w *writer.Writer, changes ...tables.Change) error {
	_, err := w.Write(ctx, "test", changes...)
	return err
}

func createOrder(t *testing.T, w *writer.Writer) orders.Order {
	t.Helper()
	o := shop.NewOrder()
	o.UpdatedAt = value(w.Write(context.Background(), "createOrder", orders.Orders.Insert(o)))(t).Timestamp
	return o
}

func (s orderTests) CreateOrder(t *testing.T) {
	inModes(t, s.Writer, func(t *testing.T, w orderMode) {
		o := shop.NewOrder()
		res := Write(t, w.Writer, "createOrder", orders.Orders.Insert(o))
		wrong(t, res.Mode != w.insert, "mode %v, want %v", res.Mode, w.insert)
		o.UpdatedAt = res.Timestamp
		s.WantEverywhere(t, o)
		s.wantQueries(t, o)
	})
}

// wantQueries checks that the three queries find the order.
func (s Orders) wantQueries(t *testing.T, o orders.Order) {
	t.Helper()
	byID := value(s.queries().ByID(t.Context(), o.OrderID))(t)
	wrong(t, !sameOrder(byID, o), "by id: %v, want %v", orderText(byID), orderText(o))
	byUser := value(s.queries().ByUser(t.Context(), o.UserID, 10))(t)
	wantRows(t, "by user", each(byUser, orderText), []string{orderText(o)})
	byStatus := value(s.queries().ByStatus(t.Context(), o.Status, 1000))(t)
	wrong(t, !slices.Contains(each(byStatus, orderText), orderText(o)), "by status: %d orders without %v", len(byStatus),
		orderText(o))
}

func (s orderTests) ListsNewestFirst(t *testing.T) {
	user := gocql.MustRandomUUID()
	var ids []gocql.UUID
	for range 5 {
		o := orders.New(user, nil)
		Write(t, s.Writer, "createOrder", orders.Orders.Insert(o))
		ids = append([]gocql.UUID{o.OrderID}, ids...)
	}
	list := value(s.queries().ByUser(t.Context(), user, 3))(t)
	wantRows(t, "the newest", each(list, func(o orders.Order) gocql.UUID { return o.OrderID }), ids[:3])
	wrong(t, slices.ContainsFunc(list, func(o orders.Order) bool { return o.Total != nil }), "a total in %v", list)
}

// A status change leaves exactly one row among all statuses, whatever the way there.
func (s orderTests) ChangeStatus(t *testing.T) {
	inModes(t, s.Writer, func(t *testing.T, w orderMode) {
		o := createOrder(t, w.Writer)
		for _, status := range []orders.Status{orders.Paid, orders.Open, orders.Shipped, orders.Shipped, orders.Cancelled} {
			next := o
			next.Status = status
			res := Write(t, w.Writer, "changeStatus", orders.Orders.Update(o, next))
			wrong(t, res.Mode != w.update, "mode %v, want %v", res.Mode, w.update)
			wrong(t, res.Timestamp <= o.UpdatedAt, "timestamp %d does not follow the stamp %d", res.Timestamp, o.UpdatedAt)
			next.UpdatedAt = res.Timestamp
			s.WantEverywhere(t, next)
			o = next
		}
		s.wantQueries(t, o)
	})
}

// An update also removes what the row had and the new one has not.
func (s orderTests) UpdateClearsAbsentValues(t *testing.T) {
	o := createOrder(t, s.Writer)
	next := o
	next.Total = nil
	next.UpdatedAt = Write(t, s.Writer, "dropTotal", orders.Orders.Update(o, next)).Timestamp
	s.WantEverywhere(t, next)
}

func (s orderTests) Cancel(t *testing.T) {
	inModes(t, s.Writer, func(t *testing.T, w orderMode) {
		o := createOrder(t, w.Writer)
		// The before-image is out of date: somebody else has paid meanwhile. Nothing of the order may stay.
		paid := o
		paid.Status = orders.Paid
		Write(t, w.Writer, "payOrder", orders.Orders.Update(o, paid))
		Write(t, w.Writer, "cancelOrder", orders.Orders.Delete(o))
		s.wantNowhere(t, o)
		wantError(t, "by id", errorOf(s.queries().ByID(t.Context(), o.OrderID)), gocql.ErrNotFound)
	})
}

// The server applies a write and its reply is lost: the next attempt sends the same at the same timestamp, and nobody
// can tell that there were two.
func (s orderTests) RetriesKeepTheTimestamp(t *testing.T) {
	lossy, dialer := s.lossy(t)
	inModes(t, lossy, func(t *testing.T, w orderMode) {
		createOrder(t, w.Writer) // statements are prepared now, so that the lost replies are those of writes
		before := shop.NewOrder()
		dialer.LoseReplies(1)
		res := Write(t, w.Writer, "createOrder", orders.Orders.Insert(before))
		wrong(t, dialer.Left() != 0, "no reply was lost")
		wrong(t, res.Attempts <= res.Requests, "%d attempts for %d requests: nothing was retried", res.Attempts,
			res.Requests)
		before.UpdatedAt = res.Timestamp
		s.WantEverywhere(t, before)
	})
}

// What may have happened is not reported as not happened, and Resume makes it whole.
func (s orderTests) LostReplyIsUnknownUntilResumed(t *testing.T) {
	lossy, dialer := s.lossy(t, writer.Retry(retry.Policy{MaxAttempts: 1}))
	inModes(t, lossy, func(t *testing.T, w orderMode) {
		createOrder(t, w.With(writer.Retry(retry.Policy{})))
		o := shop.NewOrder()
		dialer.LoseReplies(1)
		res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
		failed := failedOf(t, err)
		wrong(t, !errors.Is(err, writer.ErrUnknown) || failed.NotApplied(), "error %v, want ErrUnknown", err)
		wrong(t, res.Timestamp == 0 || failed.Timestamp != res.Timestamp, "timestamps %d and %d, want the same",
			res.Timestamp, failed.Timestamp)
		res = value(w.With(writer.Retry(retry.Policy{})).Resume(t.Context(), failed))(t)
		o.UpdatedAt = failed.Timestamp
		wrong(t, res.Timestamp != failed.Timestamp, "resumed at %d, want %d", res.Timestamp, failed.Timestamp)
		s.WantEverywhere(t, o)
	})
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

func (s orderTests) Modify(t *testing.T) {
	o := createOrder(t, s.Writer)
	key := orders.Order{OrderID: o.OrderID}
	paid := value(writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, key, pay))(t)
	wrong(t, paid.Status != orders.Paid || paid.UserID != o.UserID || paid.UpdatedAt <= o.UpdatedAt,
		"modified to %+v, from %+v", paid, o)
	s.WantEverywhere(t, paid)

	no := errors.New("no")
	refuse := func(o orders.Order) (orders.Order, error) { return o, no }
	for what, test := range map[string]struct {
		key    orders.Order
		change func(orders.Order) (orders.Order, error)
		want   error
	}{
		"an order that is not there": {shop.NewOrder(), pay, writer.ErrNotFound},
		"no key":                     {orders.Order{}, pay, writer.ErrInvalid},
		"the caller's own error":     {o, refuse, no},
	} {
		_, err := writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, test.key, test.change)
		wantError(t, what, err, test.want)
	}
	s.WantEverywhere(t, paid)
}

// pay is a change for Modify.
func pay(o orders.Order) (orders.Order, error) { o.Status = orders.Paid; return o, nil }

// The batchlog drops batches with a table that keeps deletes for no time, so such a table is in none. Validate names
// everything that differs at once: a table of another shape, one that is missing, one that batches must not touch.
func (s orderTests) Check(t *testing.T) {
	must(t, schema.Validate(t.Context(), s.Session, schema.Sets(orders.Orders)))
	s.Place = s.Open(t, 3, orders.Schema.Statements()...)
	t.Run("no logged batch without grace", s.noLoggedBatchWithoutGrace)
	s.ChangeSchema(t, s.Keyspace,
		`ALTER TABLE orders_by_id WITH gc_grace_seconds = 0`,
		`ALTER TABLE orders_by_id DROP total`,
		`ALTER TABLE orders_by_id ADD note text`, // not declared, and no matter
		`DROP TABLE orders_by_user`,
		`DROP TABLE orders_by_status`,
		`CREATE TABLE orders_by_status (status text, region text, order_id timeuuid, user_id text, total decimal,
			updated_at bigint, PRIMARY KEY (status, region, order_id))`,
	)
	err := schema.Validate(t.Context(), s.Session, schema.Sets(orders.Orders))
	var check *schema.DifferenceError
	if !errors.As(err, &check) {
		t.Fatalf("%v, want a *schema.DifferenceError", err)
	}
	wantError(t, "the differences", err, err,
		"orders_by_id: gc_grace_seconds is 0", "orders_by_id: column total: does not exist", "orders_by_user: does not exist",
		"orders_by_status: column user_id: is text, declared uuid", "orders_by_status: column region: is a clustering column",
		"orders_by_status: column order_id: is clustering column 2, declared 1",
		"orders_by_status: column order_id: is clustered ascending, declared descending")
	wrong(t, len(check.Differences) != 7 || strings.Contains(err.Error(), "note"), "too much:\n%v", err)
}

func (s orderTests) noLoggedBatchWithoutGrace(t *testing.T) {
	o := createOrder(t, s.Writer)
	s.ChangeSchema(t, s.Keyspace, `ALTER TABLE orders_by_status WITH gc_grace_seconds = 0`)
	wantError(t, "no grace", try(t.Context(), s.Writer, orders.Orders.Delete(o)), writer.ErrInvalid, "orders_by_status")
	s.WantEverywhere(t, o)
	wantError(t, "write", try(t.Context(), s.Writer.With(writer.Concurrent()), orders.Orders.Delete(o)), nil)
}

// One writer serves tenants with a keyspace each, and none sees another's rows.
func (s orderTests) Keyspaces(t *testing.T) {
	tenant := s.MakeKeyspace(t, 3, orders.Schema.Statements()...)
	o := createOrder(t, s.Writer.With(writer.Session(s.Session.With(session.Keyspaces(map[string]string{"": tenant})))))
	s.wantNowhere(t, o)
	s.wantCount(t, 1, `SELECT count(*) FROM `+tenant+`.orders_by_id WHERE order_id = ?`, o.OrderID)
}

// The status table in buckets: a status change moves the row within its bucket, all buckets together have it once, and
// a list of a status has the orders of all buckets, newest first, page by page.
func (s orderTests) BucketedOrders(t *testing.T) {
	s.Place = s.bucketed.Place
	must(t, schema.Validate(t.Context(), s.Session, schema.Sets(orders.Bucketed)))
	var paid []string // newest first
	buckets := make(map[string]bool)
	start := time.Now()
	for i := range 20 {
		o := shop.NewOrder()
		o.OrderID = gocql.UUIDFromTime(start.Add(time.Duration(i) * time.Second))
		o.UpdatedAt = Write(t, s.Writer, "createOrder", orders.Bucketed.Insert(o)).Timestamp
		if i%4 == 0 {
			continue
		}
		next := o
		next.Status = orders.Paid
		Write(t, s.Writer, "payOrder", orders.Bucketed.Update(o, next))
		paid = append([]string{o.OrderID.String()}, paid...)
		found := s.placesOf(t, o.OrderID)
		wrong(t, len(found) != 1 || !strings.HasPrefix(found[0], "paid "), "a paid order stands under %v", found)
		buckets[fmt.Sprint(found)] = true
	}
	wrong(t, len(buckets) < 3, "15 orders in %d buckets", len(buckets))
	found, _ := pages(t, func(token reader.Token) ([]orders.Order, reader.Token, error) {
		return orders.BucketedByStatus(t.Context(), s.Reader, orders.Paid, 4, token)
	})
	wantRows(t, "paid", each(found, func(o orders.Order) string { return o.OrderID.String() }), paid)
}

// placesOf are the partitions of the bucketed status table in which an order stands.
func (s Orders) placesOf(t *testing.T, id gocql.UUID) (out []string) {
	t.Helper()
	for _, status := range orders.Statuses {
		for bucket := range orders.Buckets {
			if cell[int](t, s.Place, `SELECT count(*) FROM orders_by_status WHERE status = ? AND status_bucket = ? AND
				order_id = ?`, status, bucket, id) > 0 {
				out = append(out, fmt.Sprintf("%s in %d", status, bucket))
			}
		}
	}
	return out
}

type note struct {
	NoteID gocql.UUID
	Author string
	Text   string
}

var notes = tables.Must(tables.New[note]("note",
	tables.Table{Name: "notes", PartKey: []string{"note_id"}},
	tables.Table{Name: "notes_by_author", PartKey: []string{"author"}, SortKey: []string{"note_id"}},
))

// The server rejects batches above batch_size_fail_threshold. The library rejects them before, and what it lets through
// the server takes: its estimate is from above, and not by much.
func (s orderTests) BatchLimitIsTheServers(t *testing.T) {
	logged := s.Writer.With(writer.Logged())
	insert := func(size int) tables.Change {
		return notes.Insert(note{gocql.MustRandomUUID(), "anna", strings.Repeat("x", size)})
	}
	write := func(w *writer.Writer, size int) error {
		return try(context.WithoutCancel(t.Context()), w, insert(size))
	}
	largest := sort.Search(64<<10, func(size int) bool { // text that the library lets through
		return errorOf(logged.Internal().Explain("write", insert(size+1))) != nil
	})
	err := write(logged, largest)
	wrong(t, err != nil, "the server refuses what the library lets through, a text of %d bytes: %v", largest, err)
	wantError(t, "one byte more", write(logged, largest+1), writer.ErrTooLarge)
	unguarded := logged.With(writer.BatchLimit(1 << 30))
	if err := write(unguarded, largest*11/10); err == nil || errors.Is(err, writer.ErrInvalid) {
		t.Errorf("a text of 10 %% more, unguarded: %v, want the server's refusal; the estimate is too high", err)
	} else if failed := new(writer.Error); !errors.As(err, &failed) || !failed.NotApplied() {
		t.Errorf("the server's refusal is %v, want not applied", err)
	}
}

type orderSplitTests struct{ *Place }

func splitText(o ordersplit.Order) string {
	return fmt.Sprint(o.OrderID, o.CustomerID, o.SubmissionTime.UnixMilli(), o.Status, o.Products, o.Total)
}

// Each order is readable in each of the three ways, over more than one month, after updates and a delete.
func (p orderSplitTests) ThreeWays(t *testing.T) {
	customer, first := gocql.MustRandomUUID(), time.Date(2024, 1, 30, 12, 0, 0, 0, time.UTC)
	var orders []ordersplit.Order
	for i := range 6 { // the last two days of January, the first of February, and so on
		o := ordersplit.Order{
			OrderID: gocql.MustRandomUUID(), CustomerID: customer, SubmissionTime: first.Add(time.Duration(i) * 12 * time.Hour),
			Status: ordersplit.Submitted, Products: map[gocql.UUID]int32{{15: 1}: int32(i + 1)},
			Total: inf.NewDec(int64(i)*100+95, 2),
		}
		o.UpdatedAt = Write(t, p.Writer, "submitOrder", ordersplit.Orders.Insert(o)).Timestamp
		orders = append(orders, o)
	}
	delivered := orders[2]
	delivered.Status = ordersplit.Delivered
	Write(t, p.Writer, "deliverOrder", ordersplit.Orders.Update(orders[2], delivered))
	orders[2] = delivered
	Write(t, p.Writer, "cancelOrder", ordersplit.Orders.Delete(orders[1]))
	orders = slices.Delete(orders, 1, 2)
	slices.Reverse(orders)
	var every, submitted, light []string
	for _, o := range orders {
		every = append(every, splitText(o))
		if o.Status == ordersplit.Submitted {
			submitted = append(submitted, splitText(o))
		}
		o.Products, o.Total = nil, nil
		light = append(light, splitText(o))
	}

	wantOnly := func(what string, rows iter.Seq2[ordersplit.Order, error], want ...string) {
		t.Helper()
		wantRows(t, what, each(all(t, rows), splitText), want)
	}
	wantOnly("submitted", ordersplit.InStatus(t.Context(), p.Reader, customer, ordersplit.Submitted), submitted...)
	wantOnly("delivered", ordersplit.InStatus(t.Context(), p.Reader, customer, ordersplit.Delivered), splitText(delivered))
	wantOnly("by month", ordersplit.Between(t.Context(), p.Reader, customer, first, first.AddDate(0, 2, 0)), every...)
	list := value(ordersplit.List(t.Context(), p.Reader, customer, 10))(t)
	for i, o := range list {
		wrong(t, i >= len(light) || splitText(o) != light[i], "listed %d: %s", i, splitText(o))
		whole := value(ordersplit.WithAmounts(t.Context(), p.Reader, o))(t)
		wrong(t, fmt.Sprint(whole.Products, whole.Total) != fmt.Sprint(orders[i].Products, orders[i].Total),
			"amounts of order %d: %v, %v", i, whole.Products, whole.Total)
	}
	wrong(t, len(list) != len(light), "%d orders listed, want %d", len(list), len(light))
}

func (p orderSplitTests) BadInput(t *testing.T) {
	o := ordersplit.Order{OrderID: gocql.MustRandomUUID(), CustomerID: gocql.MustRandomUUID(), SubmissionTime: time.Now()}
	wantError(t, "no status", errorOf(p.Writer.Write(t.Context(), "submitOrder", ordersplit.Orders.Insert(o))),
		writer.ErrInvalid, "column status")
	o.Status = ordersplit.Submitted
	later := o
	later.SubmissionTime = o.SubmissionTime.AddDate(0, 1, 0)
	wantInvalid(t, p.Writer, "another time, and so another month", ordersplit.Orders.Update(o, later))
	q := reader.From(ordersplit.Orders, "orders_by_customer_status").Eq("customer_id", o.CustomerID)
	wantError(t, "no status", errorOfRead(reader.List(t.Context(), p.Reader, "orders", q)), reader.ErrInvalid,
		"column status: is missing")
}
