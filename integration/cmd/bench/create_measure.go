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
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// created is what was measured of a contender.
type created struct {
	name        string
	p50, p99    [len(atATime)]figure // in milliseconds
	cpu, server figure               // CPU a write in microseconds, of this process and of all nodes together, with the most writes at a time
	allocations figure               // a write, with 1 at a time
	perSecond   figure               // with the most writes at a time
}

// atATime is how many writes are in flight.
var atATime = [...]int{1, 16, 64}

// A round has so many turns of each contender, in random order, with so many writes each: a slow moment of the machine, which
// lasts for seconds, then meets all of them. The writes for the client CPU are enough for the garbage collector to run several
// times: a turn begins with a collection that is not counted.
const turns = 3

var turnWrites = [len(atATime)]int{70, 300, 1400}

// tally is what one round has shown of a contender so far.
type tally struct {
	latencies         [len(atATime)][]time.Duration
	mallocs           uint64
	cpu, server, took time.Duration // with the most writes at a time
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
	for i, latencies := range t.latencies {
		r.p50[i].add(p50(latencies))
		r.p99[i].add(float64(latencies[len(latencies)*99/100].Microseconds()) / 1000)
	}
	alone, many := float64(turns*turnWrites[0]), float64(turns*turnWrites[len(atATime)-1])
	r.cpu.add(float64(t.cpu.Microseconds()) / many)
	r.server.add(float64(t.server.Microseconds()) / many)
	r.allocations.add(float64(t.mallocs) / alone)
	r.perSecond.add(many / t.took.Seconds())
}

// p50 is the median in milliseconds of latencies, which it sorts.
func p50(latencies []time.Duration) float64 {
	slices.Sort(latencies)
	return float64(latencies[len(latencies)/2].Microseconds()) / 1000
}

// turn measures a contender once.
func (t *tally) turn(ctx context.Context, c creator) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, clients := range atATime {
		cpu := cpuTime()
		server, err := cluster.CPU(ctx)
		if err != nil {
			return err
		}
		latencies, took, err := createAll(ctx, c, clients, turnWrites[i])
		if err != nil {
			return err
		}
		t.latencies[i] = append(t.latencies[i], latencies...)
		if i == 0 {
			runtime.ReadMemStats(&after)
			t.mallocs += after.Mallocs - before.Mallocs
		}
		if i < len(atATime)-1 {
			continue
		}
		t.cpu, t.took = t.cpu+cpuTime()-cpu, t.took+took
		end, err := cluster.CPU(ctx)
		if err != nil {
			return err
		}
		t.server += end - server
	}
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
