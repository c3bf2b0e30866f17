package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

func (b *reconcileBench) report(sections []string, hosts int) string {
	nodes := "small heaps, SerialGC and the first compiler alone"
	if b.heap != "" {
		nodes = "a heap of " + b.heap + ", G1 and both compilers"
	}
	return fmt.Sprintf(`# Package reconcile compared with the same by hand

Orders in three tables, by id, by user and by status, at LOCAL_QUORUM on %d real Cassandra nodes on this machine, each with %s. Contenders take
turns in random order; medians over the rounds, in brackets the smallest and the largest. Client and servers share %d cores, with
whatever else the machine did: compare the lines with each other, not with another run.

%s
%s`, hosts, nodes, runtime.NumCPU(), strings.Join(sections, "\n"), written("reconcilebench"))
}

func (b *reconcileBench) scanSection(list []*rowReader) string {
	return fmt.Sprintf(`## Verify and a scan

%d orders. The tables agree, and nothing else uses them. All contenders read all rows of all tables by ranges of tokens, at most %d requests
at a time. "Scan by hand" is what a service would write: gocql, 5000 rows a page, the columns of the rows and nothing else, which
are decoded and forgotten. It compares nothing. The second line also asks for the WRITETIME of each column and the TTL, without
which nobody can say which of two rows is newer, as Verify does. With Lookup the counterparts of each row are looked up one by
one; it was stopped after %v. The heap is what was live after a collection, the most in a round.

| all rows of all tables | rounds | rows a second | of the scan by hand | live heap |
| --- | --- | --- | --- | --- |
%s`, b.orders, inFlight, b.limit, lines(list))
}

func (b *reconcileBench) backfillSection(list []*rowReader) string {
	return fmt.Sprintf(`## Backfill and a copy

%d orders. The table %s, empty, is filled from the base table, at most %d requests at a time, and nothing else uses the tables. "Copy by hand"
reads the base table by ranges of tokens and puts each row at the time in its stamp. It does not know how long a row has
to live, when its columns were written, or whether the table is right afterwards.

| rows of the base table | rounds | rows a second | of the copy by hand | live heap |
| --- | --- | --- | --- | --- |
%s`, b.orders, filled, fillInFlight, lines(list))
}

func (b *reconcileBench) latencySection(list []*neighbour, unknown, writes int) string {
	var rows strings.Builder
	for _, n := range list {
		p99 := n.percentile(99)
		fmt.Fprintf(&rows, "| %s | %d | %s | **%.1f ms** | **%.1f ms** (%.1f ms to %.1f ms) | **%.2f x** |\n", n.name, len(n.p99), n.rows.cell("%.0f"),
			n.percentile(50), p99, slices.Min(n.p99), slices.Max(n.p99), p99/list[0].percentile(99))
	}
	return fmt.Sprintf(`## The service's writes next to a run

%d orders. A service makes %d writes a second, one in three a new order, the others changes of status, each a fan-out to all tables. What runs
next to it has the defaults of the package, and takes what the nodes have to give, or the option Rate, in requests a second, and PageSize(%d). Windows of %v take turns in random order, for %v
and a round before any counts, as the nodes still compile what they run. Latencies count from when a write was due; p50 and p99 are of the writes of all rounds, in brackets the smallest and the largest p99 of a round. %d of %d writes were
not acknowledged.

| next to it runs | rounds | its rows a second | p50 of writes | p99 of writes | of p99 alone |
| --- | --- | --- | --- | --- | --- |
%s`, b.orders, b.rate, b.page, b.window, b.warm, unknown, writes, rows.String())
}

func (b *reconcileBench) diffSection(list []judged, unknown int) string {
	var rows strings.Builder
	for _, j := range list {
		fmt.Fprintf(&rows, "| %s | %d | %d | %d | %d |\n", j.name, j.rows, j.writes, j.alarms, j.wrong)
	}
	return fmt.Sprintf(`## False alarms, and acknowledged writes undone

%d orders. No difference was planted: all that differs are the %d writes a second of the service, so every finding is a false alarm. "The job by
hand" is what services write: it reads each table, looks each row up in the others, and decides from that one look; repairing, it puts
and removes rows at the time of now. It was stopped after %v; Settle was %v. Undone are orders of which, once the service had
stopped, a table at ALL had other rows than were acknowledged last. %d writes were not acknowledged and are not counted.

| | rows looked at | writes meanwhile | false alarms | orders undone |
| --- | --- | --- | --- | --- |
%s`, b.orders, b.rate, b.limit, b.settle, unknown, rows.String())
}
