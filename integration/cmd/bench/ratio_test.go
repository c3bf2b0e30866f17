package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// noise is a machine: slow moments that last for blocks, turns that a pause hits, and noise of each turn.
func noise(random *rand.Rand, blocks int, times float64) (own, base []float64) {
	slow := 0.0
	for range blocks {
		slow = 0.9*slow + 0.2*random.NormFloat64()
		turn := func() float64 {
			x := math.Exp(slow + 0.1*random.NormFloat64())
			if random.IntN(30) == 0 {
				x *= 4
			}
			return x
		}
		own, base = append(own, times*turn()), append(base, turn())
	}
	return own, base
}

// Of 95 % intervals about 95 % contain the ratio, also where noise goes on from block to block. Of the nulls of compare
// about 99.5 % do.
func TestIntervalsContainTheRatio(t *testing.T) {
	t.Parallel()
	for _, blocks := range []int{12, 60} {
		random, runs, contained, surely := rand.New(rand.NewPCG(7, uint64(blocks))), 300, 0.0, 0.0
		for range runs {
			own, base := noise(random, blocks, 1.3)
			if compare(own, base, 0.95).contains(1.3) {
				contained++
			}
			if compare(own, base, sure).contains(1.3) {
				surely++
			}
		}
		if contained, surely := contained/float64(runs), surely/float64(runs); contained < 0.92 || contained > 0.99 || surely < 0.98 {
			t.Errorf("%d blocks: %.3f and %.3f of the intervals contain the ratio", blocks, contained, surely)
		}
	}
}

// A difference of 5 % is seen nearly always, and its interval is narrow.
func TestShiftIsFound(t *testing.T) {
	t.Parallel()
	random, runs, found := rand.New(rand.NewPCG(1, 2)), 100, 0
	for range runs {
		own, base := noise(random, 200, 1.05)
		if r := compare(own, base, 0.95); r.low > 1 && r.contains(r.is) && r.width() < 0.06 {
			found++
		}
	}
	if found < 90 {
		t.Errorf("found in %d of %d runs", found, runs)
	}
}

// A wide interval is not shown, one of a few blocks is wide, and nothing is shown next to a null that does not contain
// 1.
func TestNotShown(t *testing.T) {
	t.Parallel()
	list := slices.Repeat([]float64{1}, fewest)
	same := compare(list, list, 0.95)
	for _, c := range []struct {
		width   float64
		r, null ratio
		want    string
	}{
		{narrow, same, same, "**1.00** (1.00 to 1.00)"},
		{narrow, same, ratio{1.02, 1.01, 1.03}, "not shown"},
		{narrow, ratio{1.1, 1.05, 1.15}, same, "not shown"},
		{wide, ratio{1.1, 1.05, 1.15}, same, "**1.10** (1.05 to 1.15)"},
		{wide, compare(list[1:], list[1:], 0.95), same, "not shown"},
	} {
		if got := (metric{width: c.width}).cell(c.r, c.null); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// Two processes of one program differ. Intervals contain that, as each block has new ones.
func TestProcessesDiffer(t *testing.T) {
	t.Parallel()
	random, runs, contained := rand.New(rand.NewPCG(3, 4)), 200, 0
	for range runs {
		var speeds [2]float64
		turns := func(i int) contender {
			return contender{"same", func(context.Context, turn.Order) (turn.Result, error) {
				return turn.Result{N: 1, CPU: time.Duration(1e6 * math.Exp(speeds[i]+0.005*random.NormFloat64()))}, nil
			}}
		}
		r := ruler{rounds: 3, renew: func() error {
			speeds = [2]float64{0.03 * random.NormFloat64(), 0.03 * random.NormFloat64()}
			return nil
		}}
		h := &heat{list: []contender{turns(0), turns(1)}}
		if err := r.run(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		if h.versus(1, clientCPU).contains(1) {
			contained++
		}
	}
	if contained < runs*9/10 {
		t.Errorf("%d of %d intervals contain the ratio", contained, runs)
	}
}
