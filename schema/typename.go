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
