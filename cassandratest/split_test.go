package cassandratest

import (
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"USE k":                               {"USE k"},
		";; USE k; -- end;\n":                 {"USE k"},
		"-- a;\nUSE \"k;\" ;\n\nUSE /*;*/ l;": {`USE "k;"`, "USE /*;*/ l"},
		"UPDATE t SET a = ';' WHERE b = 1; BEGIN BATCH UPDATE a; UPDATE b; APPLY BATCH; USE k": {
			"UPDATE t SET a = ';' WHERE b = 1", "BEGIN BATCH UPDATE a; UPDATE b; APPLY BATCH", "USE k",
		},
		"BEGIN BATCH UPDATE a; UPDATE b": {"BEGIN BATCH UPDATE a; UPDATE b"},
		"BEGIN BATCH UPDATE a; USE k":    {"BEGIN BATCH UPDATE a", "USE k"}, // it has no end, and USE is in none
		"":                               {""},
		"-- nothing":                     {"-- nothing"},
		"USE k; SELECT 'a":               {"USE k", "SELECT 'a"},
	} {
		if found := split(text); !reflect.DeepEqual(found, want) {
			t.Errorf("%q: got %q, want %q", text, found, want)
		}
	}
}
