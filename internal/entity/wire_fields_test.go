package entity

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a later version has stored in a form that this one does not know is rejected, and says so.
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
	if wireFormat != 1 {
		t.Errorf("format %d has no list of fields here", wireFormat)
	}
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireMutation](): {
			"Format uint8", "Kind entity.MutationKind", "Keyspace string", "Table string", "Timestamp int64", "ExpiresAt int64", "Whole bool",
			"Keys int", "Part int", "Columns []entity.wireColumn",
		},
		reflect.TypeFor[wireColumn](): {"Name string", "State uint8", "Type string", "Data []uint8", "Edit entity.EditKind"},
		reflect.TypeFor[wireCondition](): {
			"Format uint8", "Entity string", "Kind entity.Kind", "Versioned bool", "Local bool", "Transactional bool", "Before gocql.UUID", "Version gocql.UUID",
			"VersionColumn string", "Mark string", "Keys []uint8", "Keyspace string", "Table string", "Key int", "Part int",
			"Columns []entity.wireColumn", "Compared []entity.wireColumn", "Claims []entity.wireClaim", "Releases []entity.wireClaim",
		},
		reflect.TypeFor[wireClaim](): {"Keyspace string", "Table string", "Part int", "Columns []entity.wireColumn"},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and formats 0 and 1 are %q", typ, got, want)
		}
	}
}

// Whatever is encoded can be decoded: the bounds on both sides are the same.
func TestBoundsOfEncoderAndDecoder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	outcomes := make(map[string]int)
	for range 40 {
		n, different := 2+r.IntN(40), 1+r.IntN(40)
		size := []int{20_000, 60_000, maxType, maxType + 1}[r.IntN(4)]
		if r.IntN(8) == 0 {
			n, size = maxStored+r.IntN(3)-1, 20
		}
		columns := []wireColumn{{Name: "id", State: wireValue, Type: "text", Data: []byte("a")}}
		for len(columns) < n {
			text := fmt.Sprintf("u%d{f int", len(columns)%different)
			text += strings.Repeat(" ", size-len(text)-1) + "}"
			columns = append(columns, wireColumn{Name: fmt.Sprintf("c%d", len(columns)), State: wireNull, Type: text})
		}
		w := wireMutation{Kind: Put, Keyspace: "shop", Table: "things", Timestamp: 1, Keys: 1, Part: 1, Columns: columns}
		var data bytes.Buffer
		if err := gob.NewEncoder(&data).Encode(w); err != nil {
			t.Fatal(err)
		}
		encoded, decoded := bounded(columns), new(Mutation).UnmarshalBinary(data.Bytes())
		if (encoded == nil) != (decoded == nil) {
			t.Errorf("%d columns: encoded %v, decoded %v", len(columns), encoded, decoded)
		}
		outcomes[fmt.Sprint(encoded)]++
	}
	if len(outcomes) != 4 {
		t.Errorf("not all bounds were met: %v", outcomes)
	}
}
