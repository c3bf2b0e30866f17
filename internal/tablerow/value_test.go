package tablerow

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// A value from before a user-defined type got a field has the same bytes as one from since in which it is null.
func TestAsDeclared(t *testing.T) {
	t.Parallel()
	unhex := func(text string) []byte {
		data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	parse := func(name string) *cqltype.Type {
		typ, err := cqltype.ParseDefinition(strings.ReplaceAll(name, "place", "place{city text, zip int}"))
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	const (
		whole = "00000001 61 00000004 00000001" // a place
		short = "00000001 61"
		full  = short + "ffffffff"
		null  = whole + "ffffffff"
		more  = whole + "00000001 62"
	)
	for _, tt := range []struct{ name, value, want string }{
		{"text", "61", "61"},
		{"place", whole, whole},
		{"place", short, full},
		{"place", "", ""}, // no value, but one that the server has an order for
		{"place", null, whole},
		{"place", null + "ffffffff", whole},
		{"place", more, more}, // another value
		{"place", "00000009 61", "00000009 61"},
		{"frozen<list<place>>", "00000002 00000005" + short + "00000011" + null, "00000002 00000009" + full + "0000000d" +
			whole},
		{"frozen<list<place>>", "0000", "0000"},
		{"frozen<map<text, place>>", "00000001 00000001 61 00000005" + short, "00000001 00000001 61 00000009" + full},
	} {
		typ := parse(tt.name)
		value, want := unhex(tt.value), unhex(tt.want)
		if got := AsDeclared(typ, value); !bytes.Equal(got, want) || !bytes.Equal(AsDeclared(typ, got), got) ||
			!typ.Same(got, value) {
			t.Errorf("%s: %s: %x", tt.name, tt.value, got)
		}
	}
	if got := AsDeclared(parse("place"), nil); got != nil {
		t.Errorf("null: %x", got)
	}
}
