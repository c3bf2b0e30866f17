// Package turn has contenders of benchmarks do short turns, and measures them.
package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/parallel"
)

// Contender is one way to do something.
type Contender struct {
	Name    string
	Open    func(context.Context, *Place) (Prepare, error) // creates tables and rows; it is not measured
	Slow    int                                            // a turn has so many times fewer operations; 0: it has all
	prepare Prepare                                        // of Open, once it is open
}

// Prepare makes n operations ready, which is not measured, and returns the function that does operation i of them.
type Prepare func(ctx context.Context, n int) (do func(ctx context.Context, i int) error, err error)

// Result is what a turn of n operations has shown. Times are nanoseconds.
type Result struct {
	N                   int
	CPU, Servers        time.Duration // CPU of the client, and of all nodes where it is known
	P50, Slowest        time.Duration
	Gap, GC             time.Duration // the longest time without an answer; pauses of the client
	Requests, Mallocs   int64
	Exactly             Allocated // only from Exactly
	Error               string    `json:",omitempty"`
	latencies, answered []time.Duration
}

// Allocated is what an operation allocates.
type Allocated struct{ Count, Bytes float64 }

// String implements [fmt.Stringer].
func (a Allocated) String() string { return fmt.Sprintf("%.1f (%.0f bytes)", a.Count, a.Bytes) }

// Measure does a turn: n operations, some at a time.
func Measure(ctx context.Context, p *Place, prepare Prepare, n, atATime int) (r Result, err error) {
	do, err := ready(ctx, p, prepare, n)
	if err != nil {
		return r, err
	}
	r.N, r.latencies, r.answered = n, make([]time.Duration, n), make([]time.Duration, n)
	runtime.GC() // a turn does not collect the garbage of the turn before; a short turn leaves its own
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	servers, err := p.Servers(ctx)
	if err != nil {
		return r, err
	}
	requests, cpu, begin := p.answers.Load(), cpuTime(), time.Now()
	err = parallel.Do(atATime, n, func(i int) error {
		start := time.Now()
		err := do(ctx, i)
		r.latencies[i], r.answered[i] = time.Since(start), time.Since(begin)
		return err
	})
	if err = errors.Join(err, p.Writer.Wait(ctx)); err != nil { // the turn ends when its writes are complete
		return r, err
	}
	r.CPU, r.Requests = cpuTime()-cpu, p.answers.Load()-requests
	if r.Servers, err = p.Servers(ctx); err != nil {
		return r, err
	}
	r.Servers -= servers
	runtime.ReadMemStats(&after)
	r.Mallocs, r.GC = int64(after.Mallocs-before.Mallocs), time.Duration(after.PauseTotalNs-before.PauseTotalNs)
	slices.Sort(r.latencies)
	r.P50, r.Slowest = r.latencies[n/2], r.latencies[n-1]
	slices.Sort(r.answered)
	for i, at := range r.answered {
		r.Gap = max(r.Gap, at-r.answered[max(i-1, 0)])
	}
	return r, nil
}

func ready(ctx context.Context, p *Place, prepare Prepare, n int) (func(context.Context, int) error, error) {
	p.replay.on.Store(false)
	do, err := prepare(ctx, n)
	err = errors.Join(err, p.Writer.Wait(ctx))
	p.replay.on.Store(true)
	return do, err
}

// Exactly counts the allocations of an operation, and their bytes, as testing.AllocsPerRun does: with one processor.
// Without the garbage collector no pool is emptied. The median of batches leaves out rare events. The order of
// goroutines changes the count by less than half.
func Exactly(ctx context.Context, p *Place, prepare Prepare) (r Result, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const batches, n = 15, 100
	var count, bytes []float64
	for range batches {
		do, err := ready(ctx, p, prepare, n)
		if err != nil {
			return r, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			if err := do(ctx, i); err != nil {
				return r, err
			}
		}
		if err := p.Writer.Wait(ctx); err != nil {
			return r, err
		}
		runtime.ReadMemStats(&after)
		count = append(count, float64(after.Mallocs-before.Mallocs)/n)
		bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
	}
	slices.Sort(count)
	slices.Sort(bytes)
	r.Exactly = Allocated{count[batches/2], bytes[batches/2]}
	return r, nil
}

// cpuTime is what this process has used, in user and kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Order asks for a turn.
type Order struct {
	Name       string
	N, AtATime int
	Exactly    bool // count allocations
}

// Stage has the contenders of a place, which are its own, each opened when it is first asked for.
type Stage struct {
	*Place
	Contenders []Contender
}

// Turn does what is ordered.
func (s *Stage) Turn(ctx context.Context, o Order) (Result, error) {
	i := slices.IndexFunc(s.Contenders, func(c Contender) bool { return c.Name == o.Name })
	if i < 0 {
		return Result{}, fmt.Errorf("no contender is named %q", o.Name)
	}
	x := &s.Contenders[i]
	if x.prepare == nil {
		s.replay.on.Store(false)
		var err error
		if x.prepare, err = x.Open(ctx, s.Place); err != nil {
			return Result{}, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	if o.Exactly {
		return Exactly(ctx, s.Place, x.prepare)
	}
	return Measure(ctx, s.Place, x.prepare, max(1, o.N/max(1, x.Slow)), o.AtATime)
}
