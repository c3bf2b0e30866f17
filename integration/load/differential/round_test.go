package differential

import (
	"reflect"
	"testing"
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
