package main

import (
	"fmt"
	"slices"
	"strings"
)

func (b *changeBench) report(list []*changer, nodes int) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# What a change costs, by the rules of its set

An entity in two tables, by id and by status, at LOCAL_QUORUM on %d real Cassandra nodes on this machine. %d rounds of %d
changes with 1 at a time and %d with %d at a time, contenders in random order; the median latency of each round, and of those the
median, in brackets the smallest and the largest. No two changes meet. Client and servers share the machine: compare the lines
with each other, not with another run. The first line of each verb is what the others are compared with.

| change | rule | what is sent | p50, one at a time | | p50, %d at a time | |
| --- | --- | --- | --- | --- | --- | --- |
`, nodes, b.rounds, b.writes/2, b.writes, clients, clients)
	var first *changer
	for _, c := range list {
		if first == nil || first.verb != c.verb {
			first = c
		}
		cell := func(v, of figure) string {
			return fmt.Sprintf("**%.2f ms** (%.2f to %.2f) | %.2f x", v.median(), slices.Min(v), slices.Max(v), v.median()/of.median())
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", c.verb, c.rule, c.sent, cell(c.alone, first.alone), cell(c.many, first.many))
	}
	text.WriteString(`
The removal of a ` + "`Versioned`" + ` change's entry follows the answer, and each change comes when that of its insert is done. What the variant of
Paxos makes of it is in [Conditions](conditions.md#what-a-condition-costs).
`)
	return text.String() + "\n" + written("changes")
}
