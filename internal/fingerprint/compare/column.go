package compare

import (
	"github.com/denorm-go/denorm/internal/layout"
)

// Kept says what is wrong where a live table has a column of the library's own, by name and CQL type, that the set does not
// declare. It is empty for any other column.
func Kept(column, cqlType string) string {
	switch (layout.Kept{Name: column, Type: cqlType}) {
	case layout.Recent: // the others may be a service's own
		return "is kept by a Versioned set, and this set is not: its plain writes would undo what transactions have decided. " +
			"Declare Versioned, as the processes do that write the table"
	case layout.Token:
		return "is kept in a table of unique keys, and this set declares it a plain one: its writes would give a key away that has " +
			"an owner. Declare the table Unique, as the processes do that write it"
	}
	return ""
}
