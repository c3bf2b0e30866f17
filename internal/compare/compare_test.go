package compare

import "testing"

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
