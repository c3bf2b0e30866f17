package cqltype_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

func mustParse(tb testing.TB, name string) *cqltype.Type {
	tb.Helper()
	t, err := cqltype.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

var natives = []struct {
	name string
	kind gocql.Type
	size int
}{
	{"ascii", gocql.TypeAscii, 0},
	{"bigint", gocql.TypeBigInt, 8},
	{"blob", gocql.TypeBlob, 0},
	{"boolean", gocql.TypeBoolean, 1},
	{"counter", gocql.TypeCounter, 8},
	{"date", gocql.TypeDate, 4},
	{"decimal", gocql.TypeDecimal, 0},
	{"double", gocql.TypeDouble, 8},
	{"duration", gocql.TypeDuration, 0},
	{"float", gocql.TypeFloat, 4},
	{"inet", gocql.TypeInet, 0},
	{"int", gocql.TypeInt, 4},
	{"smallint", gocql.TypeSmallInt, 2},
	{"text", gocql.TypeVarchar, 0},
	{"time", gocql.TypeTime, 8},
	{"timestamp", gocql.TypeTimestamp, 8},
	{"timeuuid", gocql.TypeTimeUUID, 16},
	{"tinyint", gocql.TypeTinyInt, 1},
	{"uuid", gocql.TypeUUID, 16},
	{"varint", gocql.TypeVarint, 0},
}

func TestNatives(t *testing.T) {
	t.Parallel()
	for _, tc := range natives {
		typ := mustParse(t, tc.name)
		if typ.String() != tc.name {
			t.Errorf("Parse(%q).String() = %q", tc.name, typ)
		}
		if typ.Kind() != tc.kind || typ.Info().Type() != tc.kind {
			t.Errorf("%s: Kind %s, Info %s, want %s", tc.name, typ.Kind(), typ.Info(), tc.kind)
		}
		if typ.Size() != tc.size {
			t.Errorf("%s: Size %d, want %d", tc.name, typ.Size(), tc.size)
		}
		if typ.Info().Version() != 4 {
			t.Errorf("%s: encoded for protocol %d, the writer speaks 4", tc.name, typ.Info().Version())
		}
		if typ.MultiCell() || typ.Frozen() || len(typ.Elems()) != 0 {
			t.Errorf("%s: taken for a collection", tc.name)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in  string
		want      string // as system_schema spells it
		multiCell bool
	}{
		{"upper case", "TimeUUID", "timeuuid", false},
		{"varchar is text", "varchar", "text", false},
		{"spaces around", "  int ", "int", false},
		{"list", "list<int>", "list<int>", true},
		{"set", "set<text>", "set<text>", true},
		{"map without space", "map<text,int>", "map<text, int>", true},
		{"spaces inside", " map < text , frozen < set < int > > > ", "map<text, frozen<set<int>>>", true},
		{"frozen", "frozen<list<text>>", "frozen<list<text>>", false},
		{"frozen twice", "frozen<frozen<list<text>>>", "frozen<list<text>>", false},
		{"frozen element", "list<frozen<set<int>>>", "list<frozen<set<int>>>", true},
		// Cassandra freezes what is inside a frozen collection, and its schema tables say so.
		{"inside of frozen", "frozen<map<text, list<set<int>>>>", "frozen<map<text, frozen<list<frozen<set<int>>>>>>", false},
		{"duration as element", "list<duration>", "list<duration>", true},
		{"duration as value", "map<int, duration>", "map<int, duration>", true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			typ := mustParse(t, tc.in)
			if typ.String() != tc.want {
				t.Errorf("Parse(%q) = %s, want %s", tc.in, typ, tc.want)
			}
			if typ.MultiCell() != tc.multiCell {
				t.Errorf("MultiCell = %t, want %t", typ.MultiCell(), tc.multiCell)
			}
			if typ.Definition() != mustParse(t, tc.want).Definition() {
				t.Errorf("%s is not equal to its own spelling", typ)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", `CQL type "": want a type before the end of the text`},
		{"string", `CQL type "string": unknown or unsupported type "string"`},
		{"big int", `CQL type "big int": unexpected "int"`},
		{"frozen<address>", `CQL type "frozen<address>": unknown or unsupported type "address"`},
		{"vector<float, 3>", `CQL type "vector<float, 3>": unknown or unsupported type "vector<float, 3>"`},
		{"list", `CQL type "list": list needs type arguments, as in list<text>`},
		{"list<int", `CQL type "list<int": want ">" before the end of the text`},
		{"list<>", `CQL type "list<>": want a type, not ">"`},
		{"list<int, int>", `CQL type "list<int, int>": list takes 1 type arguments, as in list<text>, not 2`},
		{"map<int>", `CQL type "map<int>": map takes 2 type arguments, as in map<text, int>, not 1`},
		{strings.Repeat("frozen<", 101) + "int", `CQL type "` + strings.Repeat("frozen<", 65)[:100] +
			`": nested deeper than 100`},
		{"int /* a", `CQL type "int /* a": unexpected "/"`},
		{"int#", `CQL type "int#": unexpected '#'`},
		{"k.int", `CQL type "k.int": Invalid (reserved) user type name int`},
		{"k.address", `CQL type "k.address": unknown or unsupported type "k.address"`},
		{"'org.X'", `CQL type "'org.X'": unknown or unsupported type "'org.X'"`},
		{"select", `CQL type "select": want a type, not "select"`},
		{"int<int>", `CQL type "int<int>": unexpected "<"`},
		{"list<int>>", `CQL type "list<int>>": unexpected ">"`},
		{"frozen<int>", `CQL type "frozen<int>": frozen applies to collections and user-defined types, not to int`},
		{"list<list<int>>", `CQL type "list<list<int>>": a collection or user-defined type inside list must be frozen`},
		{"set<counter>", `CQL type "set<counter>": set cannot hold counter`},
		{"set<duration>", `CQL type "set<duration>": set cannot hold duration`},
		{"map<duration, int>", `CQL type "map<duration, int>": map cannot hold duration`},
	}
	for _, tc := range tests {
		_, err := cqltype.Parse(tc.in)
		if err == nil || err.Error() != tc.want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", tc.in, err, tc.want)
		}
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"decimal": true, "text": false, "frozen<map<text, list<decimal>>>": true, "map<decimal, text>": true,
		"list<int>": false,
	} {
		if got := mustParse(t, in).Contains(gocql.TypeBlob, gocql.TypeDecimal); got != want {
			t.Errorf("%s contains decimal: %t, want %t", in, got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"text", "varchar", true},
		{"uuid", "timeuuid", false},
		{"list<int>", "frozen<list<int>>", false},
		{"map<int, text>", "MAP<int,varchar>", true},
		{"map<int, text>", "map<text, int>", false},
	}
	for _, tc := range tests {
		if got := mustParse(t, tc.a).Definition() == mustParse(t, tc.b).Definition(); got != tc.want {
			t.Errorf("%s equals %s: %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestMatches goes through all pairs, because the bytes of one type are valid, and wrong, in many others.
func TestMatches(t *testing.T) {
	t.Parallel()
	names := []string{"list<int>", "list<text>", "set<int>", "map<int, text>", "map<text, int>", "map<int, int>"}
	for _, n := range natives {
		names = append(names, n.name)
	}
	for _, a := range names {
		for _, b := range names {
			if got := mustParse(t, a).Matches(mustParse(t, b).Info()); got != (a == b) {
				t.Errorf("%s matches %s: %t", a, b, got)
			}
		}
	}
}

func TestMatchesMetadata(t *testing.T) {
	t.Parallel()
	native := driver.NativeType
	tests := []struct {
		name string
		typ  string
		info gocql.TypeInfo
		want bool
	}{
		{"text under its old code", "text", native(gocql.TypeText), true},
		{"frozen is not carried", "frozen<set<int>>", mustParse(t, "set<int>").Info(), true},
		{"list of unknown elements", "list<int>", native(gocql.TypeList), false},
		{"tuple", "list<int>", driver.TupleType(nil), false},
		{"custom", "blob", native(gocql.TypeCustom), false},
	}
	for _, tc := range tests {
		if got := mustParse(t, tc.typ).Matches(tc.info); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}

// FuzzParse: what can be read is spelled in one way, and read from that spelling as the same type.
func FuzzParse(f *testing.F) {
	for _, n := range natives {
		f.Add(n.name)
	}
	for _, seed := range []string{
		"", "<", ">", ",", "frozen<", "list<frozen<map<text, set<int>>>>", "FROZEN < LIST < TEXT > >", "map<,>",
		"list<list<int>>",
		"frozen<frozen<frozen<set<uuid>>>>", "map<text,int", "map<text,int>>", "list<counter>", "tuple<int>", "\x00",
		"té\u00a0xt",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		typ, err := cqltype.Parse(in)
		if err != nil {
			if typ != nil {
				t.Fatalf("Parse(%q) gave a type and an error", in)
			}
			return
		}
		again, err := cqltype.Parse(typ.String())
		if err != nil {
			t.Fatalf("Parse(%q) = %s, which is not read: %v", in, typ, err)
		}
		if again.String() != typ.String() || again.Definition() != typ.Definition() || !again.Matches(typ.Info()) {
			t.Fatalf("Parse(%q) = %s, read again %s", in, typ, again)
		}
		if again.MultiCell() != typ.MultiCell() || again.Frozen() != typ.Frozen() || again.Size() != typ.Size() {
			t.Fatalf("Parse(%q) and Parse(%q) differ", in, typ)
		}
	})
}
