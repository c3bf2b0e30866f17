package ring

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A partition has as many replicas as are wanted, or as there are nodes, and no node twice; the first is the node whose
// token comes next on the ring.
func TestReplicas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes, factor := rapid.IntRange(1, 9).Draw(t, "nodes"), rapid.IntRange(0, 12).Draw(t, "factor")
		r := New(nodes)
		token := rapid.Int64().Draw(t, "token")
		replicas := r.Replicas(token, factor)
		if len(replicas) != min(nodes, factor) {
			t.Fatalf("%v, want %d of %d", replicas, factor, nodes)
		}
		if sorted := slices.Sorted(slices.Values(replicas)); len(slices.Compact(sorted)) != len(replicas) {
			t.Fatalf("one node twice: %v", replicas)
		}
		if len(replicas) > 0 && replicas[0] != next(r, nodes, token) {
			t.Fatalf("the first is %d, want %d", replicas[0], next(r, nodes, token))
		}
	})
}

// next is the node with the smallest token that is not smaller, or else with the smallest of all.
func next(r *Ring, nodes int, token int64) (node int) {
	distance := uint64(math.MaxUint64)
	for n := range nodes {
		for _, t := range r.Tokens(n + 1) {
			if d := uint64(t) - uint64(token); node == 0 || d < distance { // around the ring
				node, distance = n+1, d
			}
		}
	}
	return node
}

// Everywhere has each set of replicas that some token has.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	r := New(5)
	all := make(map[string]bool)
	for _, replicas := range r.Everywhere(3) {
		all[fmt.Sprint(replicas)] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		if replicas := r.Replicas(rapid.Int64().Draw(t, "token"), 3); !all[fmt.Sprint(replicas)] {
			t.Fatalf("%v is nowhere", replicas)
		}
	})
}
