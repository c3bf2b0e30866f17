package tables

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a later version has stored in a form that this one does not know is refused, and says so.
func TestLaterFormatIsRefused(t *testing.T) {
	t.Parallel()
	const want = "stored by a later version of denorm"
	for _, stored := range []any{
		wireMutation{Format: wireFormat + 1, Kind: Put},
		wireMutation{Format: wireFormat + 1, Kind: Increment, Table: "views"},
		wireCondition{Format: wireFormat + 1, Kind: Insert, Columns: []wireColumn{{Name: "New Kind"}}},
	} {
		var data bytes.Buffer
		if err := gob.NewEncoder(&data).Encode(stored); err != nil {
			t.Fatal(err)
		}
		err := new(Mutation).UnmarshalBinary(data.Bytes())
		if _, ok := stored.(wireCondition); ok {
			err = new(Conditional).UnmarshalBinary(data.Bytes())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v", stored, err)
		}
	}
}

// Fields of what is stored. Whoever adds one decides whether a process that does not know it may pass over it, as gob does: if not,
// what uses it is stored with a Format of its own, which is the new wireFormat. Then the list here follows.
func TestStoredFieldsAreOfAFormat(t *testing.T) {
	t.Parallel()
	if wireFormat != 0 {
		t.Errorf("format %d has no list of fields here", wireFormat)
	}
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireMutation](): {
			"Format uint8", "Kind tables.MutationKind", "Keyspace string", "Table string", "Timestamp int64", "ExpiresAt int64", "Whole bool",
			"Keys int", "Part int", "Columns []tables.wireColumn",
		},
		reflect.TypeFor[wireColumn](): {"Name string", "State uint8", "Type string", "Data []uint8", "Edit tables.EditKind"},
		reflect.TypeFor[wireCondition](): {
			"Format uint8", "Entity string", "Kind tables.Kind", "Versioned bool", "Local bool", "Before gocql.UUID", "Version gocql.UUID",
			"VersionColumn string", "Mark string", "Keys []uint8", "Keyspace string", "Table string", "Key int", "Part int",
			"Columns []tables.wireColumn", "Compared []tables.wireColumn", "Claims []tables.wireClaim", "Releases []tables.wireClaim",
		},
		reflect.TypeFor[wireClaim](): {"Keyspace string", "Table string", "Part int", "Columns []tables.wireColumn"},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and format 0 is %q", typ, got, want)
		}
	}
}
