package contended_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

const (
	handContend = 300 // orders
	settle      = 15 * time.Second
)

// handOrder is an order of the tables by hand, once the library writes them.
type handOrder struct {
	contended.Order

	UpdatedAt int64
}

// handOrders are the tables by hand as a set, for which they need addStamp. Their clients are [fewStatuses].
func handOrders(more ...tables.Option) *tables.Set[handOrder] {
	return tables.Must(tables.New[handOrder]("hand_order", append([]tables.Option{
		tables.Table{Name: "hand_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "hand_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
		tables.OneOf("status", statuses...), tables.Stamp("updated_at"), tables.Type("version", "timeuuid"),
	}, more...)...))
}

// addStamp adds the column of the stamp to the tables by hand.
var addStamp = []string{"ALTER TABLE hand_by_id ADD updated_at bigint", "ALTER TABLE hand_by_status ADD updated_at bigint"}

var statuses = []string{
	"new", "status 0", "status 1", "status 2", "status 3", "status 4", "status 5", "status 6", "status 7", "status 8", "status 9",
}

// fewStatuses is a client of orders that have few statuses.
type fewStatuses struct{ contended.Client }

// Change implements [contended.Client].
func (f fewStatuses) Change(ctx context.Context, id gocql.UUID, status string) error {
	return f.Client.Change(ctx, id, status[:len("status 0")])
}

// handRows are the orders of the base table by hand, as all replicas have them.
func handRows(t *testing.T, p *suite.Place) map[gocql.UUID]contended.Order {
	t.Helper()
	rows, err := history.All[contended.Order](t.Context(), p.Session.Reads(), "hand_by_id", "order_id", "status", "changes", "version")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[gocql.UUID]contended.Order)
	for _, o := range rows {
		out[o.OrderID] = o
	}
	return out
}

// disagree is how many rows of the tables by hand disagree, at ALL.
func disagree(t *testing.T, p *suite.Place) contended.Findings {
	t.Helper()
	found, err := contended.Check(t.Context(), p.Session.Reads(), new(contended.Tally), "hand_by_id", "hand_by_status")
	if err != nil {
		t.Fatal(err)
	}
	found.Lost, found.Excess = 0, 0 // they are not counted here
	return found
}

// move moves orders with the library until stop ends, and gives of each the row that was acknowledged last.
func move(ctx, stop context.Context, w *writer.Writer, set *tables.Set[handOrder], ids []gocql.UUID) (map[gocql.UUID]contended.Order, error) {
	out := make(map[gocql.UUID]contended.Order)
	for stop.Err() == nil || len(out) == 0 {
		var key handOrder
		key.OrderID = ids[rand.IntN(len(ids))]
		before, err := writer.Load(ctx, w, "load", set, key)
		if err != nil {
			return out, err
		}
		after := before
		after.Status = "status " + string(rune('0'+rand.IntN(10)))
		after.Changes++
		_, err = w.Write(ctx, "move", set.Update(before, after))
		for failed := (*writer.Error)(nil); errors.As(err, &failed) && failed.Resumable() && ctx.Err() == nil; {
			_, err = w.Resume(ctx, failed)
		}
		if err != nil {
			return out, err
		}
		out[after.OrderID] = after.Order
	}
	return out, nil
}

// Orders that sixteen clients have moved by hand, one in twenty of whose changes ended in the middle, are adopted while
// others are moved with the library: afterwards the tables are equal at ALL, each order that the library has moved is
// as it was acknowledged, and each other one as the base table had it.
func TestAdoptContendedOrders(t *testing.T) {
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	orders := make([]gocql.UUID, handContend)
	if err := parallel.Do(writers, handContend, func(i int) error {
		orders[i] = gocql.MustRandomUUID()
		return insertByHand(p.Session.Writes(), orders[i])
	}); err != nil {
		t.Fatal(err)
	}
	var hand []contended.Client
	for range writers / 4 {
		client := testsession.New(t, p.Connect(t), p.Session.Reads())
		for range 4 {
			hand = append(hand, fewStatuses{Client: contended.Hand{Writes: client.Writes(), Reads: client.Reads()}})
		}
	}
	var tally *contended.Tally
	var drifted contended.Findings
	for tries := 0; tries < 5 && drifted == (contended.Findings{}); tries++ { // a slow server has few changes
		tally = contended.Run(t.Context(), hand, orders, length(10*time.Second, time.Minute), 20)
		drifted = disagree(t, p)
	}
	p.ChangeSchema(t, p.Keyspace, addStamp...)
	ended := time.Now()
	before := handRows(t, p)

	meanwhile, adopted := handOrders(tables.UnstampedRows()), handOrders()
	stop, end := context.WithCancel(t.Context())
	defer end()
	moved := make([]map[gocql.UUID]contended.Order, 4)
	var group sync.WaitGroup
	for i := range moved {
		group.Go(func() {
			var err error
			if moved[i], err = move(t.Context(), stop, p.Writer, meanwhile, orders[10*i:10*i+10]); err != nil {
				t.Error(err)
			}
		})
	}
	removed := new(atomic.Int64)
	r, err := reconcile.New(p.Session, reconcile.Settle(settle), reconcile.OnRemoval(func(reconcile.Removal) error { removed.Add(1); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Adopt(t.Context(), meanwhile, reconcile.Writers(ended), reconcile.MaxRemovals(handContend))
	end()
	group.Wait()
	if err != nil {
		t.Fatalf("%v\n%v", err, report)
	}
	verified, err := r.Verify(t.Context(), adopted)
	if err != nil {
		t.Errorf("%v\n%v", err, verified)
	}
	repaired, err := r.Repair(t.Context(), adopted)
	if err != nil {
		t.Errorf("%v\n%v", err, repaired)
	}
	if left := disagree(t, p); left != (contended.Findings{}) {
		t.Errorf("afterwards %v", left)
	}
	have, made := handRows(t, p), 0
	for _, rows := range moved {
		for id, row := range rows {
			made += int(row.Changes - before[id].Changes)
			before[id] = row
		}
	}
	wrong := 0
	for id, row := range before {
		if have[id] != row {
			wrong++
		}
	}
	if wrong > 0 || len(have) != len(before) {
		t.Errorf("%d of %d orders are not as they were written, of %d", wrong, len(have), len(before))
	}
	t.Logf("%d changes by hand, %d clients killed: %v; adopted in %v: %d orders stamped, %d rows with other times, %d rows removed; meanwhile %d moves with "+
		"the library\n%v", tally.Acknowledged.Load(), tally.Killed.Load(), drifted, report.Ended.Sub(report.Began).Round(time.Second), report.Stamped,
		report.OtherTimes, removed.Load(), made, report)
	if drifted == (contended.Findings{}) || made == 0 {
		t.Error("nothing differed, or nothing was written meanwhile")
	}
}
