package repair_test

import (
	"math"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// Rows under other keys are removed before the base row is written over, and what is written ends when the row did. An
// insert that has reached the base table is left: no row says that there was nothing before.
func TestUndo(t *testing.T) {
	t.Parallel()
	const now, ahead = 2_000_000_000_000_000, 3_000_000_000_000_000
	set := crates(tables.SingleWriter("status"))
	row := func(table string, at int64, status string) repair.Row {
		return rowOf(t, set, table, at, map[string][]byte{"id": {0, 0, 0, 1}, "status": []byte(status)})
	}
	base, ghost, future := row("crates", now, "a"), row("crates_by_status", now-1, "b"),
		row("crates_by_status", ahead, "c")
	for name, w := range base.Written {
		base.Written[name] = statement.Written{At: w.At, Ends: now / 1000}
	}
	decide := func(undo bool, base repair.Row, rows ...repair.Row) repair.Repair {
		t.Helper()
		l := lookAt(set, &base, rows...)
		l.Ahead = now + 1
		for _, f := range l.Findings() {
			if f.Class != repair.Ahead {
				t.Errorf("%+v", f)
			}
		}
		d, err := repair.Decide(l, repair.Rules{Undo: undo})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := decide(false, base, ghost, future); d.Reason == "" || len(d.Send) > 0 {
		t.Errorf("%+v", d)
	}
	if d := decide(true, base, ghost, future); len(d.Send) != 1 || d.Send[0].Kind != statement.Remove ||
		d.Send[0].Timestamp != now-1 || len(d.Removes) != 1 {
		t.Errorf("a ghost first: %+v", d)
	}
	d := decide(true, base, future)
	if len(d.Send) != 3 || len(d.Removes) != 1 {
		t.Fatalf("%+v", d)
	}
	for _, m := range d.Send {
		_, ends := m.ExpiresAt()
		if put := m.Kind == statement.Put; put && (m.Timestamp != ahead+1 || !ends) || !put && m.Timestamp != ahead {
			t.Errorf("%s at %d, ends %t", m, m.Timestamp, ends)
		}
	}
	if d := decide(true, base, row("crates_by_status", math.MaxInt64, "c")); !strings.Contains(d.Reason,
		"delete it in CQL") || len(d.Send)+len(d.Removes) > 0 {
		t.Errorf("nothing is after the last timestamp: %+v", d)
	}
	if d := decide(true, row("crates", ahead, "a")); !strings.Contains(d.Reason, "No other row") || len(d.Send) > 0 {
		t.Errorf("%+v", d)
	}
}
