package contended

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/writer"
)

// Tally is what came of a load.
type Tally struct {
	Acknowledged, Unknown, Refused, Killed atomic.Int64

	mu    sync.Mutex
	order map[gocql.UUID]counts
}

// counts are of one order.
type counts struct{ acknowledged, unknown int32 }

func (t *Tally) note(id gocql.UUID, err error, killed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.order[id]
	if killed {
		t.Killed.Add(1)
	}
	var failed *writer.Error
	switch {
	case err == nil:
		t.Acknowledged.Add(1)
		c.acknowledged++
	case errors.As(err, &failed) && failed.NotApplied(), !errors.As(err, &failed) && !errors.Is(err, errUnknown):
		t.Refused.Add(1) // by a conflict, again and again, or because the row could not be read
	default:
		t.Unknown.Add(1)
		c.unknown++
	}
	t.order[id] = c
}

// Client changes an order: its status becomes the one given, and its number of changes one more.
type Client interface {
	Change(ctx context.Context, id gocql.UUID, status string) error
}

// Library is a client that uses the library.
type Library struct{ *writer.Writer }

// Change implements [Client].
func (l Library) Change(ctx context.Context, id gocql.UUID, status string) error {
	_, err := writer.Modify(ctx, l.Writer, "changeOrder", Orders, Order{OrderID: id}, func(o Order) (Order, error) {
		o.Status = status
		o.Changes++
		return o, nil
	})
	return err
}

// Run has each client change orders at random, until the time is over. One in kill changes, if that is not 0, is of a
// client that dies within a few milliseconds and says nothing more.
func Run(ctx context.Context, clients []Client, orders []gocql.UUID, d time.Duration, kill int) *Tally {
	t := &Tally{order: make(map[gocql.UUID]counts)}
	end := time.Now().Add(d)
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				id := orders[rand.IntN(len(orders))]
				own, cancel, dies := ctx, context.CancelFunc(func() {}), kill > 0 && rand.IntN(kill) == 0
				if dies {
					own, cancel = context.WithTimeout(ctx, rand.N(80*time.Millisecond))
				}
				err := c.Change(own, id, fmt.Sprintf("status %d", rand.IntN(1000)))
				cancel()
				t.note(id, err, dies)
			}
		})
	}
	all.Wait()
	return t
}
