package suite

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/ordersplit"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/writer"
)

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
