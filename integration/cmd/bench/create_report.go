package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

func (b *createBench) report(hosts int, results []created) string {
	base := results[slices.IndexFunc(results, func(x created) bool { return x.name == bare })]
	var table strings.Builder
	table.WriteString("| createOrder | p50, 1 at a time | p50, 4 at a time | client CPU, 64 at a time | allocations | writes/s, 64 at a time |\n")
	table.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	cell := func(f, base figure, format string) string {
		return fmt.Sprintf("%s, %.2f x", f.cell(format), f.times(base))
	}
	for _, x := range results {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %.0f |\n", x.name,
			cell(x.alone, base.alone, "%.2f ms"), cell(x.four, base.four, "%.2f ms"), cell(x.cpu, base.cpu, "%.0f µs"),
			cell(x.allocations, base.allocations, "%.0f"), x.perSecond.median())
	}
	return fmt.Sprintf(`# Benchmark

createOrder: one order into `+"`orders_by_id`, `orders_by_user` and `orders_by_status`"+` at LOCAL_QUORUM, on %d real
Cassandra nodes on this machine. %d rounds; in each the contenders take %d turns in random order. Medians over the
rounds, in brackets the smallest and the largest round, then how many times the fan-out by hand of the same round, the median
of that, too. The fan-out by hand: goroutines, prepared gocql queries, pinned timestamp, no retry, no bookkeeping. Client and
servers share %d cores, so the servers are the limit and writes per second say little about the client.

%s
![p50 with one write at a time](benchmark.svg)

%s`, hosts, b.rounds, turns, runtime.NumCPU(), &table, written("bench"))
}
