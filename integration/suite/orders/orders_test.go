package orders_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

func TestCreateOrder(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	want := map[string]writer.Mode{"auto": writer.FanOut, "logged": writer.LoggedBatch, "concurrent": writer.FanOut}
	for name, w := range modes(s.w) {
		t.Run(name, func(t *testing.T) {
			o := newOrder()
			res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
			if err != nil {
				t.Fatal(err)
			}
			if res.Mode != want[name] {
				t.Errorf("mode %v, want %v", res.Mode, want[name])
			}
			o.UpdatedAt = res.Timestamp
			s.wantEverywhere(t, o)
			s.wantQueries(t, o)
		})
	}
}

// wantQueries checks that the three queries find the order.
func (s *shop) wantQueries(t *testing.T, o orders.Order) {
	t.Helper()
	byID, err := s.orders.ByID(t.Context(), o.OrderID)
	if err != nil || text(byID) != text(o) {
		t.Errorf("by id: %v, %v, want %v", text(byID), err, text(o))
	}
	byUser, err := s.orders.ByUser(t.Context(), o.UserID, 10)
	if err != nil || len(byUser) != 1 || text(byUser[0]) != text(o) {
		t.Errorf("by user: %v, %v, want %v", byUser, err, text(o))
	}
	byStatus, err := s.orders.ByStatus(t.Context(), o.Status, 1000)
	if err != nil || !slices.ContainsFunc(byStatus, func(x orders.Order) bool { return text(x) == text(o) }) {
		t.Errorf("by status: %d orders without %v, %v", len(byStatus), text(o), err)
	}
}

func TestListsNewestFirst(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	user := gocql.MustRandomUUID()
	var ids []gocql.UUID
	for range 5 {
		o := orders.New(user, nil)
		if _, err := s.w.Write(t.Context(), "createOrder", orders.Orders.Insert(o)); err != nil {
			t.Fatal(err)
		}
		ids = append([]gocql.UUID{o.OrderID}, ids...)
	}
	list, err := s.orders.ByUser(t.Context(), user, 3)
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for i := range list {
		if list[i].OrderID != ids[i] || list[i].Total != nil {
			t.Errorf("order %d is %v, want %v without a total", i, list[i], ids[i])
		}
	}
}

// A status change leaves exactly one row among all statuses, whatever the way there.
func TestChangeStatus(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	want := map[string]writer.Mode{"auto": writer.LoggedBatch, "logged": writer.LoggedBatch, "concurrent": writer.FanOut}
	for name, w := range modes(s.w) {
		t.Run(name, func(t *testing.T) {
			o := create(t, w)
			for _, status := range []orders.Status{orders.Paid, orders.Open, orders.Shipped, orders.Shipped, orders.Cancelled} {
				next := o
				next.Status = status
				res, err := w.Write(t.Context(), "changeStatus", orders.Orders.Update(o, next))
				if err != nil {
					t.Fatal(err)
				}
				if res.Mode != want[name] {
					t.Errorf("mode %v, want %v", res.Mode, want[name])
				}
				if res.Timestamp <= o.UpdatedAt {
					t.Errorf("timestamp %d does not follow the stamp %d", res.Timestamp, o.UpdatedAt)
				}
				next.UpdatedAt = res.Timestamp
				s.wantEverywhere(t, next)
				o = next
			}
			s.wantQueries(t, o)
		})
	}
}

