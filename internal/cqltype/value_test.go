package cqltype_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// Values that the server takes as equal, and others. integration/load/differential holds the same against real nodes.
func TestSame(t *testing.T) {
	t.Parallel()
	ts := known(t)
	const (
		a, b    = "00000001 61", "00000001 62"
		null    = "ffffffff"
		one     = "00000005 0000000001" // a decimal
		oneZero = "00000005 000000010a" // 1.0
		at      = "00000005" + a        // a place without zip, from before it got one
		atNull  = "00000009" + a + null // and with it
		atZip   = "0000000d" + a + "00000004 00000001"
	)
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"text", "61", "61", true},
		{"text", "61", "62", false},
		{"varint", "0001", "01", true},
		{"decimal", one[8:], oneZero[8:], true},
		{"decimal", one[8:], "00000000 02", false},
		{"float", "7fc00000", "7fc00001", true}, // NaN
		{"float", "80000000", "00000000", false},
		{"set<text>", "00000002" + a + b, "00000002" + b + a, true},
		{"set<text>", "00000003" + a + b + a, "00000002" + b + a, true},
		{"set<text>", "00000001" + a, "00000002" + b + a, false},
		{"frozen<list<text>>", "00000002" + a + b, "00000002" + b + a, false},
		{"map<text, decimal>", "00000002" + a + one + b + oneZero, "00000002" + b + one + a + one, true},
		{"map<text, decimal>", "00000002" + a + one + b + one, "00000002" + b + one + a + "00000005 0000000002", false},
		{"set<decimal>", "00000002" + one + oneZero, "00000001" + one, true},
		{"frozen<list<blob>>", "00000001" + null, "00000001 00000000", false},
		{"frozen<tuple<blob>>", null, "00000000", false},
		{"frozen<list<set<text>>>", "00000001 0000000e 00000002" + a + b, "00000001 0000000e 00000002" + b + a, true},
		{"place", a, a + null, true},
		{"place", a + null, a + null + null, true}, // a field that is not known here
		{"place", a + null, a + null + a, false},
		{"place", a, a + "00000004 00000001", false},
		{"place", null, a, false},
		{"place", "00000000", null, false},
		{"stay", at, atNull, true},
		{"stay", at + "0000000e 00000002" + a + b, atNull + "0000000e 00000002" + b + a, true},
		{"stay", at, atZip, false},
		{"frozen<set<place>>", "00000001" + at, "00000002" + at + atNull, true},
	} {
		typ := mustKnow(t, ts, tt.name)
		x, y := unhex(t, tt.a), unhex(t, tt.b)
		if typ.Same(x, y) != tt.want || typ.Same(y, x) != tt.want {
			t.Errorf("%s: %s and %s: want %t", tt.name, tt.a, tt.b, tt.want)
		}
	}
	text := mustKnow(t, ts, "text")
	if text.Same(nil, []byte{}) || !text.Same(nil, nil) {
		t.Error("null is null and nothing else")
	}
}

// A value of a type that has got a field since.
func TestExceeds(t *testing.T) {
	t.Parallel()
	ts := known(t)
	const (
		whole = "00000001 61 00000004 00000001" // a place
		more  = whole + "00000001 62"
		null  = whole + "ffffffff"
	)
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"text", "61", false},
		{"place", "", false},
		{"place", "00000001 61", false},
		{"place", whole, false},
		{"place", null, false},
		{"place", more, true},
		{"place", null + "00000000", true},
		{"stay", "0000000d" + whole + "ffffffff", false},
		{"stay", "00000012" + more + "ffffffff", true},
		{"frozen<list<place>>", "00000002 0000000d" + whole + "00000011" + null, false},
		{"frozen<list<place>>", "00000002 0000000d" + whole + "00000012" + more, true},
		{"map<text, frozen<place>>", "00000001 00000001 61 00000012" + more, true},
	} {
		if got := mustKnow(t, ts, tt.name).Exceeds(unhex(t, tt.value)); got != tt.want {
			t.Errorf("%s: %s: %t", tt.name, tt.value, got)
		}
	}
}

// What was declared before a user-defined type got a field, and nothing else.
func TestTakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ, other string
		want       bool
	}{
		{"text", "varchar", true},
		{"text", "blob", false},
		{"timeuuid", "uuid", false},
		{"set<text>", "set<text>", true},
		{"set<text>", "frozen<set<text>>", false},
		{"set<text>", "list<text>", false},
		{"map<text, int>", "map<text, bigint>", false},
		{"tuple<int, text>", "tuple<int>", false},
		{"tuple<int>", "tuple<int, text>", false},
		{"u{a int, b text}", "u{a int, b text}", true},
		{"u{a int, b text}", "u{a int}", true},
		{"u{a int}", "u{a int, b text}", false},
		{"u{a int, b text}", "u{b int}", false},
		{"u{a int, b text}", "u{a text}", false},
		{"u{a int, b text}", "v{a int}", false},
		{"frozen<u{a int}>", "u{a int}", false},
		{"frozen<map<int, u{a int, b v{c int, d int}}>>", "frozen<map<int, u{a int, b v{c int}}>>", true},
		{"frozen<map<int, u{a int, b v{c int}}>>", "frozen<map<int, u{a int, b v{c int, d int}}>>", false},
		{"u{a int}", "tuple<int>", false},
	} {
		var parsed [2]*cqltype.Type
		for i, text := range []string{tt.typ, tt.other} {
			typ, err := cqltype.ParseDefinition(text)
			if err != nil {
				t.Fatal(err)
			}
			parsed[i] = typ
		}
		if parsed[0].Takes(parsed[1]) != tt.want {
			t.Errorf("%s and %s: want %t", tt.typ, tt.other, tt.want)
		}
	}
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
