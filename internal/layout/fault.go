package layout

import (
	"fmt"
	"strings"
)

// Fault is one mistake in a declaration. Table and Column are empty where the fault concerns none in particular.
type Fault struct {
	Table, Column, Reason string
}

func (f Fault) String() string {
	var b strings.Builder
	if f.Table != "" {
		fmt.Fprintf(&b, "table %s: ", f.Table)
	}
	if f.Column != "" {
		fmt.Fprintf(&b, "column %s: ", f.Column)
	}
	return b.String() + f.Reason
}

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has
// been sent. It never holds a value of the row.
type InvalidError struct {
	Entity, Table, Column, Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("entity %s: %s", e.Entity, Fault{e.Table, e.Column, e.Reason})
}
