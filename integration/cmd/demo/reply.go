package main

import (
	"context"
	"fmt"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// showLostReply lets the server's answer to a write get lost, once without retries and once with them.
func showLostReply(ctx context.Context, out *screen, s *shop) error {
	out.heading("A reply is lost", "The server does the write, and the connection breaks before its answer arrives. The "+
		"library does not claim to know: the outcome is unknown. It may send the write again, because every attempt carries "+
		"the same timestamp.")
	w, dialer, err := s.lossy(ctx)
	if err != nil {
		return err
	}
	o, err := createOrder(ctx, w)
	if err != nil {
		return err
	}

	once := w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	out.code(`once := w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))`)
	out.code(`once.Write(ctx, "payOrder", Orders.Update(order, paid))   // its reply is lost`)
	paid := withStatus(o, orders.Paid)
	dialer.LoseReplies(1)
	res, err := once.Write(ctx, "payOrder", orders.Orders.Update(o, paid))
	failed, err := wantFailure(out, err, writer.ErrUnknown)
	if err != nil {
		return err
	}
	paid.UpdatedAt = res.Timestamp
	out.blank()
	out.say("What the server did, as reading shows:")
	if err := s.view.show(ctx, out, paid); err != nil {
		return err
	}
	if _, err = once.Resume(ctx, failed); err != nil {
		return err
	}
	out.code("once.Resume(ctx, failed)   // nil: sent again, and answered")
	out.blank()

	trace := new(recorder)
	shipped := withStatus(paid, orders.Shipped)
	dialer.LoseReplies(1)
	res, err = w.With(writer.Trace(trace)).Write(ctx, "shipOrder", orders.Orders.Update(paid, shipped))
	if err != nil {
		return err
	}
	if len(trace.retries) == 0 {
		return fmt.Errorf("shipOrder took %d attempts, though a reply was lost", res.Attempts)
	}
	out.code(`w.Write(ctx, "shipOrder", Orders.Update(paid, shipped))   // nil, in spite of the same fault`)
	for _, r := range trace.retries {
		out.say("  attempt %d: %s (%s), sent again after %s", r.Attempt, r.Verdict.Outcome, r.Verdict.Reason, milliseconds(r.Wait))
	}
	out.say("  attempt %d: acknowledged", res.Attempts)
	shipped.UpdatedAt = res.Timestamp
	if err := s.view.show(ctx, out, shipped); err != nil {
		return err
	}
	out.ok("Sent twice, and in the tables once: one row in each, at one timestamp.")
	return nil
}
