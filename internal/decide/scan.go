package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/statement"
)

// together is the statements as one. Several are a batch written as CQL, not a [gocql.Batch]: to read the answer to that, gocql either
// makes a Go value for every column, which [Scan] says cannot be done, or must be told before the batch is sent how many columns come back.
func together(statements []statement.Bound) statement.Bound {
	if len(statements) == 1 {
		return statements[0]
	}
	var text strings.Builder
	var args []any
	text.WriteString("BEGIN UNLOGGED BATCH\n")
	for _, s := range statements {
		text.WriteString(s.Text + ";\n")
		args = append(args, s.Args...)
	}
	text.WriteString("APPLY BATCH")
	return statement.Bound{Text: text.String(), Args: args}
}

// Scan reads the answer to a transaction into row: its timeuuids. MapScanCAS would decode all columns, and panic at types
// that gocql has no Go type for, be it of columns that the set does not declare.
func Scan(iter *gocql.Iter, row map[string]any) (applied bool, err error) {
	var dest []any
	ids := make(map[string]*gocql.UUID)
	for _, c := range iter.Columns() {
		switch t := c.TypeInfo.Type(); {
		case c.Name == "[applied]":
			dest = append(dest, &applied)
		case t == gocql.TypeTimeUUID, t == gocql.TypeUUID:
			ids[c.Name] = new(gocql.UUID)
			dest = append(dest, ids[c.Name])
		case t == gocql.TypeTuple:
			tuple, _ := c.TypeInfo.(gocql.TupleTypeInfo)
			dest = append(dest, slices.Repeat([]any{skipped{}}, len(tuple.Elems))...)
		default:
			dest = append(dest, skipped{})
		}
	}
	found := iter.Scan(dest...)
	if err := iter.Close(); err != nil || !found {
		return false, cmp.Or(err, gocql.ErrNotFound)
	}
	for name, id := range ids {
		row[name] = *id
	}
	return applied, nil
}

// skipped is a column that is not decoded.
type skipped struct{}

// UnmarshalCQL implements [gocql.Unmarshaler].
func (skipped) UnmarshalCQL(gocql.TypeInfo, []byte) error { return nil }
