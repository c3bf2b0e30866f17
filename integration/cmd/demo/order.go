package main

import (
	"context"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/explain"
)

// newOrder is an open order of a new user.
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

// showOrder follows one order through a change of its status, and prints what that change sends.
func showOrder(ctx context.Context, out *screen, s *shop) error {
	out.heading("One order, three tables", "The status is in the key of orders_by_status, so a change of status moves the row there. "+
		"WRITETIME is Cassandra's timestamp of a row: all tables have the same one.")
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
	text, err := explain.Write(s.w, "payOrder", orders.Orders.Update(o, paid))
	if err != nil {
		return err
	}
	out.code(`explain.Write(w, "payOrder", Orders.Update(order, paid))   // sends nothing`)
	out.blank()
	out.say("%s", text)
	out.blank()
	out.ok("orders_by_status has one row of the order, under paid. It was looked for under all %d statuses.", len(orders.Statuses))
	return nil
}
