package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// writeText writes a text to the output. A file gets it as it is, because CQL with a control character in a name is
// correct CQL; a terminal would obey such characters, so it is shown their escapes, and its user is told.
func (c *config) writeText(command *cobra.Command, text string) error {
	if shown := printable.Lines(text); shown != text && c.terminal(command.OutOrStdout()) {
		if _, err := io.WriteString(command.ErrOrStderr(), "denorm: what cannot be printed is shown as escapes (\\x1b); for the text as it is, "+
			"write it to a file\n"); err != nil {
			return err
		}
		text = shown
	}
	_, err := io.WriteString(command.OutOrStdout(), text)
	return err
}

// writeFindings writes findings for people.
func writeFindings(out io.Writer, found []lint.Finding) error {
	var b strings.Builder
	for _, f := range found {
		if f.Suppressed != "" {
			continue
		}
		if f.At.Line > 0 {
			fmt.Fprintf(&b, "%s:%d: ", printable.Line(f.At.File), f.At.Line)
		}
		fmt.Fprintf(&b, "%s %s %s %s\n    %s\n", f.Severity, f.Code, printable.Line(f.Table.String()), f.Rule,
			printable.Line(f.Reason))
		if f.Query != "" {
			fmt.Fprintf(&b, "    query: %s\n", printable.Line(f.Query))
		}
		fmt.Fprintf(&b, "    fix: %s\n", printable.Line(f.Fix))
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

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
