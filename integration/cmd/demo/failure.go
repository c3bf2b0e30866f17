package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/writer"
)

// showMissingTable lets one of the three tables reject a write, and finishes the write from stored bytes.
func showMissingTable(ctx context.Context, out *screen, s *shop) error {
	out.heading("One table fails", "The keyspace of a tenant lacks orders_by_user, because somebody forgot its migration. The error says "+
		"which tables have the order. It can be stored, and Resume finishes the write.")
	const forgotten = "orders_by_user"
	tenant := s.view.keyspace + "_tenant"
	in, err := s.create(ctx, tenant)
	if err != nil {
		return err
	}
	if err := in.Writes().Query("DROP TABLE " + tenant + "." + forgotten).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("drop %s: %w", forgotten, err)
	}
	w := s.w.With(writer.Session(in))
	out.code(`tenant := w.With(writer.Session(s.With(session.Keyspaces(map[string]string{"": "tenant"}))))`)
	out.code(`_, err := tenant.Write(ctx, "createOrder", Orders.Insert(order))`)
	o, err := createOrder(ctx, w)
	failed, err := wantFailure(out, err, "writer.ErrPartial", writer.ErrPartial)
	if err != nil {
		return err
	}
	if r := failed.Tables[1]; r.Table != forgotten || r.Outcome != writer.NotApplied {
		return fmt.Errorf("%s is %v, want %v", r.Table, r.Outcome, writer.NotApplied)
	}
	stored, err := failed.MarshalBinary()
	if err != nil {
		return err
	}
	out.code("stored, err := failed.MarshalBinary()   // %s bytes, for a queue", number(len(stored)))
	if err := schema.Ensure(ctx, in, s.declared); err != nil {
		return err
	}
	out.code("schema.Ensure(ctx, s, Shop)             // creates the table")
	restored := new(writer.Error) // from here on it may be another process
	if err := restored.UnmarshalBinary(stored); err != nil {
		return err
	}
	res, err := w.Resume(ctx, restored)
	if err != nil {
		return err
	}
	out.code("tenant.Resume(ctx, restored)            // requests: %d, at the timestamp of the first try", res.Attempts)
	if err := (view{in.Reads(), tenant}).show(ctx, out, o); err != nil {
		return err
	}
	out.ok("All tables have the order, with the same WRITETIME.")
	return nil
}

// showLostReply lets the answer to a write get lost.
func showLostReply(ctx context.Context, out *screen, s *shop) error {
	out.heading("A reply is lost", "Cassandra does the write, and the connection breaks before the answer arrives. The outcome is unknown. "+
		"Sending the write again is safe, because it has the same timestamp.")
	o, err := createOrder(ctx, s.w)
	if err != nil {
		return err
	}
	once := s.w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	out.code(`once := w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))`)
	out.code(`_, err := once.Write(ctx, "payOrder", Orders.Update(order, paid))`)
	paid := withStatus(o, orders.Paid)
	s.dialer.LoseReplies(1)
	res, err := once.Write(ctx, "payOrder", orders.Orders.Update(o, paid))
	failed, err := wantFailure(out, err, "writer.ErrUnknown", writer.ErrUnknown)
	if err != nil {
		return err
	}
	if _, err = s.w.Resume(ctx, failed); err != nil { // with retries: the driver may have no other connection yet
		return err
	}
	out.code("w.Resume(ctx, failed)   // sends it again")
	paid.UpdatedAt = res.Timestamp
	if err := s.view.show(ctx, out, paid); err != nil {
		return err
	}
	out.ok("Sent twice, and the tables have it once, at one timestamp.")
	return nil
}

// wantFailure prints the error of a write table by table. It fails unless the error matches.
func wantFailure(out *screen, err error, name string, match error) (*writer.Error, error) {
	var failed *writer.Error
	if !errors.As(err, &failed) || !errors.Is(err, match) {
		return nil, fmt.Errorf("the write ended with %w, want an error that matches %s", cmp.Or(err, errors.New("success")), name)
	}
	rows := [][]string{{"table", "outcome", "attempts", "error"}}
	for _, r := range failed.Tables {
		reason := "-"
		if r.Err != nil {
			reason = oneLine(r.Err.Error())
		}
		rows = append(rows, []string{r.Table, r.Outcome.String(), strconv.Itoa(r.Attempts), reason})
	}
	out.blank()
	out.table(rows...)
	out.blank()
	out.code("errors.Is(err, %s)   // true", name)
	return failed, nil
}
