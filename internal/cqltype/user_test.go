package cqltype_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

type (
	place struct{ City string }
	stay  struct{ At place }
)

// known are a type with a type inside.
func known(tb testing.TB) *cqltype.Types {
	tb.Helper()
	var ts cqltype.Types
	inner, outer := &cqltype.UserType{Name: "place", Go: reflect.TypeFor[place]()},
		&cqltype.UserType{Name: "stay", Go: reflect.TypeFor[stay]()}
	ts.Add(outer)
	ts.Add(inner)
	outer.Add("at", mustKnow(tb, &ts, "place"), 0) // before the fields of place are there
	outer.Add("tags", mustKnow(tb, &ts, "set<text>"), 1)
	inner.Add("city", mustKnow(tb, &ts, "text"), 0)
	inner.Add("zip", mustKnow(tb, &ts, "int"), 1)
	return &ts
}

func mustKnow(tb testing.TB, ts *cqltype.Types, name string) *cqltype.Type {
	tb.Helper()
	t, err := ts.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

const stayFields = "stay{at frozen<place{city text, zip int}>, tags frozen<set<text>>}"

func TestUserTypes(t *testing.T) {
	t.Parallel()
	ts := known(t)
	for _, tc := range []struct {
		in, want, definition string
		multiCell            bool
	}{
		{"stay", "stay", stayFields, true},
		{"frozen<Stay>", "frozen<stay>", "frozen<" + stayFields + ">", false},
		{"map<int, frozen<place>>", "map<int, frozen<place>>", "map<int, frozen<place{city text, zip int}>>", true},
		{
			"frozen<map<int, place>>", "frozen<map<int, frozen<place>>>", "frozen<map<int, frozen<place{city text, zip int}>>>",
			false,
		},
		{
			"tuple<int, place>", "frozen<tuple<int, frozen<place>>>", "frozen<tuple<int, frozen<place{city text, zip int}>>>",
			false,
		},
		{"frozen<tuple<list<int>>>", "frozen<tuple<frozen<list<int>>>>", "frozen<tuple<frozen<list<int>>>>", false},
	} {
		typ := mustKnow(t, ts, tc.in)
		if typ.String() != tc.want || typ.Definition() != tc.definition || typ.MultiCell() != tc.multiCell {
			t.Errorf("%s: %s, %s, multi-cell %t", tc.in, typ, typ.Definition(), typ.MultiCell())
		}
		again, err := cqltype.ParseDefinition(typ.Definition())
		if err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		if again.Definition() != typ.Definition() || again.String() != typ.String() || !again.Matches(typ.Info()) ||
			!typ.Matches(again.Info()) {
			t.Errorf("%s: read back as %s", typ.Definition(), again.Definition())
		}
	}
	for in, want := range map[string]string{
		"list<place>":            "a collection or user-defined type inside list must be frozen",
		"frozen<elsewhere>":      `unknown or unsupported type "elsewhere"`,
		"place{city text}":       `unexpected "{"`, // a definition is no name
		"tuple<>":                `want a type, not ">"`,
		"tuple":                  "tuple needs type arguments, as in tuple<text, int>",
		"tuple<counter>":         "tuple cannot hold counter",
		"tuple<int":              `want ">" before the end of the text`,
		"map<int, x>":            `unknown or unsupported type "x"`,
		"map<tuple<duration>,x>": "map cannot hold frozen<tuple<duration>>",
		"set<tuple<duration>>":   "set cannot hold frozen<tuple<duration>>",
	} {
		if _, err := ts.Parse(in); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// What comes out of storage is not to be trusted.
func TestParseDefinitionRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"place", "place{}", "place{city}", "place{city text", "place{city text}}", "place{city text, city int}",
		"Place;{city text}",
		"place{a.b text}", "place{city text;}", "select{city text}", "place{from text}", "place{city text,}", "place{,}",
		"{city text}",
		"place{city place}", "list<place{city text}>", "k.place{city text}",
	} {
		if typ, err := cqltype.ParseDefinition(in); err == nil {
			t.Errorf("%s: read as %s", in, typ.Definition())
		}
	}
}

func TestUserTypesInfer(t *testing.T) {
	t.Parallel()
	ts := known(t)
	for want, of := range map[string]reflect.Type{
		"frozen<stay>":                      reflect.TypeFor[stay](),
		"frozen<place>":                     reflect.TypeFor[*place](),
		"map<text, frozen<place>>":          reflect.TypeFor[map[string]place](),
		"list<frozen<list<frozen<place>>>>": reflect.TypeFor[[][]place](),
	} {
		if typ, err := ts.Infer(of); err != nil || typ.String() != want {
			t.Errorf("%s: %v, %v", of, typ, err)
		}
	}
	if typ, err := (*cqltype.Types)(nil).Infer(reflect.TypeFor[place]()); err == nil {
		t.Errorf("an unknown struct is %s", typ)
	}
}

// Another order, name or type of the fields is another type; another keyspace is not, nor a field that it has got
// since.
func TestUserTypesMatch(t *testing.T) {
	t.Parallel()
	typ := mustKnow(t, known(t), "frozen<place>")
	text, number := driver.NativeType(gocql.TypeVarchar), driver.NativeType(gocql.TypeInt)
	live := func(name string, fields ...gocql.UDTField) gocql.TypeInfo {
		info, _ := driver.UserType(name, fields).(gocql.UDTTypeInfo)
		info.KeySpace = "elsewhere"
		return info
	}
	city, zip := gocql.UDTField{Name: "city", Type: text}, gocql.UDTField{Name: "zip", Type: number}
	if !typ.Matches(live("place", city, zip)) {
		t.Error("does not match itself")
	}
	if !typ.Matches(live("place", city, zip, gocql.UDTField{Name: "more", Type: text})) {
		t.Error("does not match itself with one more field")
	}
	for name, info := range map[string]gocql.TypeInfo{
		"another name":          live("places", city, zip),
		"another order":         live("place", zip, city),
		"a field too few":       live("place", city),
		"a field in between":    live("place", city, gocql.UDTField{Name: "more", Type: text}, zip),
		"another field's name":  live("place", city, gocql.UDTField{Name: "zipcode", Type: number}),
		"another field's type":  live("place", city, gocql.UDTField{Name: "zip", Type: text}),
		"a tuple":               driver.TupleType([]gocql.TypeInfo{text, number}),
		"no user-defined type":  text,
		"one without its parts": driver.NativeType(gocql.TypeUDT),
	} {
		if typ.Matches(info) {
			t.Errorf("matches %s", name)
		}
	}
	pair := mustParse(t, "tuple<text, int>")
	for want, elems := range map[string][]gocql.TypeInfo{
		"yes": {text, number}, "order": {number, text},
		"number": {text},
	} {
		if got := pair.Matches(driver.TupleType(elems)); got != (want == "yes") {
			t.Errorf("tuple, %s: %t", want, got)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	ts := known(t)
	var names []string
	for _, u := range mustKnow(t, ts, "map<int, frozen<tuple<stay, place>>>").Users() {
		names = append(names, u.Name)
	}
	if got := strings.Join(names, " "); got != "place stay" {
		t.Errorf("made of %s", got)
	}
	if _, cyclic := ts.Named("stay").Uses(); cyclic {
		t.Error("taken for cyclic")
	}
	ts.Named("place").Add("back", mustKnow(t, ts, "list<frozen<stay>>"), 2)
	for _, name := range []string{"stay", "place"} {
		if _, cyclic := ts.Named(name).Uses(); !cyclic {
			t.Errorf("%s is cyclic", name)
		}
	}
}

// Parts are compared one by one, a null before every value.
func TestCompareParts(t *testing.T) {
	t.Parallel()
	typ := mustKnow(t, known(t), "frozen<place>")
	rising := [][]byte{
		[]byte("\xff\xff\xff\xff\xff\xff\xff\xff"),
		[]byte("\xff\xff\xff\xff\x00\x00\x00\x04\xff\xff\xff\xff"),
		[]byte("\x00\x00\x00\x00\xff\xff\xff\xff"),
		[]byte("\x00\x00\x00\x01a\xff\xff\xff\xff"),
		[]byte("\x00\x00\x00\x01a\x00\x00\x00\x04\xff\xff\xff\xff"), // -1
		[]byte("\x00\x00\x00\x01a\x00\x00\x00\x04\x00\x00\x00\x01"),
		[]byte("\x00\x00\x00\x02aa\xff\xff\xff\xff"),
	}
	for i, a := range rising {
		for j, b := range rising {
			if got := typ.Compare(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%x against %x: %d", a, b, got)
			}
		}
	}
}

// Whatever can be inferred can be stored and read back.
func TestDefinitionOfDeepest(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[string]()
	var deepest *cqltype.Type
	for {
		of = reflect.SliceOf(of)
		typ, err := (*cqltype.Types)(nil).Infer(of)
		if err != nil {
			break
		}
		deepest = typ
	}
	again, err := cqltype.ParseDefinition(deepest.Definition())
	if err != nil || again.Definition() != deepest.Definition() {
		t.Errorf("%v, %v", again, err)
	}
}

// FuzzParseDefinition: what comes out of storage is read or an error, and what is read is spelled in one way.
func FuzzParseDefinition(f *testing.F) {
	for _, seed := range []string{
		stayFields, "k.place{city text}",
		"frozen<tuple<int, frozen<a{b int, c list<a{b int}>}>>>", "a{b{c{", "list<'x'>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := cqltype.ParseDefinition(text)
		if err != nil {
			return
		}
		again, err := cqltype.ParseDefinition(typ.Definition())
		if err != nil || again.Definition() != typ.Definition() {
			t.Errorf("%q is spelled %q, which is %v, %v", text, typ.Definition(), again, err)
		}
	})
}
