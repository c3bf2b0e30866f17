package writer

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a later version has stored in a form that this one does not know is rejected, and says so.
func TestLaterFormatIsRefused(t *testing.T) {
	t.Parallel()
	err := new(Error).UnmarshalBinary(sealed(t, wireError{Format: wireFormat + 1, Timestamp: 1, Mode: Conditional + 1}))
	if err == nil || !strings.Contains(err.Error(), "stored by a later version of denorm") {
		t.Error(err)
	}
}

// Fields of what is stored. Whoever adds one decides whether a process that does not know it may pass over it, as gob does: if not,
// what uses it is stored with a Format of its own, which is the new wireFormat. Then the list here follows.
func TestStoredFieldsAreOfAFormat(t *testing.T) {
	t.Parallel()
	if wireFormat != 2 {
		t.Errorf("format %d has no list of fields here", wireFormat)
	}
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireError](): {
			"Format uint8", "Op string", "Timestamp int64", "Mode writer.Mode", "Strict bool", "Paths []writer.wirePath",
			"Condition *writer.wireDecision", "Link string",
		},
		reflect.TypeFor[wireDecision](): {
			"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool", "Conflict bool", "Taken string", "Tables []string", "Condition []uint8",
			"More [][]uint8", // of formats 1 and 2
		},
		reflect.TypeFor[wirePath](): {"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool", "Mutations [][]uint8"},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and formats 0 to 2 are %q", typ, got, want)
		}
	}
}
