package schema

import "testing"

// A column cannot become static, nor cease to be: the advice is to declare it as it is, or another one.
func TestStaticColumns(t *testing.T) {
	t.Parallel()
	table := func(kind string) *Table {
		return &Table{ID: ID{"k", "t"}, Columns: []Column{{Name: "c", Type: "text", Kind: Kind(kind)}}}
	}
	for _, test := range []struct{ live, declared, want string }{
		{"static", "regular", "a static column cannot cease to be one: declare it static, or declare and add a column of another name"},
		{"regular", "static", "a column cannot become static: declare it regular, or declare and add a static column of another name"},
	} {
		found := compareColumns(nil, table(test.declared), table(test.live))
		if len(found) != 1 || found[0].Impossible != test.want || found[0].Reason != "is a "+test.live+" column, declared "+test.declared {
			t.Errorf("%+v, want %s", found, test.want)
		}
	}
}

// What is inside a frozen value is frozen whether the type says so or not; everything else is a difference.
func TestThawed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"int":                           "int",
		"frozen<set<text>>":             "set<text>",
		"frozen<tuple<int, frozen<b>>>": "tuple<int, b>",
		"map<int, frozen<list<int>>>":   "map<int, list<int>>",
		"tuple<tuple<int>, int>":        "tuple<tuple<int>, int>",
		"int>":                          "int>", // what is no type stays as it is
	} {
		if got := thawed(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
