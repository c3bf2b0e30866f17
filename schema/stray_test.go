package schema

import (
	"strings"
	"testing"
)

// A map that names no keyspace of the sets leaves their tables where they are, in the session's keyspace.
func TestStray(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mapped map[string]string
		stray  string
	}{
		"the session's":              {map[string]string{"shop": "t", "people": "t"}, `"shop"`},
		"misspelt":                   {map[string]string{"": "t", "poeple": "t"}, `"poeple"`},
		"a part":                     {map[string]string{"people": "t"}, ""},
		"all, and one of other sets": {map[string]string{"": "t", "people": "t", "others": "t"}, ""},
		"none":                       {nil, ""},
	} {
		err := stray(test.mapped, []string{"", "people"})
		want := "session.Keyspaces maps " + test.stray + `, and tables are declared in ["" "people"]`
		if (err == nil) != (test.stray == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
