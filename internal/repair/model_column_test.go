package repair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// crateOld is a row as processes see it that do not know the column note yet.
type crateOld struct {
	ID        int32
	Status    string
	Place     *string
	UpdatedAt int64
}

type lawCrate struct {
	ID        int32
	Status    string
	Place     *string
	Note      *string
	UpdatedAt int64
}

func lawCrates[T any]() *tables.Set[T] {
	return tables.Must(tables.New[T]("crate",
		tables.Table{Name: "crates", PartKey: []string{"id"}},
		tables.Table{Name: "crates_sorted", PartKey: []string{"id"}},
		tables.Table{Name: "crates_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
		tables.OneOf("status", "a", "b", "c"), tables.Stamp("updated_at")))
}

var (
	crateSet    = lawCrates[lawCrate]()
	crateSetOld = lawCrates[crateOld]()
)

var crateFamily = sync.OnceValue(func() *lawFamily {
	f := &lawFamily{name: "crates", set: crateSet, patched: true} // not all columns are in each INSERT
	f.describe(describe.Of(crateSet.Internal()), nil)
	return f
})

// drawCrates makes a case of changes by processes of which some do not know the column note. The first one has a note,
// and so has each that knows the column. Those that do not know it reach the base table first: in a row that is in
// another table alone nobody can tell a note that was removed from one that is not known.
func (tr *lawTrial) drawCrates(r *rand.Rand) string {
	tr.family, tr.changes, tr.steps = crateFamily(), tr.changes[:0], tr.steps[:0]
	var story strings.Builder
	at, status := int64(lawEpoch*1_000_000), "a"
	for n := range 2 + r.IntN(5) {
		before, after, note := status, one(r, "a", "b", "c"), one(r, "p", "q")
		row := lawCrate{ID: 1, Status: after, Place: perhaps(r, "x", "y"), Note: &note}
		was := lawCrate{ID: 1, Status: before, UpdatedAt: at - 1}
		change := crateSet.Update(was, row)
		switch {
		case n == 0:
			change = crateSet.Insert(row)
		case r.IntN(2) == 0:
			change = crateSetOld.Update(crateOld{ID: 1, Status: before, UpdatedAt: was.UpdatedAt},
				crateOld{ID: 1, Status: after, Place: row.Place})
		}
		rendered, err := change.Internal().Render(at, nil)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&story, "%s at %d %+v\n", change, at, change.After())
		tr.changes = append(tr.changes, lawChange{kind: change.Kind(), timestamp: at, mutations: rendered.Mutations})
		at += one[int64](r, 1, 2, 1000)
		if r.IntN(3) > 0 {
			status = after
		}
	}
	tr.drawSteps(r)
	for c := range tr.changes {
		first := slices.IndexFunc(tr.steps, func(s lawStep) bool { return s.change == c })
		base := slices.IndexFunc(tr.steps, func(s lawStep) bool { return s.change == c && s.mutation == 0 })
		tr.steps[first].mutation, tr.steps[base].mutation = 0, tr.steps[first].mutation
	}
	return story.String()
}

// TestRepairKeepsTimesOfColumns lets repairs meet writers of which some do not know a column, whose value is then older
// than its row. A repair that put it at the time of the row would undo a write of the column between the two that is
// still to be delivered.
func TestRepairKeepsTimesOfColumns(t *testing.T) {
	source := rand.NewPCG(0, 0)
	r := rand.New(source)
	x := &repairer{trial: new(lawTrial), rand: r, replica: newLawReplica(crateFamily())}
	truth := newLawReplica(crateFamily()) // to which everything is delivered, and nothing repaired
	for n := range length.Of(t, 20_000) {
		source.Seed(*lawSeed, uint64(n))
		truth.reset()
		x.replica.reset()
		story := x.trial.drawCrates(r)
		for _, c := range x.trial.changes {
			for i := range c.mutations {
				if err := truth.apply(&c.mutations[i], lawEpoch); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.apply(x.trial.changes[0].mutations, lawEpoch)
		x.among()
		for table := range 2 { // in the third one a row that moved lacks the column until it is repaired
			if got, want := x.replica.show(table, lawDelivered), truth.show(table, lawDelivered); got != want {
				t.Fatalf("seed %d, case %d: %s\n%s\nwant%s", *lawSeed, n, story, got, want)
			}
		}
	}
	if t.Logf("delivered %d", x.did[deedDeliver]); x.did[deedDeliver] == 0 {
		t.Error("nothing was repaired")
	}
}
