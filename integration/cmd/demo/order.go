package main

import (
	"context"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/writer"
)

// newOrder is an open order of a user of its own.
func newOrder() orders.Order { return orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)) }

// createOrder makes an order and writes it. The order has its stamp then.
func createOrder(ctx context.Context, w *writer.Writer) (orders.Order, error) {
	o := newOrder()
	res, err := w.Write(ctx, "createOrder", orders.Orders.Insert(o))
	o.UpdatedAt = res.Timestamp
	return o, err
}

// withStatus is the order in another status.
func withStatus(o orders.Order, status orders.Status) orders.Order {
	o.Status = status
	return o
}

// showOrder follows one order through a change of its status.
func showOrder(ctx context.Context, out *screen, s *shop) error {
	out.heading("One order, three tables", "The status is part of a key of orders_by_status, so a change of status "+
		"moves the row there. WRITETIME is Cassandra's own timestamp of a row: it is the same in all tables.")
	o, err := createOrder(ctx, s.w)
	if err != nil {
		return err
	}
	out.code(`w.Write(ctx, "createOrder", Orders.Insert(order))`)
	if err := s.view.show(ctx, out, o); err != nil {
		return err
	}
	out.code(`writer.Modify(ctx, w, "payOrder", Orders, order, pay)   // reads the order, changes it, writes it`)
	paid, err := writer.Modify(ctx, s.w, "payOrder", orders.Orders, o, func(o orders.Order) (orders.Order, error) {
		return withStatus(o, orders.Paid), nil
	})
	if err != nil {
		return err
	}
	if err := s.view.show(ctx, out, paid); err != nil {
		return err
	}
	out.ok("One row in orders_by_status, under paid; looked for under all %d statuses.", len(orders.Statuses))
	return nil
}
