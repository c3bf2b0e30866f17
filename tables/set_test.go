package tables_test

import (
	"testing"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

type Status string

const (
	Open      Status = "open"
	Paid      Status = "paid"
	Shipped   Status = "shipped"
	Cancelled Status = "cancelled"
)

type Order struct {
	OrderID   gocql.UUID
	UserID    gocql.UUID
	Status    Status
	Total     *inf.Dec
	UpdatedAt int64
}

func orders(tb testing.TB, more ...tables.Option) *tables.Set[Order] {
	tb.Helper()
	s, err := tables.New[Order]("order", append([]tables.Option{
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.OneOf("status", Open, Paid, Shipped, Cancelled),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	}, more...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func order() Order {
	return Order{
		OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open, Total: inf.NewDec(1995, 2), UpdatedAt: now - 5,
	}
}

func BenchmarkRenderInsert(b *testing.B) {
	s, o := orders(b), order()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Insert(o).Internal().Render(1000, nil); err != nil {
			b.Fatal(err)
		}
	}
}
