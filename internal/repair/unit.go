package repair

import "github.com/denorm-go/denorm/internal/tablerow"

// InNanoseconds says what to do about a row with such times.
const InNanoseconds = "its write times are in nanoseconds, so no later write wins: copy such rows into a new table"

// OtherUnit says why the times of an entity do not tell which row is newer, and what to do: they are not in
// microseconds. It is empty if they are, and if they do not matter, as in a set with Versioned, and where an adoption
// compares values.
func (l Look) OtherUnit() string {
	unit := ""
	if l.Base != nil {
		unit = tablerow.Unit(l.Base.At)
	}
	for i := range l.Rows {
		if of := tablerow.Unit(l.Rows[i].At); of != "" && (unit == "" || of == tablerow.Nanoseconds) {
			unit = of
		}
	}
	switch {
	case unit == tablerow.Nanoseconds:
		return InNanoseconds
	case unit == "" || l.Adopt != 0 || l.BaseTable.Version() != "":
		return ""
	}
	return "its write times are in " + unit + ", and do not say which row is newer: adopt the set"
}
