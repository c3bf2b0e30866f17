package declare

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/layout"
)

// DeclarationError is returned by [New] and names every fault of the declaration at once.
type DeclarationError struct {
	Entity string
	Faults []layout.Fault

	columns []string // of the set, if a fault names one that there is not
}

func (e *DeclarationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tables: set %q has %d fault(s)", e.Entity, len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n\t" + f.String())
	}
	if len(e.columns) > 0 {
		fmt.Fprintf(&b, "\n\tthe columns are %s: each is named by the db tag of its field, or else by the field's name in "+
			"snake case", strings.Join(e.columns, ", "))
	}
	return b.String()
}