// An update also removes what the row had and the new one has not.
func TestUpdateClearsAbsentValues(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	o := create(t, s.w)
	next := o
	next.Total = nil
	res, err := s.w.Write(t.Context(), "dropTotal", orders.Orders.Update(o, next))
	if err != nil {
		t.Fatal(err)
	}
	next.UpdatedAt = res.Timestamp
	s.wantEverywhere(t, next)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	for name, w := range modes(s.w) {
		t.Run(name, func(t *testing.T) {
			o := create(t, w)
			// The before-image is out of date: somebody else has paid meanwhile. Nothing of the order may stay.
			paid := o
			paid.Status = orders.Paid
			if _, err := w.Write(t.Context(), "payOrder", orders.Orders.Update(o, paid)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(t.Context(), "cancelOrder", orders.Orders.Delete(o)); err != nil {
				t.Fatal(err)
			}
			s.wantNowhere(t, o)
			if _, err := s.orders.ByID(t.Context(), o.OrderID); !errors.Is(err, gocql.ErrNotFound) {
				t.Errorf("by id: %v, want not found", err)
			}
		})
	}
}

// The server applies a write and its reply is lost: the next attempt sends the same at the same timestamp, and nobody
// can tell that there were two.
func TestRetriesKeepTheTimestamp(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	for name, w := range modes(s.w) {
		t.Run(name, func(t *testing.T) {
			create(t, w) // statements are prepared now, so that the lost replies are those of writes
			before := newOrder()
			s.dialer.LoseReplies(1)
			res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(before))
			if err != nil {
				t.Fatal(err)
			}
			if s.dialer.Left() != 0 {
				t.Error("no reply was lost")
			}
			if requests := map[bool]int{true: 1, false: 3}[res.Mode == writer.LoggedBatch]; res.Attempts <= requests {
				t.Errorf("%d attempts for %d requests: nothing was retried", res.Attempts, requests)
			}
			before.UpdatedAt = res.Timestamp
			s.wantEverywhere(t, before)
		})
	}
}

// What may have happened is not reported as not happened, and Resume makes it whole.
func TestLostReplyIsUnknownUntilResumed(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements(), writer.Retry(retry.Policy{MaxAttempts: 1}))
	for name, w := range modes(s.w) {
		t.Run(name, func(t *testing.T) {
			create(t, w.With(writer.Retry(retry.Policy{})))
			o := newOrder()
			s.dialer.LoseReplies(1)
			res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
			var failed *writer.Error
			if !errors.As(err, &failed) || !errors.Is(err, writer.ErrUnknown) || failed.NotApplied() {
				t.Fatalf("error %v, want ErrUnknown", err)
			}
			if res.Timestamp == 0 || failed.Timestamp != res.Timestamp {
				t.Errorf("timestamps %d and %d, want the same", res.Timestamp, failed.Timestamp)
			}
			res, err = w.With(writer.Retry(retry.Policy{})).Resume(t.Context(), failed)
			if err != nil {
				t.Fatal(err)
			}
			o.UpdatedAt = failed.Timestamp
			if res.Timestamp != failed.Timestamp {
				t.Errorf("resumed at %d, want %d", res.Timestamp, failed.Timestamp)
			}
			s.wantEverywhere(t, o)
		})
	}
}

func TestBadInputSendsNothing(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema.Statements())
	o := create(t, s.w)
	other, user, lost := o, o, o
	other.OrderID, user.UserID, lost.Status = gocql.TimeUUID(), gocql.MustRandomUUID(), "lost"
	random := newOrder()
	random.OrderID = gocql.MustRandomUUID() // not a timeuuid
	for name, write := range map[string]func(context.Context) error{
		"zero id": func(ctx context.Context) error {
			return write(ctx, s.w, orders.Orders.Insert(orders.Order{Status: "open"}))
		},
		"not a timeuuid": func(ctx context.Context) error { return write(ctx, s.w, orders.Orders.Insert(random)) },
		"unknown status": func(ctx context.Context) error { return write(ctx, s.w, orders.Orders.Update(o, lost)) },
		"another id":     func(ctx context.Context) error { return write(ctx, s.w, orders.Orders.Update(o, other)) },
		"another user":   func(ctx context.Context) error { return write(ctx, s.w, orders.Orders.Update(o, user)) },
		"blind upsert":   func(ctx context.Context) error { return write(ctx, s.w, orders.Orders.Upsert(o)) },
		"one order twice": func(ctx context.Context) error {
			return write(ctx, s.w, orders.Orders.Update(o, o), orders.Orders.Delete(o))
		},
	} {
		if err := write(t.Context()); !errors.Is(err, writer.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	s.wantEverywhere(t, o)
	s.wantNowhere(t, other)
}
