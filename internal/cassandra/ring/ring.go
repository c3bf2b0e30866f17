package ring

import (
	"math"
	"slices"
)

// Ring is the tokens of nodes, numbered from 1. It never changes.
type Ring struct{ places []place }

type place struct {
	token int64
	node  int
}

// vnodes is how many tokens a node has.
const vnodes = 4

// New gives a ring on which the tokens of the nodes take turns, at equal distances.
func New(nodes int) *Ring {
	r := &Ring{}
	step := math.MaxUint64 / uint64(nodes*vnodes)
	for i := range nodes * vnodes {
		r.places = append(r.places, place{int64(uint64(i)*step) + math.MinInt64 + 1, i%nodes + 1})
	}
	return r
}

// Tokens are those of a node.
func (r *Ring) Tokens(node int) []int64 {
	var out []int64
	for _, p := range r.places {
		if p.node == node {
			out = append(out, p.token)
		}
	}
	return out
}

// Everywhere are the replicas of each stretch of the ring.
func (r *Ring) Everywhere(factor int) [][]int {
	out := make([][]int, len(r.places))
	for i, p := range r.places {
		out[i] = r.Replicas(p.token, factor)
	}
	return out
}

// Replicas are the numbers of the nodes that hold the partition of a token when there are so many replicas, the first
// owner first.
func (r *Ring) Replicas(token int64, factor int) []int {
	first, _ := slices.BinarySearchFunc(r.places, token, func(p place, t int64) int {
		if p.token < t {
			return -1
		}
		return 1
	})
	out := make([]int, 0, factor)
	for i := 0; i < len(r.places) && len(out) < factor; i++ {
		if n := r.places[(first+i)%len(r.places)].node; !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
