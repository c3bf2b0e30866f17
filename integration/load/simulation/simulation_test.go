package simulation_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/integration/load/simulation"
)

var (
	writes = flag.Int("writes", 10_000, "logical writes")
	out    = flag.String("out", "", "where to write a report")
	size   = flag.Int("size", 5000, "logical writes of one world")
	lowest = flag.Uint64("seed", 1, "of the first world")
)

// all is how many writes meet each fault, whatever the seeds: the rarest is met by one in a hundred.
const all = 10_000

func TestSimulation(t *testing.T) {
	began := time.Now()
	total := new(simulation.Report)
	var next atomic.Uint64
	var failed atomic.Bool
	next.Store(*lowest)
	var mu sync.Mutex
	t.Run("worlds", func(t *testing.T) {
		for lane := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				for !failed.Load() {
					seed := next.Add(1) - 1
					mu.Lock()
					enough := total.Writes() >= *writes
					mu.Unlock()
					if enough {
						return
					}
					report := run(t, simulation.World{Seed: seed, Writes: *size})
					if t.Failed() {
						failed.Store(true)
					}
					mu.Lock()
					total.Add(report)
					mu.Unlock()
				}
			})
		}
	})
	took := time.Since(began)
	t.Logf("%v of real time\n%v", took, total)
	if unmet := total.Unmet(); len(unmet) > 0 && total.Writes() >= all {
		t.Errorf("no write has met: %s", strings.Join(unmet, ", "))
	}
	if *out != "" {
		if err := os.WriteFile(*out, []byte(total.Markdown(took, runtime.GOMAXPROCS(0))), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// run runs a world, and tells what is wrong in it.
func run(t *testing.T, w simulation.World) (report *simulation.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(10 * time.Minute) }) // the driver lets go of its goroutines by and by
		report = w.Run(t)
	})
	for _, f := range report.Faults[:min(5, len(report.Faults))] {
		t.Errorf("seed %d: %s", w.Seed, f)
	}
	for _, err := range report.Troubles[:min(5, len(report.Troubles))] {
		t.Errorf("seed %d: %v", w.Seed, err)
	}
	return report
}
