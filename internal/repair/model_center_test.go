package repair_test

import (
	"math"
	"testing"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
)

// TestRepairReadsAll: the data centre in which a repair reads lacks a part of the base table for longer than the
// horizon; writes to it were acknowledged in another one. Only a repair that reads the base row from all replicas
// before it removes anything leaves the tables as the convergence law says.
func TestRepairReadsAll(t *testing.T) {
	cases := length.Of(t, 10_000)
	wrong, first, did := runRepairs(repairPlan{families: stamped(false), run: func(x *repairer) string {
		return x.inOneCenter(true)
	}}, cases)
	t.Logf("all read in %d of %d cases", did[deedReadAll], cases)
	if wrong > 0 || did[deedReadAll] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
	wrong, _, _ = runRepairs(repairPlan{families: stamped(false), run: func(x *repairer) string {
		return x.inOneCenter(false)
	}}, damagedCases(t))
	t.Logf("removal decided by one data centre: %d of %d go wrong", wrong, damagedCases(t))
	if wrong == 0 {
		t.Error("not seen")
	}
}

// inOneCenter repairs by what one data centre has, and reads the base row from all, or pretends that it did.
func (x *repairer) inOneCenter(readAll bool) string {
	here := &repairer{trial: x.trial, replica: newLawReplica(x.trial.family)}
	missing := make(map[[2]int]bool)
	for i := range x.trial.changes {
		for j, m := range x.trial.changes[i].mutations {
			missing[[2]int{i, j}] = m.Table == x.trial.family.tables[0].name && x.rand.IntN(3) == 0
		}
	}
	for _, s := range x.trial.steps {
		m := x.trial.changes[s.change].mutations[s.mutation : s.mutation+1]
		x.apply(m, s.second)
		if !missing[[2]int{s.change, s.mutation}] {
			here.apply(m, s.second)
		}
	}
	send := func(mutations []statement.Mutation) {
		x.apply(mutations, lawDelivered)
		here.apply(mutations, lawDelivered)
	}
	rules := repair.Rules{Old: x.rand.IntN(2) == 0, Unproven: x.rand.IntN(2) == 0}
	if rules.Old {
		rules.Promotable = math.MaxInt64
	}
	for range 3 {
		l := here.look(lawDelivered)
		l.All = !readAll
		d, err := repair.Decide(*l, rules)
		if len(d.Promote) > 0 && err == nil {
			send(d.Promote)
			l = here.look(lawDelivered)
			l.Promoted, l.All = d.Promoted, !readAll
			d, err = repair.Decide(*l, rules)
		}
		if d.ReadAll && err == nil {
			x.did[deedReadAll]++
			l.Base, l.All = x.look(lawDelivered).Base, true
			d, err = repair.Decide(*l, rules)
		}
		if err != nil {
			panic(err)
		}
		send(d.Send)
	}
	return checkLaw(x.trial, x.replica)
}
