package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

type report struct {
	hosts, rounds int
	results       []result
}

// table is the result as Markdown.
func (r report) table() string {
	var base result
	for _, x := range r.results {
		if x.name == bare {
			base = x
		}
	}
	var b strings.Builder
	b.WriteString("| createOrder | p50, 1 at a time | p50, 4 at a time | client CPU, 64 at a time | allocations | writes/s, 64 at a time |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for _, x := range r.results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.0f |\n", x.name,
			cell(x.alone, base.alone, "%.2f ms"), cell(x.four, base.four, "%.2f ms"), cell(x.cpu, base.cpu, "%.0f µs"),
			cell(x.allocations, base.allocations, "%.0f"), x.perSecond.median())
	}
	return b.String()
}

// cell is a median with its range, and how often it is that of the fan-out by hand.
func cell(f, base figure, format string) string {
	return fmt.Sprintf("**"+format+"** ("+format+" to "+format+"), %.2f x", f.median(), f.least(), f.most(),
		f.times(base))
}

func (r report) write(dir string) error {
	text := fmt.Sprintf(`# Benchmark

createOrder: one order into `+"`orders_by_id`, `orders_by_user` and `orders_by_status`"+` at LOCAL_QUORUM, on %d real
Cassandra nodes on this machine. %d rounds; in each the contenders take %d turns in random order. Medians over the
rounds, in brackets the smallest and the largest round, then how many times the fan-out by hand of the same round, the median
of that, too. The fan-out by hand: goroutines, prepared gocql queries, pinned timestamp, no retry, no bookkeeping. Client and
servers share %d cores, so the servers are the limit and writes per second say little about the client.

%s
![p50 with one write at a time](benchmark.svg)

Written by `+"`make bench`"+` on %s, %s %s/%s.
`, r.hosts, r.rounds, turns, runtime.NumCPU(), r.table(), time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	if err := os.WriteFile(filepath.Join(dir, "benchmark.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "benchmark.svg"), []byte(r.plot()), 0o644)
}
