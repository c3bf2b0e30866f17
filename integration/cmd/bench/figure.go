package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

// share has workers do n things, until one fails.
func share(workers, n int, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[w] = do(i); errs[w] != nil {
					failed.Store(true)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
