package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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

// compare takes what two contenders needed in the same blocks. Of the logarithms of the ratios of the blocks it gives the mean without the
// lowest and the highest quarter, since a pause of a node is in one turn alone. The interval is a bootstrap of runs of blocks, as what a
// block meets its neighbours may meet too. Percentiles are widened as Student's t is for so few blocks.
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
