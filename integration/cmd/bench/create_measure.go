package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
)

// created is what was measured of a contender.
type created struct {
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

func (b *createBench) measure(ctx context.Context, contenders []creator) ([]created, error) {
	results := make([]created, len(contenders))
	for round := range b.rounds + 1 {
		progress("round %d of %d", round, b.rounds)
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

func (r *created) add(t *tally) {
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
func (t *tally) turn(ctx context.Context, c creator) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	latencies, _, err := createAll(ctx, c, 1, aloneWrites)
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	t.alone = append(t.alone, latencies...)
	t.mallocs += after.Mallocs - before.Mallocs
	if latencies, _, err = createAll(ctx, c, 4, fourWrites); err != nil {
		return err
	}
	t.four = append(t.four, latencies...)
	cpu := cpuTime()
	_, took, err := createAll(ctx, c, 64, cpuWrites)
	if err != nil {
		return err
	}
	t.cpu, t.took = t.cpu+cpuTime()-cpu, t.took+took
	return nil
}

// createAll creates orders, clients at a time, and gives their latencies, and how long all took. The orders are made before, and
// latencies kept in place, so that what is counted is the contender's.
func createAll(ctx context.Context, c creator, clients, writes int) (latencies []time.Duration, took time.Duration, err error) {
	list := make([]orders.Order, writes)
	for i := range list {
		list[i] = orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
	}
	latencies = make([]time.Duration, writes)
	begin := time.Now()
	err = share(clients, writes, func(i int) error {
		start := time.Now()
		defer func() { latencies[i] = time.Since(start) }()
		return c.create(ctx, list[i])
	})
	return latencies, time.Since(begin), err
}

// cpuTime is what this process has used, in user and kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
