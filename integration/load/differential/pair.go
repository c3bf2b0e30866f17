package differential

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// Pair is the two clusters.
type Pair struct{ Real, InProcess *gocql.Session }

// Played is a step and what the clusters have answered.
type Played struct {
	Step            transcript.Step
	Real, InProcess transcript.Reply
}

// Play carries steps out on both, up to the first one that they do not agree about.
func (p Pair) Play(ctx context.Context, steps []transcript.Step) (played []Played, difference string, lost bool) {
	for _, s := range steps {
		one := Played{Step: s, Real: transcript.Run(ctx, p.Real, s)}
		if one.Real.Lost() {
			return append(played, one), "", true
		}
		s.Wait = 0 // it has passed
		one.InProcess = transcript.Run(ctx, p.InProcess, s)
		played = append(played, one)
		if difference = transcript.Difference(one.Real, one.InProcess); difference != "" {
			return played, difference, false
		}
	}
	return played, "", false
}

// Finding is a difference.
type Finding struct {
	Seed       uint64
	Table      string
	Difference string
	Played     []Played // the last is the one they do not agree about
}

// String is the finding with the statements that lead to it.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (seed %d)\n", f.Table, f.Difference, f.Seed)
	for _, p := range f.Played {
		fmt.Fprintf(&b, "\t%v\n", p.Step)
		if p.Real.Error != "" {
			fmt.Fprintf(&b, "\t\trefused: %s\n", p.Real.Error)
		}
	}
	last := f.Played[len(f.Played)-1]
	fmt.Fprintf(&b, "\tCassandra:  %v\n\tin process: %v", last.Real, last.InProcess)
	return b.String()
}

// Plan is how much is compared.
type Plan struct {
	Seed       uint64
	Statements int
	Lanes      int
	Old        bool // the real server has no MAXWRITETIME
}

// Result is what a comparison has found.
type Result struct {
	Statements, Refused, Rows, Lost int
	Findings                        []Finding
	// Texts are the texts of errors that differ, the real one first, with how often that was.
	Texts map[[2]string]int
	// Rounds are what was played, in rounds without a difference.
	Rounds [][]Played
}

// compared makes rounds until there are enough of them.
type compared struct {
	Pair
	Plan
	base atomic.Int64

	mu     sync.Mutex
	result Result
}

// Compare runs a plan.
func Compare(ctx context.Context, pair Pair, plan Plan) Result {
	c := &compared{Pair: pair, Plan: plan, result: Result{Texts: make(map[[2]string]int)}}
	c.base.Store(1_000_000) // above the ids of the regressions
	_ = parallel.Do(plan.Lanes, math.MaxInt, func(i int) error {
		c.round(ctx, uint64(i+1)+plan.Seed<<20)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.result.Statements >= c.Statements || len(c.result.Findings) > 0 {
			return errors.New("enough was compared")
		}
		return nil
	})
	return c.result
}

// tableOf is the one of a round.
func tableOf(seed uint64) *table { return tables[seed%uint64(len(tables))] }

// fresh are keys that no round has had.
func (c *compared) fresh() int { return int(c.base.Add(keys)) }

// steps are what a round does.
func (c *compared) steps(seed uint64) []transcript.Step {
	g := newRound(tableOf(seed), seed, c.fresh())
	g.old = c.Old
	return g.steps()
}

func (c *compared) round(ctx context.Context, seed uint64) {
	steps := c.steps(seed)
	played, difference, lost := c.Play(ctx, steps)
	if difference != "" {
		f := Finding{seed, tableOf(seed).name, difference, played}
		c.shrink(ctx, &f)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.result.Findings = append(c.result.Findings, f)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.Statements += len(played)
	if lost {
		c.result.Lost++
		return
	}
	for _, p := range played {
		c.result.Rows += len(p.Real.Rows)
		if p.Real.Error != "" {
			c.result.Refused++
			if p.Real.Error != p.InProcess.Error {
				c.result.Texts[[2]string{p.Real.Error, p.InProcess.Error}]++
			}
		}
	}
	c.result.Rounds = append(c.result.Rounds, played)
}

// shrink leaves those steps of a finding out that it does not need: many at once, then fewer. Each try has fresh keys.
func (c *compared) shrink(ctx context.Context, f *Finding) {
	keep := make([]bool, len(f.Played))
	for i := range keep {
		keep[i] = true
	}
	last, tries := len(keep)-1, 100
	if tableOf(f.Seed).brief {
		tries = 12 // each of which waits
	}
	for width := (last + 1) / 2; width > 0; width /= 2 {
		for i := last; i > 0 && tries > 0; i -= width {
			without := slices.Clone(keep)
			for j := max(0, i-width); j < i; j++ {
				without[j] = false
			}
			if slices.Equal(without, keep) {
				continue
			}
			tries--
			var steps []transcript.Step
			for j, s := range c.steps(f.Seed)[:last+1] {
				if without[j] {
					steps = append(steps, s)
				}
			}
			played, difference, _ := c.Play(ctx, steps)
			if difference != "" && len(played) == len(steps) {
				keep, f.Played, f.Difference = without, played, difference
			}
		}
	}
}
