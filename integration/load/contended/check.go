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
	each := func(table string, do func(Order)) error {
		iter := session.Query("SELECT order_id, status, changes, version FROM " + table).WithContext(ctx).Consistency(gocql.All).Iter()
		for o := (Order{}); iter.Scan(&o.OrderID, &o.Status, &o.Changes, &o.Version); {
			do(o)
		}
		return iter.Close()
	}
	base, seen := make(map[gocql.UUID]Order), make(map[gocql.UUID]bool)
	if err := each(byID, func(o Order) { base[o.OrderID] = o }); err != nil {
		return f, err
	}
	err = each(byStatus, func(o Order) {
		is, ok := base[o.OrderID]
		if !ok || is.Status != o.Status {
			f.Ghosts++
			return
		}
		if is != o {
			f.Differing++
		}
		seen[o.OrderID] = true
	})
	f.Missing = len(base) - len(seen)
	for id, o := range base {
		c := t.order[id]
		if o.Changes < c.acknowledged {
			f.Lost++
		}
		if o.Changes > c.acknowledged+c.unknown {
			f.Excess++
		}
	}
	return f, err
}
