package repair_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// grace is gc_grace_seconds of the base table, in microseconds. What is older than that is purged at once.
const grace = 1000

// TestRepairPurge: a delete has reached the base table and not all others. As long as its tombstone is there, a row
// that is put into the base table again meets it, and is removed everywhere. Later that is rejected: with the tombstone
// purged the deleted row would be back.
func TestRepairPurge(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(x *repairer, checked bool) string
	}{
		{"rows", (*repairer).afterPurge},
		{"cells", (*repairer).afterPurgeOfCell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(checked bool) func(x *repairer) string {
				return func(x *repairer) string { return tt.run(x, checked) }
			}
			wrong, first, did := runRepairs(repairPlan{families: stamped(false), run: run(true)}, damagedCases(t))
			t.Logf("promoted %d, of these withdrawn %d, rejected %d", did[deedPromote], did[deedWithdraw], did[deedGiveUp])
			if wrong > 0 || did[deedPromote] == 0 || did[deedGiveUp] == 0 {
				t.Errorf("%d go wrong; %s", wrong, first)
			}
			wrong, _, _ = runRepairs(repairPlan{families: stamped(false), run: run(false)}, damagedCases(t))
			t.Logf("with the rejection taken out %d of %d go wrong", wrong, damagedCases(t))
			if wrong == 0 {
				t.Error("not seen")
			}
		})
	}
}

// ages draws when a row is written, when it is deleted, and when it is repaired, and sets the rules for that time.
func (x *repairer) ages(checked bool) (written, deleted int64, purged bool) {
	written = lawEpoch * 1_000_000
	deleted = written + 1 + x.rand.Int64N(grace)
	now := deleted + x.rand.Int64N(2*grace)
	if x.rules = (repair.Rules{}); checked {
		x.rules.Promotable = now - grace*3/4
	}
	return written, deleted, now-deleted > grace
}

// afterPurge gives what is wrong when an entity that was deleted is repaired.
func (x *repairer) afterPurge(checked bool) string {
	written, deleted, purged := x.ages(checked)
	row := x.rand.IntN(lawPool)
	base := x.trial.family.tables[0].name
	x.trial.changes, x.trial.steps = nil, nil // of the case only the set and its rows are used
	for _, m := range mutationsOf(x.trial.family.change(tables.Insert, x.trial.world, -1, row), written) {
		if m.Table != base || !purged {
			x.apply([]statement.Mutation{m}, lawEpoch)
		}
	}
	for _, m := range mutationsOf(x.trial.family.change(tables.Delete, x.trial.world, row, -1), deleted) {
		if m.Table == base && !purged || m.Table != base && x.rand.IntN(2) == 0 {
			x.apply([]statement.Mutation{m}, lawEpoch)
		}
	}
	return x.untilGone(func(l *repair.Look) bool { return l.Base != nil })
}

// afterPurgeOfCell gives what is wrong when a note whose text became null is repaired.
func (x *repairer) afterPurgeOfCell(checked bool) string {
	x.trial.family, x.replica = noteFamily(), newLawReplica(noteFamily())
	x.trial.changes, x.trial.steps = nil, nil
	written, deleted, purged := x.ages(checked)
	text := "a"
	row := noteRow{ID: 1, Shelf: "s", Owner: "o", Kind: "k", Text: &text, Size: perhaps[int32](x.rand, 1, 2)}
	changes := []tables.Change{
		noteSet.Patch(row, tables.Column("text"), tables.Column("size")),
		noteSet.Patch(row, tables.Column("size")),
	}
	for i, change := range changes {
		for _, m := range mutationsOf(change, written) {
			if (m.Table == "notes" && purged) == (i == 1) { // what is purged is as if it had never been there
				x.apply([]statement.Mutation{m}, lawEpoch)
			}
		}
	}
	row.Text = nil
	for _, m := range mutationsOf(noteSet.Patch(row, tables.Column("text")), deleted) {
		if m.Table == "notes" && !purged {
			x.apply([]statement.Mutation{m}, lawEpoch)
		}
	}
	return x.untilGone(func(l *repair.Look) bool {
		if l.Base == nil {
			return false
		}
		text, _ := l.Base.Value("text")
		return text != nil
	})
}

func mutationsOf(c tables.Change, at int64) []statement.Mutation {
	r, err := c.Internal().Render(at, nil)
	if err != nil {
		panic(err)
	}
	return r.Mutations
}

// untilGone repairs until nothing changes, and once more after the horizon. back says whether what was deleted is there
// again.
func (x *repairer) untilGone(back func(l *repair.Look) bool) string {
	x.rules.Unproven = true
	for _, x.rules.Old = range []bool{false, true} {
		for before := []repair.Finding(nil); ; {
			l := x.look(lawEpoch)
			if back(l) {
				return fmt.Sprintf("what was deleted is back, with %+v", x.rules)
			}
			if slices.Equal(l.Findings(), before) {
				break
			}
			before = l.Findings()
			x.apply(x.decide(lawEpoch), lawEpoch)
		}
		if left := x.look(lawEpoch).Findings(); len(left) > 0 {
			if x.did[deedGiveUp]++; x.rules.Old {
				return "rows are left"
			}
		}
	}
	return ""
}
