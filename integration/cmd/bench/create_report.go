package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

func (b *createBench) report(p *place, name string, results []created) string {
	base := results[slices.IndexFunc(results, func(x created) bool { return x.name == bare })]
	cell := func(f, base figure, format string) string {
		return fmt.Sprintf("%s, %.2f x", f.cell(format), f.times(base))
	}
	var latency, cost strings.Builder
	for _, x := range results {
		fmt.Fprintf(&latency, "| %s |", x.name)
		for i := range atATime {
			fmt.Fprintf(&latency, " %s | %s |", cell(x.p50[i], base.p50[i], "%.2f ms"), cell(x.p99[i], base.p99[i], "%.1f ms"))
		}
		fmt.Fprintf(&latency, "\n")
		fmt.Fprintf(&cost, "| %s | %s | %s | %s | %s |\n", x.name, cell(x.cpu, base.cpu, "%.0f µs"), cell(x.server, base.server, "%.0f µs"),
			cell(x.allocations, base.allocations, "%.0f"), cell(x.perSecond, base.perSecond, "%.0f"))
	}
	title, replicas := "", fmt.Sprintf("each row on %d of them", p.replicas)
	if p.hosts != 3 || p.replicas != 3 {
		title = fmt.Sprintf(", %d nodes, replication factor %d", p.hosts, p.replicas)
	}
	return fmt.Sprintf(`# Benchmark%s

createOrder: one order into `+"`orders_by_id`, `orders_by_user` and `orders_by_status`"+` at LOCAL_QUORUM, on %d real
Cassandra nodes on this machine, %s. %d rounds; in each the contenders take %d turns in random order. Medians over the
rounds, in brackets the smallest and the largest round, then how many times the fan-out by hand of the same round, the median
of that, too. The fan-out by hand: goroutines, prepared gocql queries, pinned timestamp, no retry, no bookkeeping. Client and
servers share %d cores, so the servers are the limit, and latencies with many writes at a time are mostly waiting.

## What a write costs, 64 at a time

The CPU time of the servers is that of all nodes together, with all that they do meanwhile. The allocations are the client's.

| createOrder | client CPU | servers' CPU | allocations | writes/s |
| --- | --- | --- | --- | --- |
%s
![CPU time of the servers](%s-cpu.svg)

## How long a write takes

| createOrder | p50, 1 at a time | p99 | p50, 16 at a time | p99 | p50, 64 at a time | p99 |
| --- | --- | --- | --- | --- | --- | --- |
%s
![p50 with one write at a time](%s.svg)

%s`, title, p.hosts, replicas, b.rounds, turns, runtime.NumCPU(), &cost, name, &latency, name, written("bench"))
}
