package soak_test

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Kind is what happens to the nodes.
type Kind string

// The kinds of faults.
const (
	Kill    Kind = "kill -9 and start"
	Silence Kind = "SIGSTOP"
	Roll    Kind = "rolling restart"
	Schema  Kind = "schema change"
)

// Fault is one of a schedule.
type Fault struct {
	Kind  Kind
	Node  int           // by number, from 0; of a Roll the first
	For   time.Duration // how long the node is away
	After time.Duration // since the end of the fault before
}

func (f Fault) String() string {
	switch f.Kind {
	case Kill, Silence:
		return fmt.Sprintf("%s of node %d for %.0f s", f.Kind, f.Node+1, f.For.Seconds())
	case Roll:
		return fmt.Sprintf("%s from node %d on", f.Kind, f.Node+1)
	case Schema:
	}
	return string(f.Kind)
}

// Schedule is the faults that a seed stands for, on this many nodes. The short one has each kind once and is silent for
// 5 s.
func Schedule(seed uint64, nodes int, long bool) []Fault {
	r := rand.New(rand.NewPCG(seed, 0))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from)+1)) }
	kinds := []Kind{Kill, Silence, Roll, Schema}
	if long {
		kinds = []Kind{Kill, Kill, Silence, Silence, Silence, Roll, Schema, Schema}
	}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	var faults []Fault
	for _, k := range kinds {
		f := Fault{Kind: k, Node: r.IntN(nodes), After: between(time.Second, 2*time.Second)}
		if long {
			f.After = between(2*time.Second, 6*time.Second)
		}
		switch {
		case k == Kill:
			f.For = between(2*time.Second, 6*time.Second)
		case k == Silence && long:
			f.For = between(5*time.Second, 30*time.Second)
		case k == Silence:
			f.For = 5 * time.Second
		}
		faults = append(faults, f)
	}
	return faults
}
