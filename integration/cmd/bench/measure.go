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

	"github.com/denorm-go/denorm/integration/orders"
)

// figure is one number of a contender, once a round.
type figure struct{ rounds []float64 }

func (f figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.rounds))
	return sorted[len(sorted)/2]
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

const (
	aloneWrites = 200
	fourWrites  = 400
	cpuWrites   = 1500
)

func measure(ctx context.Context, contenders []contender, rounds int) ([]result, error) {
	results := make([]result, len(contenders))
	for round := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "bench: round %d of %d\n", round, rounds)
		for _, i := range rand.Perm(len(contenders)) {
			r := result{name: contenders[i].name}
			var err error
			pprof.Do(ctx, pprof.Labels("contender", r.name), func(ctx context.Context) { err = r.round(ctx, contenders[i]) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[i].name, err)
			}
			if round == 0 { // the first prepares statements and warms the servers
				results[i].name = r.name
				continue
			}
			results[i].add(r)
		}
	}
	return results, nil
}

func (r *result) add(o result) {
	r.alone.rounds = append(r.alone.rounds, o.alone.rounds...)
	r.four.rounds = append(r.four.rounds, o.four.rounds...)
	r.cpu.rounds = append(r.cpu.rounds, o.cpu.rounds...)
	r.allocations.rounds = append(r.allocations.rounds, o.allocations.rounds...)
	r.perSecond.rounds = append(r.perSecond.rounds, o.perSecond.rounds...)
}

// round measures a contender once.
func (r *result) round(ctx context.Context, c contender) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p50, _, err := load(ctx, c, 1, aloneWrites)
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	r.alone.rounds = append(r.alone.rounds, p50)
	r.allocations.rounds = append(r.allocations.rounds, float64(after.Mallocs-before.Mallocs)/aloneWrites)
	if p50, _, err = load(ctx, c, 4, fourWrites); err != nil {
		return err
	}
	r.four.rounds = append(r.four.rounds, p50)
	cpu := cpuTime()
	_, took, err := load(ctx, c, 64, cpuWrites)
	if err != nil {
		return err
	}
	r.cpu.rounds = append(r.cpu.rounds, float64((cpuTime()-cpu).Microseconds())/cpuWrites)
	r.perSecond.rounds = append(r.perSecond.rounds, cpuWrites/took.Seconds())
	return nil
}

// load creates orders, clients at a time, and gives the median latency in milliseconds and how long all took. The orders
// are made before, and latencies kept in place, so that what is counted is the contender's.
func load(ctx context.Context, c contender, clients, writes int) (p50 float64, took time.Duration, err error) {
	list := make([]orders.Order, writes)
	for i := range list {
		list[i] = orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
	}
	latencies := make([]time.Duration, writes)
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
		return 0, 0, *err
	}
	slices.Sort(latencies)
	return float64(latencies[writes/2].Microseconds()) / 1000, took, nil
}

// cpuTime is what this process has used, in user and kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
