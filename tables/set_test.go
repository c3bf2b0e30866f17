package tables_test

import (
	"testing"

	example "github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/denorm-go/denorm/tables"
)

type (
	Status = example.Status
	Order  = example.Order // stands in three tables, one of them by a status that changes
)

const (
	Open      = example.Open
	Paid      = example.Paid
	Shipped   = example.Shipped
	Cancelled = example.Cancelled
)

func orders(tb testing.TB, more ...tables.Option) *tables.Set[Order] {
	tb.Helper()
	return shop.Orders(more...)
}

func order() Order {
	o := shop.NewOrder()
	o.UpdatedAt = now - 5
	return o
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
