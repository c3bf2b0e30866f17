// Package parallel does many things at a time.
package parallel

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Do has workers call do with 0 to n-1, until one of the calls fails.
func Do(workers, n int, do func(i int) error) error {
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
