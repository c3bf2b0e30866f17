package repair

import (
	"slices"

	"github.com/denorm-go/denorm/internal/layout"
)

// unwritable says why a repair is not carried out in a set with tables.ReadOnly, or "": a row that it puts would lack a
// list, or nothing but lists differs.
func (l Look) unwritable(d Repair) string {
	column := func(c layout.Column) bool { return c.ReadOnly }
	if !slices.ContainsFunc(l.BaseTable.Set.Columns, column) || d.RollForward {
		return ""
	}
	if l.Base == nil {
		for _, q := range l.Rows {
			if name := q.Unwritten(l.BaseTable); name != "" && len(d.Promote) > 0 {
				return Unwritten(l.BaseTable.Name(), name)
			}
		}
		return ""
	}
	rows := l.byKey()
	for _, t := range l.Tables {
		key, there := l.Base.KeyIn(t)
		if name := l.Base.Unwritten(t); there && name != "" && rows[[2]string{t.Name(), key}] == nil {
			return Unwritten(t.Name(), name)
		}
	}
	found := l.Findings()
	if slices.ContainsFunc(found, func(f Finding) bool {
		return f.Class != Differing || !l.BaseTable.Column(f.Column).ReadOnly
	}) || len(found) == 0 {
		return ""
	}
	return "the lists of column " + found[0].Column + " differ, and it is ReadOnly: make them equal in CQL"
}

// Unwritten says why a row is not put into a table.
func Unwritten(table, column string) string {
	return "the row would be without the list of column " + column +
		", which is ReadOnly: leave it out of the Columns of " + table +
		", copy it into a frozen column (denorm adopt --copy), or put the row in CQL"
}
