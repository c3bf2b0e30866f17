package main

import (
	"fmt"
	"slices"
)

func (b *createBench) section(list []*contender) section {
	return section{list: list, bases: []string{bare, fanned}, questions: []question{
		{"What does createOrder cost the client?", "client", slices.Concat(clientCPU, allocations)},
		{"What does createOrder cost the servers?", "servers", serversCPU},
		{"In how many requests?", "requests", requests},
		{"How long does createOrder take?", "latency", latencies()},
		{"How many in a second?", "throughput", perSecond},
	}}
}

func (b *createBench) report(p *place, sections []section) map[string]string {
	name, title, others := "benchmark", "", ""
	if p.hosts != 3 || p.replicas != 3 {
		name = fmt.Sprintf("benchmark-%d-nodes-rf%d", p.hosts, p.replicas)
		title = fmt.Sprintf(", %d nodes, replication factor %d", p.hosts, p.replicas)
	} else {
		others = "What an update, a move and a versioned change cost is in [changes.md](changes.md), and many changes at a time in [bulk.md](bulk.md).\n" +
			"createOrder [on six nodes](benchmark-6-nodes-rf3.md), and [where the client is the limit](benchmark-3-nodes-rf1.md), as each row is on\n" +
			"one node alone.\n\n"
	}
	text, files := answer(name, sections)
	files[name+".md"] = fmt.Sprintf(`# Benchmark%s

createOrder: one order into `+"`orders_by_id`, `orders_by_user` and `orders_by_status`"+`.

%s
The fan-out by hand: goroutines, prepared gocql queries, pinned timestamp, no retry, no bookkeeping.

%s%s%s`, title, b.method(p), others, text, written("bench"))
	return files
}
