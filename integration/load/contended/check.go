package contended

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

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
