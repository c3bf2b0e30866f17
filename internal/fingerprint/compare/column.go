package compare

import (
	"github.com/denorm-go/denorm/internal/layout"
)

// Kept says what is wrong where a live table has a column of the library's own, by name and CQL type, that the set does not
// declare. It is empty for any other column.
func Kept(column, cqlType string) string {
	switch {
	case column == layout.PendingColumn && cqlType == layout.PendingType:
		return "is kept by a Versioned set, and this set is not: its plain writes would undo what transactions have decided. " +
			"Declare Versioned, as the processes do that write the table"
	case column == layout.TokenColumn && cqlType == layout.TokenType:
		return "is kept in a table of unique keys, and this set declares it a plain one: its writes would give a key away that has " +
			"an owner. Declare the table Unique, as the processes do that write it"
	}
	return ""
}
