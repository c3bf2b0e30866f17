package repair_test

import (
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
)

// backfill is how a new query table is filled while writers write.
type backfill struct {
	name      string
	naive     bool
	oldWriter bool // one that does not know the table writes after the barrier
	noBarrier bool // what writers that do not know it have sent still arrives while the base table is scanned
	atNow     bool // rows are put at the present time, not at their own
	noNulls   bool // absent values are left alone
}

// TestBackfill fills a new query table from the base table, at the times of its rows, while writers that know the table
// write to both. In the end the new table is as if it had always been there.
func TestBackfill(t *testing.T) {
	for _, p := range []backfill{
		{name: "at the row's own time, after the barrier"},
		{name: "the same without nulls", noNulls: true},
		{name: "at the present time", naive: true, atNow: true},
		{name: "one old writer is left", naive: true, oldWriter: true},
		{name: "no barrier", naive: true, noBarrier: true},
	} {
		t.Run(p.name, func(t *testing.T) {
			cases := damagedCases(t)
			if !p.naive {
				cases = length.Of(t, 30_000)
			}
			wrong, first, did := runRepairs(repairPlan{families: stamped(true), run: p.run}, cases)
			t.Logf("%d of %d go wrong, %d rows put", wrong, cases, did[deedDeliver])
			if p.naive != (wrong > 0) || did[deedDeliver] == 0 {
				t.Error("unexpected; ", first)
			}
		})
	}
}

func (p backfill) run(x *repairer) string {
	fresh := x.trial.family.tables[1+x.rand.IntN(len(x.trial.family.tables)-1)].name
	knowing := 1 + x.rand.IntN(len(x.trial.changes)) // from this change on writers know the new table
	old := -1
	if p.oldWriter && knowing < len(x.trial.changes) {
		old = knowing + x.rand.IntN(len(x.trial.changes)-knowing)
	}
	var before, after []lawStep
	for _, s := range x.trial.steps {
		m := &x.trial.changes[s.change].mutations[s.mutation]
		switch {
		case m.Table == fresh && (s.change < knowing || s.change == old): // its writer does not send it
		case s.change < knowing && !p.noBarrier:
			before = append(before, s)
		default:
			after = append(after, s)
		}
	}
	deliver := func(s lawStep) { x.apply(x.trial.changes[s.change].mutations[s.mutation:s.mutation+1], s.second) }
	for _, s := range before {
		deliver(s)
	}
	var late []statement.Mutation
	scan := func() {
		for _, m := range p.rows(x, fresh) {
			if x.did[deedDeliver]++; x.rand.IntN(2) == 0 {
				late = append(late, m)
			} else {
				x.apply([]statement.Mutation{m}, lawEpoch+30)
			}
		}
	}
	scanned := x.rand.IntN(len(after) + 1)
	for i, s := range after {
		if i == scanned || x.rand.IntN(4) == 0 {
			scan()
		}
		deliver(s)
		if len(late) > 0 && x.rand.IntN(4) == 0 {
			x.apply(late[:1], lawEpoch+30)
			late = late[1:]
		}
	}
	if scanned == len(after) {
		scan()
	}
	x.apply(late, lawDelivered)
	return checkLaw(x.trial, x.replica)
}

// rows are those that the base row has in the new table.
func (p backfill) rows(x *repairer, fresh string) []statement.Mutation {
	base := x.rows(0, lawEpoch+30)
	if len(base) == 0 {
		return nil
	}
	at := base[0].At
	if p.atNow {
		at = x.now(nil)
	}
	all, err := base[0].Deliver(at, !p.noNulls, nil)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(all, func(m statement.Mutation) bool { return m.Table != fresh || m.Kind != statement.Put })
}
