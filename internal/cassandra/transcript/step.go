// Package transcript is requests to a cluster and what it has answered, so that two clusters can be compared with each
// other, or one against what another has answered at some time: bytes of values, names and types of columns, codes of
// errors.
package transcript

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Step is one request.
type Step struct {
	Statements []Statement
	Batch      string   `json:",omitempty"` // LOGGED, UNLOGGED or COUNTER; empty if the one statement is in none
	Timestamp  int64    `json:",omitempty"` // that of the protocol, 0 without
	PageSize   int      `json:",omitempty"` // 0 for one page
	Level      string   `json:",omitempty"` // the consistency as CQL spells it, empty for ALL
	Columns    []string `json:",omitempty"` // of a batch that has conditions: those that there may be in the answer
	Wait       int      `json:",omitempty"` // seconds that pass before it
}

// Statement is a statement with what is bound to its marks. One that has no values is not prepared.
type Statement struct {
	Text   string
	Values []Value `json:",omitempty"`
}

// Value is a value that is bound, or one of a result.
type Value struct {
	Bytes []byte // nil is null
	Unset bool
}

// MarshalText spells the value as CQL does that of a blob.
func (v Value) MarshalText() ([]byte, error) {
	switch {
	case v.Unset:
		return []byte("unset"), nil
	case v.Bytes == nil:
		return []byte("null"), nil
	}
	return []byte("0x" + hex.EncodeToString(v.Bytes)), nil
}

// UnmarshalText is the reverse of [Value.MarshalText].
func (v *Value) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case "unset":
		*v = Value{Unset: true}
	case "null":
		*v = Value{}
	default:
		b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
		if err != nil {
			return fmt.Errorf("a value in a transcript: %w", err)
		}
		*v = Value{Bytes: b}
	}
	return nil
}

// String is the step in one line.
func (s Step) String() string {
	var b strings.Builder
	if s.Wait > 0 {
		fmt.Fprintf(&b, "after %d s ", s.Wait)
	}
	if s.Batch != "" {
		fmt.Fprintf(&b, "%s BATCH ", s.Batch)
	}
	if s.Timestamp != 0 {
		fmt.Fprintf(&b, "at %d ", s.Timestamp)
	}
	if s.PageSize > 0 {
		fmt.Fprintf(&b, "by %d ", s.PageSize)
	}
	if s.Level != "" {
		fmt.Fprintf(&b, "level %s ", s.Level)
	}
	for i, statement := range s.Statements {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(statement.Text)
		for i, v := range statement.Values {
			text, _ := v.MarshalText() // never fails
			b.WriteString([]string{", ", " <- "}[min(1, max(0, 1-i))])
			b.Write(text)
		}
	}
	return b.String()
}
