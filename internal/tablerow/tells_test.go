package tablerow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// What tells the row of an entity from what a delete leaves is the same for a reader as for a transaction: every column
// alongside key and version, also one that is no field.
func TestLayoutTells(t *testing.T) {
	t.Parallel()
	type row struct {
		ID      gocql.UUID
		Due     *time.Time
		Version gocql.UUID
	}
	set, err := tables.New[row]("row",
		tables.Table{Name: "rows", PartKey: []string{"id"}, Columns: []string{"id", "due", "version", "part"}},
		tables.Table{Name: "rows_by_part", PartKey: []string{"part"}, SortKey: []string{"id"}},
		tables.Derive("part", tables.Hash(4, "id")), tables.Versioned("version"))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := tablerow.LayoutOf(set.Internal(), "rows")
	if got := base.Tells(); !slices.Equal(got, []string{"due", "part"}) {
		t.Errorf("the base table tells by %v", got)
	}
	if got := base.Columns(); !slices.Equal(got, []string{"id", "due", "version", "part"}) {
		t.Errorf("selected are %v", got)
	}
	other, _ := tablerow.LayoutOf(set.Internal(), "rows_by_part")
	if got := other.Tells(); got != nil {
		t.Errorf("a query table tells by %v: whatever stands there is a row", got)
	}
	plain, err := tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if base, _ = tablerow.LayoutOf(plain.Internal(), "rows"); base.Tells() != nil {
		t.Errorf("a set without versions tells by %v", base.Tells())
	}
}
