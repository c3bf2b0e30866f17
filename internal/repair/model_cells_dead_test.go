package repair_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// TestRepairCellsLiveness is TestRepairLiveness for a set that is patched.
func TestRepairCellsLiveness(t *testing.T) {
	cases := length.Of(t, 20_000)
	wrong, first, did := runRepairs(repairPlan{families: stamped(false), run: (*repairer).afterDeathsOfNotes}, cases)
	t.Logf("%d of %d cases have drift. Promoted %d, of these withdrawn %d, rewritten %d", did[deedDrift], cases,
		did[deedPromote], did[deedWithdraw],
		did[deedRewrite])
	if wrong > 0 || did[deedDrift]*did[deedPromote]*did[deedWithdraw]*did[deedRewrite] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
}

// afterDeathsOfNotes is afterDeaths for a note: nothing is found in the end, and each of its values is of the newest
// complete write of it, or of a newer one that was begun.
func (x *repairer) afterDeathsOfNotes() string {
	x.drawNotes(func() int64 { return one[int64](x.rand, 1, 1, 2, 1000) })
	complete := x.deliverSome()
	if says := x.untilAgreed(); says != "" {
		return says + x.story()
	}
	base := x.look(lawDelivered).Base
	for _, name := range []string{"text", "size"} {
		have := "null"
		if base != nil {
			if v, _ := base.Value(name); v != nil {
				have = string(v)
			}
		}
		may := []string{"null"} // be there: if no write of the value is complete, it may be as before all of them
		for i := range x.notes.changes {
			v, writes := leaves(x.notes.changes[i], name)
			switch {
			case writes && complete[i]:
				may = []string{v}
			case writes:
				may = append(may, v)
			}
		}
		if !slices.Contains(may, have) {
			return fmt.Sprintf("%s is %q, want one of %q%s\ncomplete: %v", name, have, may, x.story(), complete)
		}
	}
	return ""
}

// leaves is what a change of a note leaves in a column, as the column's bytes, and whether it writes it at all.
func leaves(c tables.Change, name string) (value string, writes bool) {
	row, _ := c.After().(noteRow)
	switch {
	case c.Kind() == tables.Patch && !slices.ContainsFunc(c.Edits(), func(e tables.Edit) bool {
		return e.String() == tables.Column(name).String()
	}):
		return "", false
	case name == "text" && row.Text != nil:
		return *row.Text, true
	case name == "size" && row.Size != nil:
		return string(binary.BigEndian.AppendUint32(nil, uint32(*row.Size))), true
	}
	return "null", true
}
