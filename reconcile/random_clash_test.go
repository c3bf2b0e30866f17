package reconcile_test

import (
	"errors"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/writer"
)

// clash makes writes of one item at the same time, whose processes pause in the middle, and then send everything:
// repairs meet creates, moves and deletes that are in flight, of which they see a part or nothing.
func (x *random) clash() {
	if x.versioned { // whose rows are sent after a transaction only
		return
	}
	pause := x.mood.late
	if x.gives && x.settle == time.Second { // longer than Settle: what Rewrite writes, which is not used then, would win
		pause = time.Minute
	}
	var of *item
	if x.number(3) > 0 {
		x.mu.Lock()
		of = x.items[x.rand.IntN(len(x.items))]
		x.mu.Unlock()
	}
	for range 1 + x.number(3) {
		x.late.Go(func() {
			l := x.next(of)
			if l == nil {
				return
			}
			mutations := x.rendered(l)
			for _, m := range mutations {
				if x.number(2) == 0 {
					x.send(m)
				}
			}
			x.wait(pause)
			for _, m := range mutations {
				x.send(m)
			}
			_ = x.told(l, writer.Result{}, nil)
			x.mu.Lock()
			defer x.mu.Unlock()
			delete(x.busy, l.row.ID)
		})
		x.wait(time.Second)
	}
}

// unreachable creates items whose base rows only one replica has, as after writes that another data centre has
// acknowledged, and repairs while that replica is gone, for longer than the horizon. A row that can only be removed is,
// when that has passed.
func (x *random) unreachable() {
	for _, table := range []string{"items", "items_by_owner", "items_by_status"} {
		x.Create("ALTER TABLE shop." + table + " WITH gc_grace_seconds = 7200")
	}
	const holder = 1
	rule := x.When(cassandratest.Table("items"), cassandratest.Where(func(r cassandratest.Request) bool { return !isRead(r) })).Do(
		cassandratest.ApplyAt(holder))
	for range 4 {
		l := x.created()
		for _, m := range x.rendered(l) {
			statement, args := m.At(time.Now())
			err := x.s.Writes().Query(statement, args...).DefaultTimestamp(false).Exec()
			if err != nil && m.Table != "items" { // here it is a timeout, though the other data centre has acknowledged it
				x.t.Error(err)
			}
		}
		_ = x.told(l, writer.Result{}, nil)
	}
	rule.End()
	if x.moves && !x.single {
		x.plantArchivedAlone()
	}
	x.Node(holder).Stop()
	<-time.After(time.Minute)
	options := []reconcile.Option{reconcile.Settle(30 * time.Second), reconcile.State("shop"), handed}
	if report, err := x.r.Verify(x.t.Context(), x.described(), options...); !errors.Is(err, reconcile.ErrDrift) {
		x.t.Errorf("base rows are not there, and not missed: %v\n%v", err, report)
	}
	<-time.After(2 * time.Hour)
	if report, err := x.r.Repair(x.t.Context(), x.described(), options...); !errors.Is(err, reconcile.ErrDrift) {
		x.t.Errorf("not all replicas can be read: %v\n%v", err, report)
	}
	x.Node(holder).Restore()
	<-time.After(5 * time.Minute)
	for range 5 {
		if _, err := x.r.Repair(x.t.Context(), x.described(), append(options, reconcile.Rewrite())...); err == nil {
			return
		}
	}
	_, _ = x.r.Repair(x.t.Context(), x.described(), options...) // Rewrite leaves what nothing proves; the tables are compared after this
}
