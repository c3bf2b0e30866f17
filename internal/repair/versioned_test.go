package repair_test

import (
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type ticket struct {
	ID      int32
	Agent   string
	Text    *string
	Open    bool
	Version gocql.UUID
}

// TestVersionedNulls: what the base row does not have is sent as null, or a lost null would be a difference forever,
// and the base row, which transactions write, is left alone.
func TestVersionedNulls(t *testing.T) {
	set := tables.Must(tables.New[ticket]("ticket",
		tables.Table{Name: "tickets", PartKey: []string{"id"}},
		tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}},
		tables.Versioned("version"))).Internal()
	const at = 1_700_000_000_000_000
	row := func(table string, text []byte) repair.Row {
		l, _ := tablerow.LayoutOf(set, table)
		version := gocql.TimeUUIDWith(0, 0, []byte("abcdef"))
		values := map[string][]byte{
			"id": {0, 0, 0, 1}, "agent": []byte("a"), "text": text, "open": {1},
			"version": version.Bytes(),
		}
		var ordered [][]byte
		for _, name := range l.AllColumns() {
			ordered = append(ordered, values[name])
		}
		r, err := tablerow.Read(l, ordered)
		if err != nil {
			t.Fatal(err)
		}
		return repair.Row{Row: r, At: at}
	}
	base := row("tickets", nil)
	query, _ := tablerow.LayoutOf(set, "tickets_by_agent")
	l := repair.Look{
		Base: &base, Rows: []repair.Row{row("tickets_by_agent", []byte("x"))}, Tables: []tablerow.Layout{query},
		BaseTable: base.Layout(),
	}
	d, err := repair.DecideVersioned(l, repair.Version{At: at}, repair.Rules{})
	if err != nil || len(d.Send) != 1 || len(d.Removes) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	m := d.Send[0]
	if m.Table != "tickets_by_agent" || m.Kind != statement.Put || m.Timestamp != at {
		t.Errorf("%s at %d", m, m.Timestamp)
	}
	for i, name := range m.Names {
		if v, ok := m.Args[i].(*cqltype.Value); name == "text" && (!ok || v.Data != nil) {
			t.Errorf("text is %v, want null", m.Args[i])
		}
	}
}
