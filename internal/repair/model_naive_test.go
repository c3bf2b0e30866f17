package repair_test

import (
	"math"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
)

// damagedCases is within how many cases the damage of a naive rule must show.
func damagedCases(t *testing.T) int {
	t.Helper()
	return min(max(length.Of(t, brokenCases), brokenCases/4), brokenCases)
}

// TestNaiveRepairs plants the rules that other tools repair by. Each of them damages data while writers write, and the
// tests see it.
func TestNaiveRepairs(t *testing.T) {
	atOwn := func(_ *repairer, q *repair.Row) int64 { return q.At }
	tests := []struct {
		name  string
		naive func(x *repairer, l *repair.Look) []statement.Mutation
	}{
		{"the missing row is put at the present time", putMissing},
		{"an orphan is deleted at the present time", remove(repair.Orphan, (*repairer).now)},
		{"an orphan is deleted at its own time", remove(repair.Orphan, atOwn)},
		{"the base row is right: a newer row is deleted at its own time", remove(repair.Newer, atOwn)},
		{"an older ghost is deleted at the present time", remove(repair.Ghost, (*repairer).now)},
		{"age by timestamp: an import with At, paused half-way, is taken for old", importIsOld},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wrong, _, did := runRepairs(repairPlan{families: stamped(false), naive: tt.naive}, damagedCases(t))
			t.Logf("%d of %d go wrong, by %d mutations", wrong, damagedCases(t), did[deedNaive])
			if wrong == 0 {
				t.Error("not seen")
			}
		})
	}
}

// now is a time at which a repair could run: anywhere among those of the writes.
func (x *repairer) now(*repair.Row) int64 {
	from := x.trial.changes[0].timestamp
	return from + x.rand.Int64N(x.trial.newest().timestamp-from+3)
}

func putMissing(x *repairer, l *repair.Look) []statement.Mutation {
	for _, f := range l.Findings() {
		if f.Class != repair.Missing {
			continue
		}
		all, err := l.Base.Deliver(x.now(nil), true, nil)
		if err != nil {
			panic(err)
		}
		return slices.DeleteFunc(all, func(m statement.Mutation) bool {
			return m.Table != f.Table || m.Kind != statement.Put
		})
	}
	return nil
}

// importIsOld decides as if the writes of the case had been made thirty days later, with At: by their timestamps they
// are older than any horizon, while their mutations are still on their way.
func importIsOld(_ *repairer, l *repair.Look) []statement.Mutation {
	d, err := repair.Decide(*l, repair.Rules{Old: true, Unproven: true, Promotable: math.MaxInt64})
	if err != nil {
		panic(err)
	}
	return d.Send
}

// remove deletes the rows of a class, each alone.
func remove(class repair.Class, at func(x *repairer, q *repair.Row) int64) func(*repairer,
	*repair.Look) []statement.Mutation {
	return func(x *repairer, l *repair.Look) (out []statement.Mutation) {
		for _, f := range l.Findings() {
			if f.Class != class {
				continue
			}
			i := slices.IndexFunc(l.Rows, func(q repair.Row) bool { return q.Table() == f.Table && q.Key() == f.Key })
			m, err := l.Rows[i].Remove(at(x, &l.Rows[i]), nil)
			if err != nil {
				panic(err)
			}
			out = append(out, m)
		}
		return out
	}
}
