package orders_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/orders"
	"github.com/denorm-go/denorm/writer"
)

// Many writers move the same few orders at once, each from a before-image that others have overtaken, with clocks that
// disagree by a second. Hand-written code leaves rows under several statuses here although no write failed.
func TestHotOrdersLeaveNoGhosts(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema)
	for name, choice := range map[string]writer.Option{"auto": writer.Auto(), "concurrent": writer.Concurrent()} {
		t.Run(name, func(t *testing.T) {
			hot := make([]orders.Order, 10)
			for i := range hot {
				hot[i] = create(t, s.w)
			}
			var writes atomic.Int64
			var wg sync.WaitGroup
			stop := time.Now().Add(4 * time.Second)
			for n := range 8 {
				skew := time.Duration(n%3-1) * 500 * time.Millisecond
				w, err := writer.New(s.write, writer.Reads(s.read), writer.Timeout(20*time.Second),
					writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(skew) })))
				if err != nil {
					t.Fatal(err)
				}
				w = w.With(choice)
				wg.Add(1)
				go func() {
					defer wg.Done()
					for time.Now().Before(stop) {
						if err := move(t.Context(), w, hot[rand.IntN(len(hot))]); err != nil {
							t.Error(err)
							return
						}
						writes.Add(1)
					}
				}()
			}
			wg.Wait()
			t.Logf("%d acknowledged status changes of %d orders", writes.Load(), len(hot))
			for _, o := range hot {
				base, err := s.orders.ByID(t.Context(), o.OrderID)
				if err != nil {
					t.Fatal(err)
				}
				s.wantEverywhere(t, base)
			}
		})
	}
}

// move gives an order another status, and finishes what fails, as a service does.
func move(ctx context.Context, w *writer.Writer, o orders.Order) error {
	_, err := writer.Modify(ctx, w, "changeStatus", orders.Orders, o, func(o orders.Order) (orders.Order, error) {
		o.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
		return o, nil
	})
	var failed *writer.Error
	for range 5 {
		if !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) {
			return err
		}
		_, err = w.Resume(ctx, failed)
	}
	return err
}
