package statement

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
		reflect.TypeFor[wireMutation](): {
			"Kind statement.MutationKind", "Keyspace string", "Table string", "Timestamp int64", "ExpiresAt int64", "Keys int",
			"Part int",
			"Columns []statement.Column",
		},
		reflect.TypeFor[Column](): {"Name string", "State uint8", "Type string", "Data []uint8", "Edit statement.EditKind"},
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
