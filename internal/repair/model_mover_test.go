package repair_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// movers are sets with columns that a single writer moves: alone in a key, and next to a swept one.
var movers = sync.OnceValue(func() []*lawFamily {
	return []*lawFamily{
		newFamily("moved orders", tables.Must(tables.New[lawOrder]("order",
			tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
			tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
			tables.SingleWriter("status"),
			tables.Stamp("updated_at"),
			tables.Type("order_id", "timeuuid"),
		)), []string{"status"}, 1, drawOrder),
		newFamily("moved parcels", tables.Must(tables.New[lawParcel]("parcel",
			tables.Table{Name: "parcels", PartKey: []string{"id"}},
			tables.Table{Name: "parcels_by_place", PartKey: []string{"state"}, SortKey: []string{"zone", "id"}},
			tables.Table{Name: "parcels_by_zone", PartKey: []string{"zone"}, SortKey: []string{"id"}},
			tables.SingleWriter("zone"),
			tables.OneOf("state", "new", "sent", "lost"),
			tables.Stamp("updated_at"),
		)), []string{"state", "zone"}, 1, func(r *rand.Rand, _ int) lawParcel {
			return lawParcel{
				lawUUID(1), one(r, "new", "sent", "lost"), one[int32](r, -1, 0, 7), perhaps(r, "a", "b"), perhaps[int32](r, 1, 2),
				one(r, time.Time{}, time.UnixMilli(1), time.UnixMilli(2)), r.Int64(),
			}
		}),
	}
})

// TestRepairMoved is TestRepairSafety for SingleWriter. While each move is complete before the next begins, repairs
// leave no trace. Movers who meet leave ghosts, and a repair removes them.
func TestRepairMoved(t *testing.T) {
	inTurn := func(x *repairer) string {
		x.trial.drawInTurn(x.rand)
		x.among()
		return checkLaw(x.trial, x.replica)
	}
	meeting := func(x *repairer) string {
		x.among()
		if checkLaw(x.trial, x.replica) != "" {
			x.did[deedDrift]++
		}
		for range 4 {
			x.apply(x.decide(lawDelivered), lawDelivered)
		}
		return checkLaw(x.trial, x.replica)
	}
	wrong, first, did := runRepairs(repairPlan{families: movers(), run: inTurn}, length.Of(t, 4_000))
	t.Logf("in turn: delivered again %d, promoted %d, of these withdrawn %d", did[deedDeliver], did[deedPromote],
		did[deedWithdraw])
	if wrong > 0 || slices.Contains(did[:deedNaive], 0) {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
	wrong, first, did = runRepairs(repairPlan{families: movers(), run: meeting}, length.Of(t, 4_000))
	t.Logf("movers that meet: %d with ghosts before the last repair", did[deedDrift])
	if wrong > 0 || did[deedDrift] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
	naive := remove(repair.Ghost, (*repairer).now)
	if wrong, _, _ = runRepairs(repairPlan{families: movers(), naive: naive, run: inTurn}, damagedCases(t)); wrong == 0 {
		t.Error("a ghost is deleted at the present time: not seen")
	}
	t.Logf("a ghost is deleted at the present time: %d of %d go wrong", wrong, damagedCases(t))
}

// TestRepairMovedLiveness is TestRepairLiveness for SingleWriter: the next one moves the row though the one before has
// died.
func TestRepairMovedLiveness(t *testing.T) {
	cases := length.Of(t, 10_000)
	wrong, first, did := runRepairs(repairPlan{families: movers(), run: func(x *repairer) string {
		x.trial.drawInTurn(x.rand)
		return x.afterDeaths()
	}}, cases)
	t.Logf("%d of %d cases have drift. Promoted %d, of these withdrawn %d, rewritten %d", did[deedDrift], cases,
		did[deedPromote],
		did[deedWithdraw], did[deedRewrite])
	if wrong > 0 || did[deedDrift]*did[deedPromote]*did[deedWithdraw]*did[deedRewrite] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
}

// drawInTurn makes a case of changes of which each is delivered before the next begins. Some mutations arrive again
// later.
func (tr *lawTrial) drawInTurn(r *rand.Rand) {
	at, row := int64(lawEpoch*1_000_000), -1
	tr.changes, tr.steps = tr.changes[:0], tr.steps[:0]
	for i := range 2 + r.IntN(5) {
		c := lawChange{kind: tables.Update, before: row, after: r.IntN(lawPool), timestamp: at}
		switch {
		case row < 0:
			c.kind = tables.Insert
		case r.IntN(5) == 0:
			c.kind, c.after = tables.Delete, -1
		}
		c.mutations = mutationsOf(tr.family.change(c.kind, tr.world, c.before, c.after), at)
		tr.changes = append(tr.changes, c)
		earlier := len(tr.steps)
		for j := range c.mutations {
			tr.steps = append(tr.steps, lawStep{i, j, lawEpoch + int64(i)})
			if earlier > 0 && r.IntN(4) == 0 {
				tr.steps = append(tr.steps, tr.steps[r.IntN(earlier)])
			}
		}
		own := tr.steps[earlier:]
		r.Shuffle(len(own), func(a, b int) { own[a], own[b] = own[b], own[a] })
		at += one[int64](r, 1, 1, 2, 1000)
		row = c.after
	}
}
