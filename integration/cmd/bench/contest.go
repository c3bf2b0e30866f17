package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/parallel"
)

// contest measures contenders side by side. A round has a few turns of each, in random order: a slow moment of the machine, which lasts for
// seconds, then meets all of them. The first round is not counted: it prepares statements and warms the servers.
type contest struct {
	rounds, turns, alone, many int
	profiles, only             string
}

func (c *contest) flags(f *flag.FlagSet) {
	f.IntVar(&c.rounds, "rounds", c.rounds, "how many rounds")
	f.IntVar(&c.turns, "turns", c.turns, "turns of each contender a round")
	f.IntVar(&c.alone, "alone", c.alone, "writes a turn with 1 at a time")
	f.IntVar(&c.many, "writes", c.many, "writes a turn with 16 and with 64 at a time, each")
	f.StringVar(&c.profiles, "cpuprofile", "", "folder for CPU profiles: go tool pprof merges those of one contender")
	f.StringVar(&c.only, "only", "", "measure only these contenders: names, with semicolons between them")
}

// contender is one way to write.
type contender struct {
	name    string
	prepare func(context.Context) (write, error) // of another entity each time; it is not measured
	settle  func(context.Context) error          // waits for what writes have left to do; it is measured. Nil: nothing is left
	figures measured
}

type write func(context.Context) error

// atATime is how many writes are under way.
var atATime = [...]int{1, 16, 64}

// measured is what was measured of a contender, by the number in atATime.
type measured struct {
	p50, p99    [len(atATime)]figure // in milliseconds
	cpu, server [len(atATime)]figure // CPU a write in microseconds, of this process and of all nodes together
	allocations [len(atATime)]figure // a write
	requests    [len(atATime)]figure // a write
	perSecond   [len(atATime)]figure
}

// tally is what one round has shown of a contender with so many writes at a time.
type tally struct {
	latencies          []time.Duration
	mallocs            uint64
	requests           int64
	cpu, servers, took time.Duration
}

// compete measures the contenders of the sections, and takes out of these what -only leaves out.
func (c *contest) compete(ctx context.Context, p *place, sections []section) error {
	var all []*contender
	for _, s := range sections {
		all = append(all, s.list...)
	}
	if c.only != "" {
		names := strings.Split(c.only, ";")
		for _, name := range names {
			if !slices.ContainsFunc(all, func(x *contender) bool { return x.name == name }) {
				return fmt.Errorf("-only: no contender is named %q", name)
			}
		}
		isOut := func(x *contender) bool { return !slices.Contains(names, x.name) }
		all = slices.DeleteFunc(all, isOut)
		for i := range sections {
			sections[i].list = slices.DeleteFunc(sections[i].list, isOut)
		}
	}
	return c.run(ctx, p, all)
}

func (c *contest) run(ctx context.Context, p *place, list []*contender) error {
	for round := range c.rounds + 1 {
		progress("round %d of %d", round, c.rounds)
		tallies := make([][len(atATime)]tally, len(list))
		for range c.turns {
			for _, i := range rand.Perm(len(list)) {
				for k := range atATime {
					if err := c.turn(ctx, p, list[i], k, &tallies[i][k]); err != nil {
						return fmt.Errorf("%s: %w", list[i].name, err)
					}
				}
			}
		}
		if round == 0 {
			continue
		}
		for i, x := range list {
			for k := range atATime {
				x.figures.add(k, &tallies[i][k])
			}
		}
	}
	return nil
}

func (m *measured) add(k int, t *tally) {
	writes := float64(len(t.latencies))
	slices.Sort(t.latencies)
	m.p50[k].add(percentile(t.latencies, 50))
	m.p99[k].add(percentile(t.latencies, 99))
	m.cpu[k].add(float64(t.cpu.Microseconds()) / writes)
	m.server[k].add(float64(t.servers.Microseconds()) / writes)
	m.allocations[k].add(float64(t.mallocs) / writes)
	m.requests[k].add(float64(t.requests) / writes)
	m.perSecond[k].add(writes / t.took.Seconds())
}

// turn measures a contender once. Writes are prepared before, and latencies kept in place, so that what is counted is the contender's.
func (c *contest) turn(ctx context.Context, p *place, x *contender, k int, t *tally) error {
	n := c.many
	if atATime[k] == 1 {
		n = c.alone
	}
	writes, latencies := make([]write, n), make([]time.Duration, n)
	if err := parallel.Do(32, n, func(i int) (err error) {
		writes[i], err = x.prepare(ctx)
		return err
	}); err != nil {
		return err
	}
	if err := x.wait(ctx); err != nil {
		return err
	}
	runtime.GC()
	stop, err := profile(c.profiles, x.name)
	if err != nil {
		return err
	}
	defer stop()
	servers, err := cluster.CPU(ctx)
	if err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	requests, cpu, begin := p.answers.Load(), cpuTime(), time.Now()
	err = parallel.Do(atATime[k], n, func(i int) error {
		start := time.Now()
		defer func() { latencies[i] = time.Since(start) }()
		return writes[i](ctx)
	})
	if err == nil {
		err = x.wait(ctx)
	}
	if err != nil {
		return err
	}
	t.took, t.cpu, t.requests = t.took+time.Since(begin), t.cpu+cpuTime()-cpu, t.requests+p.answers.Load()-requests
	runtime.ReadMemStats(&after)
	t.mallocs += after.Mallocs - before.Mallocs
	t.latencies = append(t.latencies, latencies...)
	end, err := cluster.CPU(ctx)
	t.servers += end - servers
	return err
}

func (x *contender) wait(ctx context.Context) error {
	if x.settle == nil {
		return nil
	}
	return x.settle(ctx)
}

// profile begins a CPU profile of a contender in a folder, if one is given. It includes the goroutines of the driver.
func profile(folder, name string) (stop func(), err error) {
	if folder == "" {
		return func() {}, nil
	}
	f, err := os.CreateTemp(folder, filepath.Base(strings.ReplaceAll(name, " ", "-"))+"-*.prof")
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, pprof.StartCPUProfile(f)
}

// cpuTime is what this process has used, in user and kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
