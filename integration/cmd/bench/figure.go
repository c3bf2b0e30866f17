package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// figure is one number of a contender, once a round.
type figure []float64

func (f *figure) add(x float64) { *f = append(*f, x) }

func (f figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f))
	return sorted[len(sorted)/2]
}

// times says how often f is the other, as the median over the rounds: the two of one round have had the same machine.
func (f figure) times(other figure) float64 {
	var ratios figure
	for i := range f {
		ratios.add(f[i] / other[i])
	}
	return ratios.median()
}

// cell is a median with its range.
func (f figure) cell(format string) string {
	return fmt.Sprintf("**"+format+"** ("+format+" to "+format+")", f.median(), slices.Min(f), slices.Max(f))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// percentile is that of sorted latencies, in milliseconds.
func percentile(sorted []time.Duration, p int) float64 { return ms(sorted[len(sorted)*p/100]) }

// peak is the most that look gives while do runs, every 20 ms.
func peak(look func() uint64, do func()) (most uint64) {
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for over := false; !over; over = sleep.Unless(done, 20*time.Millisecond) {
			most = max(most, look())
		}
	}()
	do()
	close(done)
	<-looked
	return most
}
