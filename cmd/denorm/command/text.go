package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/denorm-go/denorm/schema/lint"
)

// writeText writes findings for people.
func writeText(out io.Writer, found []lint.Finding, c colours) error {
	var b strings.Builder
	for _, f := range found {
		if f.Suppressed != "" {
			continue
		}
		if f.At.Line > 0 {
			fmt.Fprintf(&b, "%s:%d: ", f.At.File, f.At.Line)
		}
		fmt.Fprintf(&b, "%s %s %s %s\n    %s\n", c.severity(f.Severity), f.Code, f.Table, c.dim(f.Rule), f.Reason)
		if f.Query != "" {
			fmt.Fprintf(&b, "    query: %s\n", f.Query)
		}
		fmt.Fprintf(&b, "    mend: %s\n", f.Mend)
	}
	n := count(found)
	fmt.Fprintf(&b, "%d errors, %d warnings, %d notes, %d suppressed\n", n.Errors, n.Warnings, n.Notes, n.Suppressed)
	_, err := io.WriteString(out, b.String())
	return err
}

// counts are the numbers of findings.
type counts struct {
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Notes      int `json:"notes"`
	Suppressed int `json:"suppressed"`
}

func count(found []lint.Finding) counts {
	var n counts
	for _, f := range found {
		switch {
		case f.Suppressed != "":
			n.Suppressed++
		case f.Severity == lint.Error:
			n.Errors++
		case f.Severity == lint.Warning:
			n.Warnings++
		default:
			n.Notes++
		}
	}
	return n
}
