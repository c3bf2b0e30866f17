package differential

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// Plan is how much is compared.
type Plan struct {
	Seed       uint64
	Statements int
	Lanes      int
	Findings   int    // so many are enough
	Only       string // the name of a table, empty for all
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
	next atomic.Int64
	base atomic.Int64

	mu     sync.Mutex
	result Result
}

// Compare runs a plan.
func Compare(ctx context.Context, pair Pair, plan Plan) Result {
	c := &compared{Pair: pair, Plan: plan, result: Result{Texts: make(map[[2]string]int)}}
	c.base.Store(1_000_000) // above those of the regressions
	var lanes sync.WaitGroup
	for range plan.Lanes {
		lanes.Go(func() {
			for c.more() {
				c.round(ctx, uint64(c.next.Add(1))+plan.Seed<<20)
			}
		})
	}
	lanes.Wait()
	return c.result
}

func (c *compared) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result.Statements < c.Statements && len(c.result.Findings) < c.Findings
}

// table is the one of a round.
func (c *compared) table(seed uint64) *table {
	if c.Only != "" {
		for _, t := range tables {
			if t.name == c.Only {
				return t
			}
		}
	}
	return tables[seed%uint64(len(tables))]
}

// fresh are keys that no round has had.
func (c *compared) fresh() int { return int(c.base.Add(keys)) }

func (c *compared) round(ctx context.Context, seed uint64) {
	t := c.table(seed)
	steps := newRound(t, seed, c.fresh()).steps()
	played, difference, lost := c.Play(ctx, steps)
	if difference != "" {
		f := Finding{seed, t.name, difference, played}
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
	if c.table(f.Seed).brief {
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
			for j, s := range newRound(c.table(f.Seed), f.Seed, c.fresh()).steps()[:last+1] {
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
