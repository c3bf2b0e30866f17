package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

func newestTable(newest []newestContender) string {
	base := newest[slices.IndexFunc(newest, func(x newestContender) bool { return x.name == unmerged })]
	var b strings.Builder
	b.WriteString("| newest 10 | p50 | of the ten reads | p95 |\n| --- | --- | --- | --- |\n")
	for _, x := range newest {
		fmt.Fprintf(&b, "| %s | %s | %.2f x | %s |\n", x.name, x.p50.cell("%.2f ms"), x.p50.median()/base.p50.median(), x.p95.cell("%.2f ms"))
	}
	return b.String()
}

func scanTable(scans []scanContender) string {
	base := scans[slices.IndexFunc(scans, func(x scanContender) bool { return x.name == oneAtATime })]
	var b strings.Builder
	b.WriteString("| all rows | rows a second | of one after the other | heap, at most |\n| --- | --- | --- | --- |\n")
	for _, x := range scans {
		fmt.Fprintf(&b, "| %s | %s | %.0f %% | %s |\n", x.name, x.perSecond.cell("%.0f"),
			100*x.perSecond.median()/base.perSecond.median(), x.heap.cell("%.0f MB"))
	}
	return b.String()
}

func (b *readBench) report(hosts int, newest []newestContender, scans []scanContender) string {
	return fmt.Sprintf(`# Reading a bucketed stream

A stream of %d rows of about 100 bytes over %d hours by %d hash buckets, so %d partitions, at LOCAL_QUORUM on %d real
Cassandra nodes on this machine. Contenders take turns in random order; medians over the rounds, in brackets the smallest
and the largest round. Client and servers share %d cores, so the servers are the limit, and so is whatever else the machine
did: compare the lines of a table with each other, not with another run.

## The newest ten rows

%d rounds of %d reads each. "Ten reads, not merged" asks the ten buckets of the newest hour for ten rows each at the same
time, with prepared gocql queries, and is done when all have answered; a query for the newest ten rows cannot be faster. "By
hand" sorts what these give. This library finds the partitions, merges, and goes on to earlier hours if there are too few
rows; the others know that there are not. "One read of one bucket" is what a single such request takes.

%s
## All rows, in order

%d rounds. "One partition after the other" uses the driver's paging, 1000 rows a page, and does not merge. "By hand" reads
the ten buckets of an hour with goroutines and merges them with a heap. "One IN an hour" cannot be paged, as the server
would have to sort: an hour is one answer. The heap is that of the whole process, looked at every 20 ms.

%s
%s`, b.rows, hours, buckets, hours*buckets, hosts, runtime.NumCPU(), b.newestRounds, b.times, newestTable(newest), b.scanRounds,
		scanTable(scans), written("readbench"))
}
