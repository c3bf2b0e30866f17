package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
)

// figure is one number of a contender, once a round.
type figure struct{ rounds []float64 }

func (f *figure) add(x float64) { f.rounds = append(f.rounds, x) }

func (f figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.rounds))
	return sorted[len(sorted)/2]
}

// times says how often f is the other, as the median over the rounds: the two of one round have had the same machine.
func (f figure) times(other figure) float64 {
	var ratios figure
	for i := range f.rounds {
		ratios.add(f.rounds[i] / other.rounds[i])
	}
	return ratios.median()
}

func (f figure) least() float64 { return slices.Min(f.rounds) }
func (f figure) most() float64  { return slices.Max(f.rounds) }

// result is what was measured of a contender.
type result struct {
	name        string
	alone, four figure // p50 in milliseconds with 1 and 4 writes at a time
	cpu         figure // client CPU a write in microseconds, with 64 writes at a time
	allocations figure // a write, with 1 at a time
	perSecond   figure // writes, with 64 at a time
}

// A round has so many turns of each contender, in random order, with so many writes each: a slow moment of the machine, which
// lasts for seconds, then meets all of them. The writes for the client CPU are enough for the garbage collector to run several
// times: a turn begins with a collection that is not counted.
const (
	turns       = 3
	aloneWrites = 70
	fourWrites  = 140
	cpuWrites   = 1000
)

// tally is what one round has shown of a contender so far.
type tally struct {
	alone, four []time.Duration
	mallocs     uint64
	cpu, took   time.Duration // with 64 writes at a time
}

func measure(ctx context.Context, contenders []contender, rounds int) ([]result, error) {
	results := make([]result, len(contenders))
	for round := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "bench: round %d of %d\n", round, rounds)
		tallies := make([]tally, len(contenders))
		for range turns {
			for _, i := range rand.Perm(len(contenders)) {
				var err error
				pprof.Do(ctx, pprof.Labels("contender", contenders[i].name), func(ctx context.Context) {
					err = tallies[i].turn(ctx, contenders[i])
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", contenders[i].name, err)
				}
			}
		}
		if round == 0 { // it prepares statements and warms the servers
			continue
		}
		for i := range results {
			results[i].name = contenders[i].name
			results[i].add(&tallies[i])
		}
	}
	return results, nil
}

func (r *result) add(t *tally) {
	r.alone.add(p50(t.alone))
	r.four.add(p50(t.four))
	r.cpu.add(float64(t.cpu.Microseconds()) / (turns * cpuWrites))
	r.allocations.add(float64(t.mallocs) / (turns * aloneWrites))
	r.perSecond.add(turns * cpuWrites / t.took.Seconds())
}

// p50 is the median in milliseconds.
func p50(latencies []time.Duration) float64 {
	slices.Sort(latencies)
	return float64(latencies[len(latencies)/2].Microseconds()) / 1000
}

// turn measures a contender once.
func (t *tally) turn(ctx context.Context, c contender) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	latencies, _, err := load(ctx, c, 1, aloneWrites)
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	t.alone = append(t.alone, latencies...)
	t.mallocs += after.Mallocs - before.Mallocs
	if latencies, _, err = load(ctx, c, 4, fourWrites); err != nil {
		return err
	}
	t.four = append(t.four, latencies...)
	cpu := cpuTime()
	_, took, err := load(ctx, c, 64, cpuWrites)
	if err != nil {
		return err
	}
	t.cpu, t.took = t.cpu+cpuTime()-cpu, t.took+took
	return nil
}

// load creates orders, clients at a time, and gives their latencies, and how long all took. The orders are made before, and
// latencies kept in place, so that what is counted is the contender's.
func load(ctx context.Context, c contender, clients, writes int) (latencies []time.Duration, took time.Duration, err error) {
	list := make([]orders.Order, writes)
	for i := range list {
		list[i] = orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
	}
	latencies = make([]time.Duration, writes)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	begin := time.Now()
	for range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= writes || failed.Load() != nil {
					return
				}
				start := time.Now()
				if err := c.create(ctx, list[i]); err != nil {
					failed.Store(&err)
					return
				}
				latencies[i] = time.Since(start)
			}
		}()
	}
	wg.Wait()
	took = time.Since(begin)
	if err := failed.Load(); err != nil {
		return nil, 0, *err
	}
	return latencies, took, nil
}

// cpuTime is what this process has used, in user and kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
