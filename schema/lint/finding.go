package lint

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities.
const (
	Note    Severity = iota + 1 // good to know
	Warning                     // works while it is small, or costs more than it seems
	Error                       // loses rows, is rejected, or takes a cluster down as it grows
)

func (s Severity) String() string {
	return printable.Enum("Severity", s, []string{Note: "note", Warning: "warning", Error: "error"})
}

// MarshalText returns [Severity.String].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is what a rule found in a table.
type Finding struct {
	Code     string // of the rule; its meaning never changes
	Rule     string // its name
	Severity Severity
	Table    schema.ID
	Column   string `json:",omitempty"`
	Query    string `json:",omitempty"` // the query that shows it
	Reason   string // a sentence without its full stop, like Fix
	Fix      string
	// Suppressed is the reason for which the finding was accepted; it is empty if it was not.
	Suppressed string `json:",omitempty"`
	At         schema.Position
}

// String returns the finding on one line; unprintable characters are written as escapes.
func (f Finding) String() string {
	return printable.Line(fmt.Sprintf("%s %s %s: %s", f.Severity, f.Code, f.Table, f.Reason))
}
