package repair_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// noteRow is patched column by column.
type noteRow struct {
	ID        int32
	Shelf     string
	Owner     string
	Kind      string
	Text      *string
	Size      *int32
	UpdatedAt int64
}

var noteSet = tables.Must(tables.New[noteRow]("note",
	tables.Table{Name: "notes", PartKey: []string{"shelf"}, SortKey: []string{"id"}},
	tables.Table{Name: "notes_by_owner", PartKey: []string{"owner"}, SortKey: []string{"shelf", "id"}},
	tables.Table{Name: "notes_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
	tables.Table{Name: "note_keys", PartKey: []string{"owner", "kind", "shelf", "id"}, Columns: []string{}},
	tables.Table{Name: "note_shelves", PartKey: []string{"kind", "owner", "id"}, Columns: []string{"shelf"}},
	tables.Table{Name: "note_sizes", PartKey: []string{"owner", "id"}, Columns: []string{"size", "updated_at", "shelf"}},
	tables.ID("id"), tables.Stamp("updated_at")))

// noteFamily is for the model of the tables only: changes are drawn by drawNotes.
var noteFamily = sync.OnceValue(func() *lawFamily {
	f := &lawFamily{name: "notes", set: noteSet, patched: true}
	f.describe(describe.Of(noteSet.Internal()), nil) // the stamp is a column like others here
	return f
})

func drawNote(r *rand.Rand) tables.Change {
	row := noteRow{ID: 1, Shelf: "s", Owner: "o", Kind: "k", Text: perhaps(r, "a", "b"), Size: perhaps[int32](r, 1, 2)}
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

// noteCase is a case of a note. Its tables are kept for the next one.
type noteCase struct {
	changes         []tables.Change
	repaired, truth *lawReplica // everything is delivered to the latter, and nothing is repaired there
}

// drawNotes makes a case of changes of a note that follow each other by what gap gives.
func (x *repairer) drawNotes(gap func() int64) {
	if x.notes.repaired == nil {
		x.notes.repaired, x.notes.truth = newLawReplica(noteFamily()), newLawReplica(noteFamily())
	}
	x.replica = x.notes.repaired
	x.replica.reset()
	tr := x.trial
	tr.family, tr.changes, tr.steps, x.notes.changes = noteFamily(), tr.changes[:0], tr.steps[:0], x.notes.changes[:0]
	at := int64(lawEpoch * 1_000_000)
	for range 2 + x.rand.IntN(5) {
		change := drawNote(x.rand)
		c := lawChange{kind: change.Kind(), before: -1, after: -1, timestamp: at, mutations: mutationsOf(change, at)}
		tr.changes = append(tr.changes, c)
		x.notes.changes = append(x.notes.changes, change)
		at += gap()
	}
	tr.drawSteps(x.rand)
}

// story tells what is written in the case.
func (x *repairer) story() string {
	var b strings.Builder
	for i, c := range x.notes.changes {
		fmt.Fprintf(&b, "\n%s at %d %+v %v", c, x.trial.changes[i].timestamp, c.After(), c.Edits())
	}
	return b.String()
}

// sameTables says in what a replica differs from the truth. Where a patch has made a row alone, the row lacks the
// columns of other tables' keys; a repair puts them with what it puts besides, as a create that was lost would.
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

// A row that is missing is put by its columns, and with the column through which it leads to the base row: without
// that, reads and later repairs would not find whose it is.
func TestMissingRowLeadsToItsBaseRow(t *testing.T) {
	t.Parallel()
	set, four := noteSet.Internal(), []byte{0, 0, 0, 4}
	base := rowOf(t, set, "notes", 1000, map[string][]byte{
		"shelf": []byte("s"), "id": four, "owner": []byte("o"), "kind": []byte("k"), "size": four,
	})
	b, _ := tablerow.LayoutOf(set, "notes")
	for table, columns := range map[string][]string{
		"note_sizes": {"size", "updated_at", "shelf"}, "note_shelves": {"shelf"},
		"notes_by_owner": {"kind", "size", "updated_at"},
	} {
		q, _ := tablerow.LayoutOf(set, table)
		d, err := repair.Decide(repair.Look{Base: &base, BaseTable: b, Tables: []tablerow.Layout{q}, All: true},
			repair.Rules{})
		var got []string
		for _, m := range d.Send {
			got = append(got, m.Names...)
		}
		for _, name := range columns {
			if !slices.Contains(got, name) {
				t.Errorf("%s: column %s is not put: %v, %v", table, name, got, err)
			}
		}
	}
}

// TestRepairCells is TestRepairSafety for a set that is patched.
func TestRepairCells(t *testing.T) {
	cases := length.Of(t, 20_000)
	wrong, first, did := runRepairs(repairPlan{families: stamped(false), run: (*repairer).amongNotes}, cases)
	t.Logf("%d cases: promoted %d, of these withdrawn %d, delivered %d", cases, did[deedPromote], did[deedWithdraw],
		did[deedDeliver])
	if wrong > 0 || did[deedPromote]*did[deedWithdraw]*did[deedDeliver] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
}

// amongNotes lets repairs meet writers of a note, and gives what is wrong in the end.
func (x *repairer) amongNotes() string {
	x.drawNotes(func() int64 { return one[int64](x.rand, 1, 1, 2, 1000) })
	truth := x.notes.truth
	truth.reset()
	for _, c := range x.trial.changes {
		for i := range c.mutations {
			if err := truth.apply(&c.mutations[i], lawEpoch); err != nil {
				panic(err)
			}
		}
	}
	x.among()
	if wrong := sameTables(x.replica, truth); wrong != "" {
		return wrong + x.story()
	}
	return ""
}

// noteCell is a value in which a row differs from the base row.
type noteCell struct {
	name       string
	row, base  *repair.Row // base is nil if there is none
	have, want []byte      // what they have
}

// at are the times of both.
func (c noteCell) at() (have, want int64) {
	if c.base != nil {
		want = c.base.Written[c.name].At
	}
	return c.row.Written[c.name].At, want
}

// put sends a value of the base row, remove sends a null.
func (c noteCell) put(at int64) (statement.Mutation, error) {
	return c.row.Cell(c.name, &c.base.Row, c.row.Layout(), statement.Written{At: at}, nil)
}

func (c noteCell) remove(at int64) (statement.Mutation, error) {
	return c.row.Cell(c.name, nil, c.row.Layout(), statement.Written{At: at}, nil)
}

// naiveCells are rules that send something about such a value, or nothing.
var naiveCells = []struct {
	name string
	rule func(x *repairer, c noteCell) (statement.Mutation, error)
}{
	{
		"a value that the base row does not have is removed at its own time",
		func(_ *repairer, c noteCell) (m statement.Mutation, err error) {
			if at, _ := c.at(); c.want == nil {
				return c.remove(at)
			}
			return m, nil
		},
	},
	{
		"a value that the base row does not have is removed at the present time",
		func(x *repairer, c noteCell) (m statement.Mutation, err error) {
			if c.want == nil {
				return c.remove(x.now(nil))
			}
			return m, nil
		},
	},
	{"a value of the base row is put at the present time", func(x *repairer, c noteCell) (m statement.Mutation,
		err error,
	) {
		if have, want := c.at(); c.want != nil && (c.have == nil || have < want) {
			return c.put(x.now(nil))
		}
		return m, nil
	}},
	{
		"the base row is right: a newer value is removed at its own time",
		func(_ *repairer, c noteCell) (m statement.Mutation, err error) {
			if have, want := c.at(); c.have != nil && c.want != nil && have > want {
				return c.remove(have)
			}
			return m, nil
		},
	},
}

// TestNaiveRepairsOfCells is TestNaiveRepairs for a set that is patched.
func TestNaiveRepairsOfCells(t *testing.T) {
	for _, tt := range naiveCells {
		t.Run(tt.name, func(t *testing.T) {
			naive := func(x *repairer, l *repair.Look) (out []statement.Mutation) {
				for i := range l.Rows {
					q := &l.Rows[i]
					for _, name := range q.Layout().Regular() {
						c := noteCell{name: name, row: q, base: l.Base}
						if c.have, _ = q.Value(name); l.Base != nil {
							c.want, _ = l.Base.Value(name)
						}
						if bytes.Equal(c.have, c.want) && (c.have == nil) == (c.want == nil) {
							continue
						}
						m, err := tt.rule(x, c)
						if err != nil {
							panic(err)
						}
						if m.Statement != "" {
							out = append(out, m)
						}
					}
				}
				return out
			}
			wrong, _, did := runRepairs(repairPlan{families: stamped(false), naive: naive, run: (*repairer).amongNotes},
				damagedCases(t))
			t.Logf("%d of %d go wrong, by %d mutations", wrong, damagedCases(t), did[deedNaive])
			if wrong == 0 {
				t.Error("not seen")
			}
		})
	}
}
