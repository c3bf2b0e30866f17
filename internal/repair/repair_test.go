package repair_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
)

type crate struct {
	ID        int32
	Status    string
	Note      *string
	Tags      map[string]string
	UpdatedAt int64
}

// rowOf is a row of a table of a set, with one time for all of it.
func rowOf(t *testing.T, set *layout.Set, table string, at int64, values map[string][]byte) repair.Row {
	t.Helper()
	l, _ := tablerow.LayoutOf(set, table)
	values["updated_at"] = binary.BigEndian.AppendUint64(nil, uint64(at))
	var ordered [][]byte
	for _, name := range l.AllColumns() {
		ordered = append(ordered, values[name])
	}
	r, err := tablerow.Read(l, ordered)
	if err != nil {
		t.Fatal(err)
	}
	written := make(map[string]statement.Written)
	for _, name := range tablerow.Timed(l) {
		if values[name] != nil {
			written[name] = statement.Written{At: at}
		}
	}
	return repair.Row{Row: r, At: at, Written: written}
}

func crates(rule tables.Option) *layout.Set {
	return tables.Must(tables.New[crate]("crate",
		tables.Table{Name: "crates", PartKey: []string{"id"}},
		tables.Table{Name: "crates_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
		tables.Stamp("updated_at"), rule)).Internal()
}

func lookAt(set *layout.Set, base *repair.Row, rows ...repair.Row) repair.Look {
	b, _ := tablerow.LayoutOf(set, "crates")
	q, _ := tablerow.LayoutOf(set, "crates_by_status")
	return repair.Look{Base: base, BaseTable: b, Tables: []tablerow.Layout{q}, Rows: rows, All: true}
}

// notes are what puts say of the column note: null, unset or a value.
func notes(send []statement.Mutation) []string {
	var out []string
	for _, m := range send {
		i := slices.Index(m.Names, "note")
		switch {
		case m.Kind != statement.Put || i < 0:
		case m.Args[i] == any(gocql.UnsetValue):
			out = append(out, "unset")
		default:
			v, _ := m.Args[i].(*cqltype.Value)
			out = append(out, map[bool]string{true: "null", false: "value"}[v.Data == nil])
		}
	}
	return out
}

// What a base row has as null is sent so to a row that differs, however old it is, and to one that is missing, unless
// the base row is so old that nothing of before may be delivered.
func TestNulls(t *testing.T) {
	t.Parallel()
	set := crates(tables.OneOf("status", "a", "b"))
	id := []byte{0, 0, 0, 1}
	without := rowOf(t, set, "crates", 2000, map[string][]byte{"id": id, "status": []byte("a")})
	older := rowOf(t, set, "crates_by_status", 1000, map[string][]byte{
		"id": id, "status": []byte("a"),
		"note": []byte("x"),
	})
	for _, old := range []bool{false, true} {
		d, err := repair.Decide(lookAt(set, &without, older), repair.Rules{Old: old, Unproven: true})
		if got := notes(d.Send); err != nil || !slices.Equal(got, []string{"null", "null"}) {
			t.Errorf("an older row, old %t: %v, note %v", old, err, got)
		}
	}
	for delivered, want := range map[int64]string{2000: "null", 2001: "unset"} {
		d, err := repair.Decide(lookAt(set, &without), repair.Rules{Delivered: delivered})
		if got := notes(d.Send); err != nil || !slices.Equal(got, []string{want, want}) {
			t.Errorf("a missing row, nothing is delivered of before %d: %v, note %v", delivered, err, got)
		}
	}
}

// A row without a base row, with elements whose times cannot be read, is left alone with a reason.
func TestElementsOfAnOrphan(t *testing.T) {
	t.Parallel()
	set := crates(tables.Type("id", "int")) // whose rows never move
	tags := []byte{0, 0, 0, 1, 0, 0, 0, 1, 'k', 0, 0, 0, 1, 'v'}
	orphan := rowOf(t, set, "crates_by_status", 1000, map[string][]byte{
		"id": {0, 0, 0, 1}, "status": []byte("a"),
		"tags": tags,
	})
	d, err := repair.Decide(lookAt(set, nil, orphan), repair.Rules{})
	if err != nil || d.Reason == "" || len(d.Send)+len(d.Promote) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// A row under a value that OneOf does not list is put nowhere. Without a base row it is removed alone, once it is old.
func TestOutsideOfDomain(t *testing.T) {
	t.Parallel()
	set := crates(tables.OneOf("status", "a", "b"))
	row := func(table, status string, at int64) repair.Row {
		return rowOf(t, set, table, at, map[string][]byte{"id": {0, 0, 0, 1}, "status": []byte(status)})
	}
	base, odd := row("crates", "a", 1000), row("crates", "x", 1000)
	for _, tt := range []struct {
		name           string
		base           *repair.Row
		old            bool
		status         []string // of the rows
		at             int64
		promoted, sent int // statements
		removed        int
		reason         bool
		later          bool
	}{
		{name: "a ghost", base: &base, status: []string{"x"}, at: 900, sent: 4, removed: 1},
		{name: "a newer one", base: &base, status: []string{"x"}, at: 1100, reason: true},
		{name: "the base row", base: &odd, status: []string{"a"}, at: 900, reason: true},
		{name: "an orphan", status: []string{"x"}, at: 900, reason: true, later: true},
		{name: "an old orphan", status: []string{"x"}, at: 900, old: true, sent: 1, removed: 1},
		{name: "an orphan next to another one", status: []string{"x", "a"}, at: 900, promoted: 1},
		{name: "an old orphan next to another one", status: []string{"x", "a"}, at: 900, old: true, sent: 1, removed: 1},
	} {
		var rows []repair.Row
		for _, status := range tt.status {
			rows = append(rows, row("crates_by_status", status, tt.at))
		}
		d, err := repair.Decide(lookAt(set, tt.base, rows...), repair.Rules{Old: tt.old, Unproven: true})
		if err != nil || len(d.Promote) != tt.promoted || len(d.Send) != tt.sent || len(d.Removes) != tt.removed ||
			(d.Reason != "") != tt.reason || d.Later != tt.later {
			t.Errorf("%s: %+v, %v", tt.name, d, err)
		}
	}
	d, _ := repair.Decide(lookAt(set, nil, row("crates_by_status", "x", 900)), repair.Rules{Old: true, Unproven: true})
	for _, m := range d.Send {
		if m.Table != "crates_by_status" || m.Kind != statement.Remove || m.Timestamp != 900 {
			t.Errorf("sent: %v of %s at %d", m.Kind, m.Table, m.Timestamp)
		}
	}
	byHand := row("crates_by_status", "x", 1100)
	byHand.At = 1200 // not its stamp, so its time says nothing
	foreign := lookAt(set, &base, byHand)
	foreign.Adopt = 2000
	if d, err := repair.Decide(foreign, repair.Rules{}); err != nil || len(d.Removes) != 1 || d.Reason != "" {
		t.Errorf("written by hand: %+v, %v", d, err)
	}
	alone := lookAt(set, nil, row("crates_by_status", "x", 900))
	alone.All = false
	if d, err := repair.Decide(alone, repair.Rules{Old: true, Unproven: true}); err != nil || !d.ReadAll ||
		len(d.Send) > 0 {
		t.Errorf("not read from all replicas: %+v, %v", d, err)
	}
	alone.All = true
	if d, err := repair.Decide(alone, repair.Rules{Old: true}); err != nil || len(d.Send) > 0 || !d.Later {
		t.Errorf("removed though nothing proves it: %+v, %v", d, err)
	}
}

// The work for the rows of one entity grows with their number, not with its square.
func TestWorkForManyGhosts(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	set := crates(tables.SingleWriter("status"))
	id := []byte{0, 0, 0, 1}
	base := rowOf(t, set, "crates", 2000, map[string][]byte{"id": id, "status": []byte("a")})
	work := func(n int) float64 {
		var ghosts []repair.Row
		for i := range n {
			status := fmt.Append(nil, "x", i)
			ghosts = append(ghosts, rowOf(t, set, "crates_by_status", 1000, map[string][]byte{"id": id, "status": status}))
		}
		look := lookAt(set, &base, ghosts...)
		return testing.AllocsPerRun(1, func() {
			if d, err := repair.Decide(look, repair.Rules{}); err != nil || len(d.Removes) != n {
				t.Errorf("%d of %d are removed, and error %v", len(d.Removes), n, err)
			}
		})
	}
	if few, many := work(100), work(1000); many > 12*few {
		t.Errorf("100 rows cost %.0f allocations, and 1000 cost %.0f", few, many)
	}
}
