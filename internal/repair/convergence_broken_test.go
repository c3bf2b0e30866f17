package repair_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// brokenCases is within how many cases every breakage must show.
const brokenCases = 4000

// TestConvergenceBroken breaks what was rendered, or what the law demands of the changes, and wants the checks of the
// convergence tests to see it: they would be worth little if they passed whatever was sent.
func TestConvergenceBroken(t *testing.T) {
	tests := []struct {
		name string
		plan lawPlan
	}{
		{"a table whose row does not change is skipped", lawPlan{corrupt: skipUnchanged}},
		{"only columns that differ are written", lawPlan{corrupt: writeDifferences}},
		{"absent values are left alone", lawPlan{corrupt: leaveAbsent}},
		{"an absent value of a OneOf column is left alone", lawPlan{corrupt: leaveAbsentKeys}},
		{"one delete of a sweep is missing", lawPlan{corrupt: dropOneRemove}},
		{"a move deletes the before-image's row alone", lawPlan{corrupt: onlyBefore(tables.Update)}},
		{"a delete does not sweep", lawPlan{corrupt: onlyBefore(tables.Delete)}},
		{"one mutation never arrives", lawPlan{corrupt: dropOne}},
		{"the insert is not the smallest", lawPlan{lateInsert: true}},
		{"the insert shares its timestamp", lawPlan{ties: true, tieInsert: true}},
		{"sweeps are sent at T whatever the value", lawPlan{ties: true, corrupt: sweepAtT}},
		{"sweeps are sent at T-1 whatever the value", lawPlan{ties: true, corrupt: sweepBelowT}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := checkLaw
			if tt.plan.ties {
				check = checkTies
			}
			tt.plan.families = lawFamilies()
			// At full length it tries all, to see how many diverge.
			result := runLaw(tt.plan, check, brokenCases, length.Of(t, brokenCases) < brokenCases)
			if result.first < 0 {
				t.Fatalf("seed %d: not seen in %d cases", *lawSeed, result.cases)
			}
			t.Logf("seed %d: %d of %d cases diverge, first case %d:\n%s", *lawSeed, result.diverged, result.cases, result.first,
				result.report)
		})
	}
}

// TestConvergenceOnlyTies shows what the law for equal timestamps is for: at distinct ones these breakages do no harm.
func TestConvergenceOnlyTies(t *testing.T) {
	for _, corrupt := range []func(*rand.Rand, *lawTrial, *lawChange){sweepAtT, sweepBelowT} {
		if result := runLaw(lawPlan{families: lawFamilies(), corrupt: corrupt}, checkLaw, brokenCases,
			true); result.first >= 0 {
			t.Errorf("seed %d, case %d diverges:\n%s", *lawSeed, result.first, result.report)
		}
	}
}

func skipUnchanged(_ *rand.Rand, tr *lawTrial, c *lawChange) {
	if c.kind != tables.Update {
		return
	}
	f, before, after := tr.family, tr.row(c.before), tr.row(c.after)
	c.mutations = slices.DeleteFunc(c.mutations, func(m statement.Mutation) bool {
		t := f.tables[slices.IndexFunc(f.tables, func(t lawTable) bool { return t.name == m.Table })]
		for _, i := range append(slices.Clone(t.key), t.columns...) {
			if i != f.stamp && !bytes.Equal(before.values[i], after.values[i]) {
				return false
			}
		}
		return true
	})
}

// eachValue visits the values of the Puts, keys excepted.
func eachValue(tr *lawTrial, c *lawChange, visit func(column int, arg *any)) {
	f := tr.family
	for i := range c.mutations {
		m := &c.mutations[i]
		if m.Kind != statement.Put {
			continue
		}
		t := f.tables[slices.IndexFunc(f.tables, func(t lawTable) bool { return t.name == m.Table })]
		for j, name := range m.Names {
			if column := slices.Index(f.names, name); slices.Contains(t.columns, column) {
				visit(column, &m.Args[j])
			}
		}
	}
}

func writeDifferences(_ *rand.Rand, tr *lawTrial, c *lawChange) {
	if c.kind != tables.Update || tr.family.moved(tr.row(c.before), tr.row(c.after)) {
		return
	}
	eachValue(tr, c, func(column int, arg *any) {
		if bytes.Equal(tr.row(c.before).values[column], tr.row(c.after).values[column]) {
			*arg = gocql.UnsetValue
		}
	})
}

func leaveAbsent(_ *rand.Rand, tr *lawTrial, c *lawChange) {
	eachValue(tr, c, func(_ int, arg *any) {
		if v, ok := (*arg).(*cqltype.Value); ok && v.Data == nil {
			*arg = gocql.UnsetValue
		}
	})
}

func leaveAbsentKeys(_ *rand.Rand, tr *lawTrial, c *lawChange) {
	eachValue(tr, c, func(column int, arg *any) {
		if v, ok := (*arg).(*cqltype.Value); ok && v.Data == nil && slices.Contains(tr.family.moving, column) {
			*arg = gocql.UnsetValue
		}
	})
}

func dropOne(r *rand.Rand, _ *lawTrial, c *lawChange) {
	if len(c.mutations) > 0 {
		i := r.IntN(len(c.mutations))
		c.mutations = slices.Delete(c.mutations, i, i+1)
	}
}

func dropOneRemove(r *rand.Rand, _ *lawTrial, c *lawChange) {
	var removes []int
	for i := range c.mutations {
		if c.mutations[i].Kind == statement.Remove {
			removes = append(removes, i)
		}
	}
	if c.kind != tables.Delete && len(removes) > 0 {
		i := one(r, removes...)
		c.mutations = slices.Delete(c.mutations, i, i+1)
	}
}

// onlyBefore leaves of the deletes of a change those of the before-image's keys.
func onlyBefore(kind tables.Kind) func(*rand.Rand, *lawTrial, *lawChange) {
	return func(_ *rand.Rand, tr *lawTrial, c *lawChange) {
		if c.kind != kind {
			return
		}
		f := tr.family
		c.mutations = slices.DeleteFunc(c.mutations, func(m statement.Mutation) bool {
			var key []byte
			for i, name := range m.Names {
				if slices.Contains(f.names, name) && m.Kind == statement.Remove {
					key = appendKey(key, m.Args[i].(*cqltype.Value).Data)
				}
			}
			table := slices.IndexFunc(f.tables, func(t lawTable) bool { return t.name == m.Table })
			return m.Kind == statement.Remove && !bytes.Equal(key, tr.row(c.before).keys[table])
		})
	}
}

// retime sends deletes of a kind at the timestamp of another mutation of the change.
func retime(c *lawChange, kind statement.MutationKind, distance int64) {
	var at any
	for _, m := range c.mutations {
		if m.Timestamp == c.timestamp-distance {
			at = m.Args[slices.Index(m.Names, "[timestamp]")]
		}
	}
	for i := range c.mutations {
		if m := &c.mutations[i]; m.Kind == kind && at != nil {
			m.Args[slices.Index(m.Names, "[timestamp]")], m.Timestamp = at, c.timestamp-distance
		}
	}
}

func sweepAtT(_ *rand.Rand, _ *lawTrial, c *lawChange) { retime(c, statement.Remove, 0) }

func sweepBelowT(_ *rand.Rand, _ *lawTrial, c *lawChange) {
	if c.kind != tables.Delete {
		retime(c, statement.Remove, 1)
	}
}
