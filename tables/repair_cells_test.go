package tables_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/tables"
)

// noteRow is patched column by column.
type noteRow struct {
	ID        int32
	Owner     string
	Kind      string
	Text      *string
	Size      *int32
	UpdatedAt int64
}

var noteSet = tables.Must(tables.New[noteRow]("note",
	tables.Table{Name: "notes", PartKey: []string{"id"}},
	tables.Table{Name: "notes_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
	tables.Table{Name: "notes_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
	tables.Table{Name: "note_sizes", PartKey: []string{"owner", "id"}, Columns: []string{"size", "updated_at"}},
	tables.Stamp("updated_at")))

// noteFamily is for the model of the tables only: changes are drawn by drawNotes.
var noteFamily = sync.OnceValue(func() *lawFamily {
	f := &lawFamily{name: "notes", set: noteSet, patched: true}
	f.describe(noteSet.Internal().Describe(), nil) // the stamp is a column like others here
	return f
})

func drawNote(r *rand.Rand) tables.Change {
	row := noteRow{ID: 1, Owner: "o", Kind: "k", Text: perhaps(r, "a", "b"), Size: perhaps[int32](r, 1, 2)}
	switch r.IntN(6) {
	case 0:
		return noteSet.Delete(row)
	case 1:
		return noteSet.Update(row, row)
	case 2:
		return noteSet.Patch(row, tables.Column("text"))
	case 3:
		return noteSet.Patch(row, tables.Column("size"), tables.Column("text"))
	}
	return noteSet.Patch(row, tables.Column("size"))
}

// drawNotes makes a case of changes of a note that follow each other by what gap gives. It gives their text, too.
func (tr *lawTrial) drawNotes(r *rand.Rand, gap func() int64) string {
	tr.family, tr.changes, tr.steps = noteFamily(), tr.changes[:0], tr.steps[:0]
	var story strings.Builder
	at := int64(lawEpoch * 1_000_000)
	for range 2 + r.IntN(5) {
		change := drawNote(r)
		rendered, err := change.Internal().Render(at, nil)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&story, "%s at %d %+v %v\n", change, at, change.After(), change.Edits())
		tr.changes = append(tr.changes, lawChange{kind: change.Kind(), timestamp: at, mutations: rendered.Mutations})
		at += gap()
	}
	tr.drawSteps(r)
	return story.String()
}

// sameTables says in what a replica differs from the truth. Where a patch has made a row alone, the row lacks the columns of other tables' keys;
// a repair puts them with what it puts besides, as a create that was lost would.
func sameTables(repaired, truth *lawReplica) string {
	for t := range truth.tables {
		x, y := repaired.show(t, lawDelivered), truth.show(t, lawDelivered)
		for column, value := range map[string]string{"owner=": `"o"`, "kind=": `"k"`} {
			if strings.Contains(y, column+"null") {
				x, y = strings.ReplaceAll(x, column+"null", column+value), strings.ReplaceAll(y, column+"null", column+value)
			}
		}
		if x != y {
			return fmt.Sprintf("table %s: %s\nwant%s", truth.family.tables[t].name, x, y)
		}
	}
	return ""
}

// TestRepairCells is TestRepairSafety for a set that is patched.
func TestRepairCells(t *testing.T) {
	source := rand.NewPCG(0, 0)
	r := rand.New(source)
	x := &repairer{trial: new(lawTrial), rand: r, replica: newLawReplica(noteFamily())}
	truth := newLawReplica(noteFamily()) // to which everything is delivered
	for n := range numberOfCases(t, 20_000) {
		source.Seed(*lawSeed, uint64(n))
		truth.reset()
		x.replica.reset()
		story := x.trial.drawNotes(r, func() int64 { return one[int64](r, 1, 1, 2, 1000) })
		for _, c := range x.trial.changes {
			for i := range c.mutations {
				if err := truth.apply(&c.mutations[i], lawEpoch); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.among()
		if wrong := sameTables(x.replica, truth); wrong != "" {
			t.Fatalf("seed %d, case %d: %s\n%s", *lawSeed, n, story, wrong)
		}
	}
	t.Logf("promoted %d, of these withdrawn %d, delivered %d", x.did[deedPromote], x.did[deedWithdraw], x.did[deedDeliver])
	if x.did[deedPromote] == 0 || x.did[deedDeliver] == 0 {
		t.Error("too little was repaired")
	}
}
