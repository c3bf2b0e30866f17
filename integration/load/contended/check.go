package contended

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/writer"
)

// Findings are the damages that a load has left.
type Findings struct {
	Ghosts, Missing, Differing int // rows by status
	Lost                       int // orders with fewer changes than were acknowledged
	Excess                     int // with more than were acknowledged or unknown
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
	base := make(map[gocql.UUID]Order)
	iter := session.Query("SELECT order_id, status, changes, version FROM " + byID).WithContext(ctx).Consistency(gocql.All).Iter()
	for o := (Order{}); iter.Scan(&o.OrderID, &o.Status, &o.Changes, &o.Version); {
		base[o.OrderID] = o
	}
	if err := iter.Close(); err != nil {
		return f, err
	}
	seen := make(map[gocql.UUID]bool)
	iter = session.Query("SELECT order_id, status, changes, version FROM " + byStatus).WithContext(ctx).Consistency(gocql.All).Iter()
	for o := (Order{}); iter.Scan(&o.OrderID, &o.Status, &o.Changes, &o.Version); {
		switch is, ok := base[o.OrderID]; {
		case !ok || is.Status != o.Status:
			f.Ghosts++
			continue
		case is != o:
			f.Differing++
		}
		seen[o.OrderID] = true
	}
	f.Missing = len(base) - len(seen)
	for id, o := range base {
		c := t.order[id]
		if c == nil {
			c = new(counts)
		}
		if o.Changes < c.acknowledged {
			f.Lost++
		}
		if o.Changes > c.acknowledged+c.unknown {
			f.Excess++
		}
	}
	return f, iter.Close()
}
