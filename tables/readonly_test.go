package tables_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// note has a list that is only read.
type note struct {
	ID, Kind  string
	Lines     []string
	UpdatedAt int64
	EndsAt    time.Time
	Version   gocql.UUID
}

// A list that is only read is declared where each write keeps it, and no option would bind it.
func TestReadOnlyRefused(t *testing.T) {
	t.Parallel()
	notes, readOnly := tables.Table{Name: "notes", PartKey: []string{"id"}}, tables.ReadOnly("lines")
	byKind := tables.Table{Name: "notes_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}}
	bySlot := tables.Table{Name: "notes_by_slot", PartKey: []string{"slot"}, SortKey: []string{"id"}}
	moving, stamped := tables.OneOf("kind", "a", "b"), tables.Stamp("updated_at")
	withoutLines := byKind
	withoutLines.Columns = []string{"updated_at"}
	lost := "column lines: is ReadOnly, and rows of this table move in changes that do not know their lists: leave the " +
		"column out of its Columns"
	runFaultCases(t, []faultCase{
		{"in each table", declaring[note](notes, byKind, readOnly), nil},
		{"with its type", declaring[note](notes, readOnly, tables.Type("lines", "list<ascii>")), nil},
		{"twice", declaring[note](notes, readOnly, readOnly), []string{"column lines: is in ReadOnly twice"}},
		{"no column", declaring[note](notes, readOnly, tables.ReadOnly("line")), []string{
			"column line: ReadOnly names a column that is no field of tables_test.note: did you mean lines?",
		}},
		{"no list", declaring[note](notes, readOnly, tables.ReadOnly("kind")), []string{
			"column kind: ReadOnly is for lists that are not frozen, and this is text: leave ReadOnly out",
		}},
		{"a frozen list", declaring[note](notes, readOnly, tables.Type("lines", "frozen<list<text>>")), []string{
			"column lines: ReadOnly is for lists that are not frozen, and this is frozen<list<text>>: leave ReadOnly out",
		}},
		{
			"a key", declaring[note](notes, tables.Table{Name: "by_lines", PartKey: []string{"id", "lines"}}, readOnly),
			[]string{
				"column lines: a key column cannot be a non-frozen collection",
			},
		},
		{"compared", declaring[note](notes, readOnly, tables.Compare("kind", "lines")), []string{
			"column lines: is ReadOnly, and Compare would bind it: compare another column",
		}},
		{"rows that end", declaring[note](notes, readOnly, tables.ExpiresAt("ends_at")), []string{
			"column lines: ReadOnly with ExpiresAt: the list does not end with its row: leave the field out",
		}},
		{"a transaction", declaring[note](notes, readOnly, tables.Versioned("version"), tables.Transactional()), []string{
			"column lines: ReadOnly in a Transactional set is not supported: leave the field out",
		}},
		{"rows that move with their before-images", declaring[note](notes, byKind, readOnly, moving, stamped), nil},
		{
			"rows that move without", declaring[note](notes, byKind, readOnly, moving, stamped, tables.SweepInserts()),
			[]string{"table notes_by_kind: " + lost},
		},
		{"rows that move without their lists", declaring[note](notes, withoutLines, readOnly, moving, stamped,
			tables.SweepInserts()), nil},
		{"rows under several functions", declaring[note](notes, bySlot, readOnly, tables.Derive("slot", tables.Hash(4, "id"),
			tables.Since{Bucket: tables.Hash(8, "id")})), []string{"table notes_by_slot: " + lost}},
	})
}

// The delete of a Versioned entity removes its list, also once it was stored: else the next entity of this id would
// begin with it.
func TestReadOnlyDeleteRemoves(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[note]("note", tables.Table{Name: "notes", PartKey: []string{"id"}},
		tables.ReadOnly("lines"), tables.Versioned("version")))
	row := note{ID: "a", Lines: []string{"1"}, Version: before}
	shop := func(string) string { return "shop" }
	c, err := set.Delete(row).Internal().RenderConditional(at.UnixMicro(), version, shop)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored entity.Conditional
	if err := stored.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if found, fault := stored.DeclaredIn(set.Internal(), shop); !found || fault != "" {
		t.Errorf("stored, it is not of the set: %v, %q", found, fault)
	}
	for name, c := range map[string]*entity.Condition{"at once": c.Condition, "stored": stored.Condition} {
		update := c.Base().Swap(c.Swap())[0]
		if !strings.Contains(update.Text, "lines = ") {
			t.Errorf("%s: %s", name, update.Text)
		}
		for _, a := range update.Args {
			if v, ok := a.(*cqltype.Value); ok && v.Type.Kind() == gocql.TypeList && v.Data != nil {
				t.Errorf("%s: the list is bound", name)
			}
		}
	}
	kept, err := set.Update(row, row).Internal().RenderConditional(at.UnixMicro(), version, shop)
	if err != nil {
		t.Fatal(err)
	}
	if text := kept.Condition.Base().Swap(kept.Condition.Swap())[0].Text; strings.Contains(text, "lines") {
		t.Errorf("an update: %s", text)
	}
}
