package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

func report(list []*contender, rounds, writes, nodes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What a change costs, by the rules of its set

An entity in two tables, by id and by status, at LOCAL_QUORUM on %d real Cassandra nodes on this machine. %d rounds of %d
changes with 1 at a time and %d with %d at a time, contenders in random order; the median latency of each round, and of those the
median, in brackets the smallest and the largest. No two changes meet. Client and servers share the machine: compare the lines
with each other, not with another run. The first line of each verb is what the others are compared with.

| change | rule | what is sent | p50, one at a time | | p50, %d at a time | |
| --- | --- | --- | --- | --- | --- | --- |
`, nodes, rounds, writes/2, writes, clients, clients)
	var first *contender
	for _, c := range list {
		if first == nil || first.verb != c.verb {
			first = c
		}
		cell := func(v, of []float64) string {
			return fmt.Sprintf("**%.2f ms** (%.2f to %.2f) | %.2f x", median(v), slices.Min(v), slices.Max(v), median(v)/median(of))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.verb, c.rule, c.sent, cell(c.alone, first.alone), cell(c.many, first.many))
	}
	fmt.Fprintf(&b, "\nWritten by `make changes` on %s, %s %s/%s.\n", time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}
