package schema

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cql"
)

// canonicalType spells a CQL type as system_schema does.
func canonicalType(text string) (string, error) {
	t, err := cql.ParseType(text)
	if err != nil {
		return "", fmt.Errorf("type %q: %w", text, err)
	}
	return t.Canonical().String(), nil
}

// udtsOf gives the user-defined types that a type as system_schema spells it is made of.
func udtsOf(text string) []string {
	t, err := cql.ParseType(text)
	if err != nil {
		return nil
	}
	return t.Users()
}

// MultiCell says whether values of a CQL type are stored as several cells, so that overwriting one costs a tombstone: a
// collection or a user-defined type that is not frozen. The type is spelled as system_schema does.
func MultiCell(typ string) bool {
	t, err := cql.ParseType(typ)
	return err == nil && t.MultiCell()
}

// TypeParts takes a CQL type apart: its outermost name, whether it is frozen, and its arguments, for example map, false,
// [text int] of map<text, int>. The arguments of a vector are the type and the number of its elements.
func TypeParts(typ string) (name string, frozen bool, args []string) {
	t, err := cql.ParseType(typ)
	if err != nil {
		return typ, false, nil
	}
	t = t.Canonical()
	for _, a := range t.Args {
		args = append(args, a.String())
	}
	if t.Kind == cql.Class {
		return t.String(), false, args
	}
	return t.Name, t.Frozen, args
}
