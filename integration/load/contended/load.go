// Package contended is the load that rows with versions are for: many writers that move the same few rows, with clocks
// that disagree and clients that die in the middle; and alongside it what one would write by hand.
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

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Order is an order whose status is any text, so the tables by status cannot be swept.
type Order struct {
	OrderID gocql.UUID
	Status  string
	Changes int32 // how often it was changed
	Version gocql.UUID
}

// Orders are kept by id and by status.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
	tables.Versioned("version"),
))

// Schema creates the tables in the keyspace of the session, and the tables of the code by hand.
var Schema = append(schema.Must(schema.Declare(schema.Sets(Orders))).Statements(),
	`CREATE TABLE hand_by_id (order_id uuid PRIMARY KEY, status text, changes int, version timeuuid)`,
	`CREATE TABLE hand_by_status (status text, order_id uuid, changes int, version timeuuid, PRIMARY KEY (status, order_id))`)

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
	_ = parallel.Do(len(clients), len(clients), func(i int) error {
		for time.Now().Before(end) && ctx.Err() == nil {
			id := orders[rand.IntN(len(orders))]
			own, cancel, dies := ctx, context.CancelFunc(func() {}), kill > 0 && rand.IntN(kill) == 0
			if dies {
				own, cancel = context.WithTimeout(ctx, rand.N(80*time.Millisecond))
			}
			err := clients[i].Change(own, id, fmt.Sprintf("status %d", rand.IntN(1000)))
			cancel()
			t.note(id, err, dies)
		}
		return nil
	})
	return t
}

// Findings are the damages that a load has left.
type Findings struct {
	Ghosts, Missing, Differing int // rows by status
	Lost                       int // orders with fewer changes than were acknowledged
	Excess                     int // of those in the tally, with more than were acknowledged or unknown
}

func (f Findings) String() string {
	return fmt.Sprintf("%d ghosts, %d missing, %d differing, %d orders with lost updates, %d with too many",
		f.Ghosts, f.Missing, f.Differing, f.Lost, f.Excess)
}

// Finish lets a last client touch every order, so that whatever dead clients have left is finished.
func Finish(ctx context.Context, w *writer.Writer, orders []gocql.UUID) error {
	for _, id := range orders {
		if _, err := writer.Modify(ctx, w, "touchOrder", Orders, Order{OrderID: id}, func(o Order) (Order, error) { return o, nil }); err != nil {
			return err
		}
	}
	return nil
}

// Check compares the two tables named with each other, at ALL, and the changes with the tally.
func Check(ctx context.Context, session *gocql.Session, t *Tally, byID, byStatus string) (f Findings, err error) {
	columns := []string{"order_id", "status", "changes", "version"}
	rows, err := history.All[Order](ctx, session, byID, columns...)
	placed, err2 := history.All[Order](ctx, session, byStatus, columns...)
	base, seen := make(map[gocql.UUID]Order), make(map[gocql.UUID]bool)
	for _, o := range rows {
		base[o.OrderID] = o
	}
	for _, o := range placed {
		is, ok := base[o.OrderID]
		if !ok || is.Status != o.Status {
			f.Ghosts++
			continue
		}
		if is != o {
			f.Differing++
		}
		seen[o.OrderID] = true
	}
	f.Missing = len(base) - len(seen)
	for id, o := range base {
		c, changed := t.order[id]
		if o.Changes < c.acknowledged {
			f.Lost++
		}
		if changed && o.Changes > c.acknowledged+c.unknown {
			f.Excess++
		}
	}
	return f, errors.Join(err, err2)
}
