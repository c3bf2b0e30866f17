package transcript

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Reply is what a cluster answers.
type Reply struct {
	Columns []Column  `json:",omitempty"`
	Rows    [][]Value `json:",omitempty"`
	Pages   []int     `json:",omitempty"` // how many rows each page had
	Code    int       `json:",omitempty"` // of an error
	Error   string    `json:",omitempty"`
}

// Column is a column of a result.
type Column struct{ Name, Type string }

// String is the reply in some lines.
func (r Reply) String() string {
	if r.Error != "" {
		return fmt.Sprintf("error %#x: %s", r.Code, r.Error)
	}
	var b strings.Builder
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "%s %s  ", c.Name, c.Type)
	}
	for _, row := range r.Rows {
		b.WriteString("\n\t\t")
		for _, v := range row {
			text, _ := v.MarshalText() // never fails
			b.Write(append(text, ' '))
		}
	}
	if len(r.Pages) > 1 {
		fmt.Fprintf(&b, "\n\t\tpages of %v", r.Pages)
	}
	if b.Len() == 0 {
		return "done"
	}
	return b.String()
}

// Lost says of a reply that it tells nothing about what the cluster does with the statement: it did not answer in time.
func (r Reply) Lost() bool {
	return r.Error != "" && (r.Code == 0 || r.Code == 0x1000 || r.Code == 0x1001 || r.Code == 0x1100 || r.Code == 0x1200)
}

// The values that no two clusters agree about: the time, from which on microseconds are those of a clock, and how much
// the seconds may differ that something still has to live.
const (
	clock = 1_000_000_000_000
	late  = 30
)

// Difference says how two replies differ, with the empty string if they do not. Texts of errors are not looked at.
func Difference(a, b Reply) string {
	switch {
	case a.Code != b.Code:
		return "different errors"
	case a.Error != "":
		return ""
	case !slices.Equal(a.Columns, b.Columns):
		return "different columns"
	case len(a.Rows) != len(b.Rows):
		return "different numbers of rows"
	}
	for i, row := range a.Rows {
		for j, v := range row {
			if !alike(a.Columns[j].Name, v, b.Rows[i][j]) {
				return fmt.Sprintf("row %d has another %s", i+1, a.Columns[j].Name)
			}
		}
	}
	if !slices.Equal(a.Pages, b.Pages) {
		return "different pages"
	}
	return ""
}

func alike(column string, a, b Value) bool {
	if (a.Bytes == nil) != (b.Bytes == nil) {
		return false
	}
	if slices.Equal(a.Bytes, b.Bytes) {
		return true
	}
	switch {
	case strings.HasPrefix(strings.TrimPrefix(column, "max"), "writetime(") && len(a.Bytes) == 8 && len(b.Bytes) == 8:
		return int64(binary.BigEndian.Uint64(a.Bytes)) > clock && int64(binary.BigEndian.Uint64(b.Bytes)) > clock
	case strings.HasPrefix(column, "ttl(") && len(a.Bytes) == len(b.Bytes) && len(a.Bytes)%4 == 0:
		// a number, or a list with its lengths
		for n := 0; n < len(a.Bytes); n += 4 {
			if apart := int32(binary.BigEndian.Uint32(a.Bytes[n:])) - int32(
				binary.BigEndian.Uint32(b.Bytes[n:])); apart < -late || apart > late {
				return false
			}
		}
		return true
	}
	return false
}
