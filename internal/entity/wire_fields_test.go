package entity

import (
	"reflect"
	"slices"
	"testing"
)

// Fields of what is stored. Whoever changes one gives the format of stored errors another version, in package writer.
// Then the list here follows.
func TestStoredFieldsAreOfAVersion(t *testing.T) {
	t.Parallel()
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireCondition](): {
			"Entity string", "Kind entity.Kind", "Versioned bool", "Local bool", "Transactional bool", "Before gocql.UUID",
			"Version gocql.UUID",
			"VersionColumn string", "Mark string", "Keys []uint8", "Keyspace string", "Table string", "Key int", "Part int",
			"Columns []statement.Column", "Compared []statement.Column", "Claims []entity.wireClaim",
			"Releases []entity.wireClaim",
		},
		reflect.TypeFor[wireClaim](): {"Keyspace string", "Table string", "Part int", "Columns []statement.Column"},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and version 3 of stored errors has %q", typ, got, want)
		}
	}
}
