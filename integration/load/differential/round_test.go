package differential

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"
)

// A finding is made smaller by playing its round again: the same seed must give the same statements.
func TestRoundIsRepeated(t *testing.T) {
	t.Parallel()
	for i, table := range tables {
		seed := uint64(i)
		first := newRound(table, seed, 7).steps()
		if again := newRound(table, seed, 7).steps(); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: the same seed gives other statements", table.name)
		}
		moved := newRound(table, seed, 8).steps()
		if len(moved) != len(first) || reflect.DeepEqual(first, moved) {
			t.Errorf("%s: other keys give %d statements, not other ones of the %d", table.name, len(moved), len(first))
		}
	}
}

// A value is written in each form that the grammar has for it.
func TestFormsOfLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of    string
		value any
		want  []string
	}{
		{"timestamp", int64(0), []string{"'1970-01-01 00:00:00.000Z'", "'1970-01-01T00:00:00.000Z'", "0"}},
		{"time", int64(0), []string{"'00:00:00'", "'00:00:00.000000000'"}},
		{"time", int64(1), []string{"'00:00:00.000000001'"}},
		{"duration", gocql.Duration{}, []string{"0ns", "0s"}},
		{"duration", gocql.Duration{Days: 2, Nanoseconds: 3}, []string{"2d3ns"}},
		{"double", 1e10, []string{"1e+10", "1e10"}},
		{"double", 1.5, []string{"1.5"}},
	} {
		r, got := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
		for range 100 {
			got[typeOf(c.of).encoded(r, c.value).text] = true
		}
		if got := slices.Sorted(maps.Keys(got)); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s %v: %q, want %q", c.of, c.value, got, c.want)
		}
	}
}
