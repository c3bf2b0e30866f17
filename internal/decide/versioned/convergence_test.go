package versioned_test

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/length"
)

var (
	modelSeed = flag.Uint64("versioned.seed", 1, "seed of the runs of the model")
	modelCase = flag.Int("versioned.case", -1, "a run of the seed to print, whatever comes of it")
)

// TestConvergenceVersioned runs the protocol in 1,000,000 worlds with skewed clocks, crashes, requests that are lost,
// refused or arrive late, and fences that expire. Afterwards every query table is the projection of the base rows, no
// update is lost, what was reported is what has happened, no two entities have one unique key, and every entity and key
// can be used again.
func TestConvergenceVersioned(t *testing.T) {
	if *modelCase >= 0 {
		w := newWorld(new(modelPlan))
		defer w.close()
		w.history = new(strings.Builder)
		w.run(*modelSeed, uint64(*modelCase))
		t.Log(w.history)
		return
	}
	r := runModel(new(modelPlan), length.Of(t, 1_000_000), true)
	if r.first >= 0 {
		t.Fatalf("seed %d, case %d:\n%s", *modelSeed, r.first, r.report)
	}
	t.Logf("seed %d: %d runs, %d changes in %s", *modelSeed, r.cases, r.changes, r.took.Round(time.Millisecond))
	for i, f := range coverageNames {
		t.Logf("%5.1f %% %s", 100*float64(r.coverage[i])/float64(r.cases), f.name)
		if r.coverage[i]*1000 < f.least*r.cases {
			t.Errorf("%s in %d of %d runs, want %d of 1,000", f.name, r.coverage[i], r.cases, f.least)
		}
	}
}

// modelResult is what many runs have found. Run n of a seed is always the same.
type modelResult struct {
	cases, changes, wrong int
	first                 int // the first run that went wrong, -1 if none did
	report                string
	coverage              []int
	took                  time.Duration
}

// runModel makes runs on all processors. It goes on after one that went wrong if not told to stop.
func runModel(plan *modelPlan, cases int, stop bool) *modelResult {
	const chunk = 256
	var next atomic.Int64
	var stopped atomic.Bool
	var wait sync.WaitGroup
	var lock sync.Mutex
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // runs leave little but garbage
	total := &modelResult{first: -1, coverage: make([]int, len(coverageNames))}
	start := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			w := newWorld(plan)
			defer w.close()
			r := modelResult{first: -1, coverage: make([]int, len(coverageNames))}
			for !stopped.Load() {
				from := int(next.Add(chunk)) - chunk
				if from >= cases {
					break
				}
				for n := from; n < min(from+chunk, cases); n++ {
					if !r.count(n, w, w.run(*modelSeed, uint64(n))) && stop {
						stopped.Store(true)
						break
					}
				}
			}
			lock.Lock()
			defer lock.Unlock()
			total.add(&r)
		})
	}
	wait.Wait()
	total.took = time.Since(start)
	if total.first >= 0 {
		w := newWorld(plan)
		defer w.close()
		w.history = new(strings.Builder)
		wrong := w.run(*modelSeed, uint64(total.first))
		total.report = fmt.Sprintf("%s\n%s", wrong, w.history)
	}
	return total
}

func (r *modelResult) count(n int, w *world, wrong string) bool {
	r.cases++
	r.changes += len(w.calls)
	for i, f := range coverageNames {
		if f.of(&w.coverage) {
			r.coverage[i]++
		}
	}
	if wrong == "" {
		return true
	}
	r.wrong++
	if r.first < 0 || n < r.first {
		r.first = n
	}
	return false
}

func (r *modelResult) add(other *modelResult) {
	r.cases += other.cases
	r.changes += other.changes
	r.wrong += other.wrong
	for i, n := range other.coverage {
		r.coverage[i] += n
	}
	if other.first >= 0 && (r.first < 0 || other.first < r.first) {
		r.first = other.first
	}
}
