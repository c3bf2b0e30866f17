package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// ruler measures contenders in blocks. In a block each has its turn and, in the opposite order, another one, within
// seconds: A B B A. What the machine does meanwhile meets all of them.
type ruler struct {
	rounds int           // of A B B A in a block; 0: one
	limit  time.Duration // no block begins after it
	enough float64       // no more blocks once all intervals of the client CPU of the last contender are so narrow; 0: go on
	order  turn.Order    // of each turn; the name is left out
	warm   int           // how many times longer the turns before are, which are not counted; 0: warm
	renew  func() error  // before each block, if it is given: starts the contenders again
}

// contender does turns of one name.
type contender struct {
	name string
	turn func(context.Context, turn.Order) (turn.Result, error)
}

// heat is contenders that meet each other, and what they did.
type heat struct {
	list    []contender
	order   turn.Order      // of its turns; zero: the ruler's
	rounds  int             // in a block
	results [][]turn.Result // by contender, in the order of the turns: two a round
}

// warm is for turns with nodes: what contenders do first prepares statements, and warms the servers and the client.
const warm = 10

// run measures the heats in turn.
func (r ruler) run(ctx context.Context, heats ...*heat) error {
	for _, h := range heats {
		h.rounds, h.results = max(1, r.rounds), make([][]turn.Result, len(h.list))
	}
	begin := time.Now()
	for block := 0; block < fewest || time.Since(begin) < r.limit; block++ {
		if block > 0 && block%10 == 0 {
			if r.enough > 0 && !slices.ContainsFunc(heats, func(h *heat) bool { return h.versus(len(h.list)-1, clientCPU).width() > r.enough }) {
				break
			}
			progress("block %d, %.0f s", block, time.Since(begin).Seconds())
		}
		fresh := block == 0
		if r.renew != nil {
			if err := r.renew(); err != nil {
				return err
			}
			fresh = true
		}
		for _, h := range heats {
			if fresh {
				if err := r.turns(ctx, h, rand.Perm(len(h.list)), cmp.Or(r.warm, warm)); err != nil {
					return err
				}
			}
			for range h.rounds {
				there := rand.Perm(len(h.list))
				back := slices.Clone(there)
				slices.Reverse(back)
				if err := r.turns(ctx, h, append(there, back...), 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turns has the contenders do turns, in the order in which they are named. Turns that are longer are not counted.
func (r ruler) turns(ctx context.Context, h *heat, list []int, longer int) error {
	for _, i := range list {
		order := cmp.Or(h.order, r.order)
		order.Name, order.N = h.list[i].name, order.N*max(1, longer)
		result, err := h.list[i].turn(ctx, order)
		if err != nil {
			return fmt.Errorf("%s: %w", h.list[i].name, err)
		}
		if longer == 0 {
			h.results[i] = append(h.results[i], result)
		}
	}
	return nil
}

// metric is a figure of a turn.
type metric struct {
	name     string
	unit     string
	decimals int
	alone    bool    // it is of turns without nodes
	width    float64 // of the widest interval that is shown
	most     float64 // the interval of a later commit must end here; 0: no limit
	of       func(turn.Result) float64
}

const (
	narrow = 0.05
	wide   = 0.15
)

func perOperation(x func(turn.Result) float64) func(turn.Result) float64 {
	return func(r turn.Result) float64 { return x(r) / float64(r.N) }
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
func milliseconds(d time.Duration) float64 { return microseconds(d) / 1000 }

var (
	clientCPU   = metric{"client CPU", "µs", 0, true, narrow, 1.03, perOperation(func(r turn.Result) float64 { return microseconds(r.CPU) })}
	allocations = metric{"allocations", "", 0, true, narrow, 0, perOperation(func(r turn.Result) float64 { return float64(r.Mallocs) })}
	serversCPU  = metric{"servers' CPU", "µs", 0, false, narrow, 0, perOperation(func(r turn.Result) float64 { return max(1, microseconds(r.Servers)) })}
	requests    = metric{"requests", "", 2, false, narrow, 0, perOperation(func(r turn.Result) float64 { return float64(r.Requests) })}
	p50         = metric{"p50", "ms", 2, false, narrow, 1.05, func(r turn.Result) float64 { return milliseconds(r.P50) }}
	slowest     = metric{"slowest of a turn", "ms", 1, false, wide, 0, func(r turn.Result) float64 { return milliseconds(r.Slowest) }}
)

// series is a figure of a contender, once a block.
func (h *heat) series(i int, m metric) (list []float64) {
	for turns := range slices.Chunk(h.results[i], 2*h.rounds) {
		logs := make([]float64, len(turns))
		for k, r := range turns {
			logs[k] = math.Log(m.of(r))
		}
		list = append(list, math.Exp(middle(logs)))
	}
	return list
}

// versus compares a contender with the first one, with a 95 % interval.
func (h *heat) versus(own int, m metric) ratio {
	return compare(h.series(own, m), h.series(0, m), 0.95)
}

// shown says whether a ratio may be: narrow enough, while the same contender, under two names, is the same.
func (m metric) shown(r, null ratio) bool { return r.width() <= m.width && null.contains(1) }

const notShown = "not shown"

// cell is a ratio, or the reason why it is not shown.
func (m metric) cell(r, null ratio) string {
	if !m.shown(r, null) {
		return notShown
	}
	return fmt.Sprintf("**%.2f** (%.2f to %.2f)", r.is, r.low, r.high)
}

// pauses says what the turns had to wait for.
func pauses(heats ...*heat) string {
	var all []turn.Result
	for _, h := range heats {
		all = append(all, slices.Concat(h.results...)...)
	}
	if len(all) == 0 {
		return ""
	}
	const long = 100 * time.Millisecond
	paused := 0
	for _, r := range all {
		if r.Gap >= long {
			paused++
		}
	}
	longest := slices.MaxFunc(all, func(a, b turn.Result) int { return cmp.Compare(a.Gap, b.Gap) }).Gap
	gc := slices.MaxFunc(all, func(a, b turn.Result) int { return cmp.Compare(a.GC, b.GC) }).GC
	return fmt.Sprintf("Pauses: in %d of %d turns no node answered for %d ms or more, at most %.0f ms. The client's garbage collector stopped it for at most %.1f ms a turn.",
		paused, len(all), long.Milliseconds(), milliseconds(longest), milliseconds(gc))
}

// ratio is how many times one contender needs what another does, with the interval of its confidence.
type ratio struct{ is, low, high float64 }

// width returns the width of the interval divided by the ratio.
func (r ratio) width() float64 { return (r.high - r.low) / r.is }

func (r ratio) contains(x float64) bool { return r.low <= x && x <= r.high }

func (r ratio) String() string { return fmt.Sprintf("%.3f (%.3f to %.3f)", r.is, r.low, r.high) }

const (
	resamples = 1000
	fewest    = 12 // blocks: fewer say nothing of the interval
)

// compare takes what two contenders needed in the same blocks. Of the logarithms of the ratios of the blocks it gives
// the mean without the lowest and the highest quarter, since a pause of a node is in one turn alone. The interval is a
// bootstrap of runs of blocks, as what a block meets its neighbours may meet too. Percentiles are widened as Student's
// t is for so few blocks.
func compare(own, base []float64, confidence float64) ratio {
	n := len(own)
	logs := make([]float64, n)
	for i := range own {
		logs[i] = math.Log(own[i] / base[i])
	}
	if n < fewest {
		return ratio{math.Exp(middle(logs)), 0, math.Inf(1)}
	}
	random := rand.New(rand.NewPCG(uint64(n), 43))
	run := max(1, int(math.Cbrt(float64(n))))
	means, drawn := make([]float64, resamples), make([]float64, 0, n+run)
	for k := range means {
		for drawn = drawn[:0]; len(drawn) < n; {
			begin := random.IntN(n)
			for j := range run {
				drawn = append(drawn, logs[(begin+j)%n])
			}
		}
		means[k] = middle(drawn[:n])
	}
	slices.Sort(means)
	tail := 1 - distuv.UnitNormal.CDF(distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1+confidence)/2)*math.Sqrt(float64(n)/float64(n-1)))
	at := func(p float64) float64 { return math.Exp(stat.Quantile(p, stat.LinInterp, means, nil)) }
	return ratio{math.Exp(middle(logs)), at(tail), at(1 - tail)}
}

// middle is the mean of all but the lowest and the highest quarter.
func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	cut := len(sorted) / 4
	return stat.Mean(sorted[cut:len(sorted)-cut], nil)
}
