package guess_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// Each pair of tables of two groups asks whether the groups differ. If that compares all their tables again, four times
// as many tables allocate 256 times as much. Only the last two tables of the groups differ here.
func TestWorkForGroupsThatDiffer(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	columns := strings.Split("abcdefgh", "")
	var keys []string
	for _, a := range columns {
		for _, b := range columns {
			if a != b {
				keys = append(keys, a+", "+b)
			}
		}
	}
	last := keys[len(keys)-1]
	allocations := func(n int) float64 {
		var text strings.Builder
		add := func(name, key string) {
			fmt.Fprintf(&text, "CREATE TABLE k.%s (%s uuid, PRIMARY KEY (%s));\n", name, strings.Join(columns, " uuid, "), key)
		}
		for of, group := range []string{"apple", "berry"} {
			for i, key := range slices.Collect(slices.Chunk(keys, 2))[:n-1] {
				add(fmt.Sprintf("%s_by_%d", group, i), key[of])
			}
			add(group+"_by_z", last)
		}
		s, err := schema.Parse("", text.String())
		if err != nil {
			t.Fatal(err)
		}
		if found := guess.Entities(s); len(found) != 2 {
			t.Fatalf("%d entities", len(found))
		}
		return testing.AllocsPerRun(1, func() { guess.Entities(s) })
	}
	if few, many := allocations(6), allocations(24); many > 24*few {
		t.Errorf("%v allocations, and %v for four times as many tables", few, many)
	}
}
