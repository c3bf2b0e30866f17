package entity

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

// DeclarationError is returned by [New] and names every fault of the declaration at once.
type DeclarationError struct {
	Entity string
	Faults []Fault

	columns []string // of the set, if a fault names one that there is not
}

func (e *DeclarationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tables: set %q has %d fault(s)", e.Entity, len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n\t" + f.String())
	}
	if len(e.columns) > 0 {
		fmt.Fprintf(&b, "\n\tthe columns are %s: each is named by the db tag of its field, or else by the field's name in snake case",
			strings.Join(e.columns, ", "))
	}
	return b.String()
}

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has
// been sent. It never holds a value of the row.
type InvalidError struct {
	Entity, Table, Column, Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("entity %s: %s", e.Entity, Fault{e.Table, e.Column, e.Reason})
}
