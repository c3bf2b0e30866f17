package writer

import "testing"

// What is inside a frozen value is frozen whether the type says so or not; everything else is a difference.
func TestThawed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"int":               "int",
		"frozen<set<text>>": "set<text>",
		"a frozen<tuple<int, frozen<b>>>, c map<int, frozen<list<int>>>": "a tuple<int, b>, c map<int, list<int>>",
		"tuple<tuple<int>, int>": "tuple<tuple<int>, int>",
		"int>":                   "int>",
	} {
		if got := thawed(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
