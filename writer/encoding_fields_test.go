package writer

import (
	"reflect"
	"slices"
	"testing"
)

// Fields of what is stored. Whoever changes one gives the format another version, which is in magic. Then the list here follows.
func TestStoredFieldsAreOfAVersion(t *testing.T) {
	t.Parallel()
	if magic[len(magic)-1] != 2 {
		t.Errorf("version %d has no list of fields here", magic[len(magic)-1])
	}
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireError](): {
			"Op string", "Timestamp int64", "Mode writer.Mode", "Strict bool", "Link string", "Paths []writer.wirePath", "Decision writer.wireDecision",
		},
		reflect.TypeFor[wireDecision](): {
			"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool", "Conflict bool", "Taken string", "Tables []string", "Conditions [][]uint8",
		},
		reflect.TypeFor[wirePath](): {"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool", "Mutations [][]uint8"},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and version 2 is %q", typ, got, want)
		}
	}
}
