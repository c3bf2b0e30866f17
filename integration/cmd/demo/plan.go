package main

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

// showPlans prints what the two writes of the demo send.
func showPlans(_ context.Context, out *screen, s *shop) error {
	out.heading("The plan of each write", "Explain sends nothing. It says which requests would go out, what is atomic, "+
		"what a reader may see meanwhile, and what the limits are.")
	o := newOrder()
	written := o
	written.UpdatedAt = time.Now().UnixMicro() // as Result.Timestamp of createOrder
	for i, write := range []struct {
		op     string
		change tables.Change
	}{
		{"createOrder", orders.Orders.Insert(o)},
		{"payOrder", orders.Orders.Update(written, withStatus(written, orders.Paid))},
	} {
		plan, err := s.w.Explain(write.op, write.change)
		if err != nil {
			return err
		}
		if i > 0 {
			out.blank()
		}
		out.code(`w.Explain(%q, ...)`, write.op)
		out.blank()
		out.text(plan.String())
	}
	return nil
}
