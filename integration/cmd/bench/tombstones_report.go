package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
)

// sweeps are what a run has shown.
type sweeps struct {
	tombstoneBench
	hosts   int
	busy    string // the machine's load before the run
	loaded  time.Duration
	results []listed

	confirmed []confirmedRead
}

// table is the result as Markdown, the commonest status first.
func (r sweeps) table() string {
	var b strings.Builder
	b.WriteString("| status | share of the orders | `OneOf`: p50, p99 | tombstones | `SingleWriter`: p50, p99 | tombstones | 20 / share |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, status := range []orders.Status{orders.Shipped, orders.Paid, orders.Open, orders.Cancelled} {
		fmt.Fprintf(&b, "| %s | %.1f %% |", status, 100*stay(status))
		for _, set := range ways {
			x := r.find(set.name, status)
			b.WriteString(" " + quantiles(x.latencies))
			if x.timeouts > 0 {
				fmt.Fprintf(&b, ", timeouts %d", x.timeouts)
			}
			fmt.Fprintf(&b, " | %d", x.scan.tombstones)
			if x.rows < limit { // the whole partition was read for them
				fmt.Fprintf(&b, ", %d rows", x.rows)
			}
			b.WriteString(" |")
		}
		fmt.Fprintf(&b, " %.0f |\n", limit/stay(status))
	}
	return b.String()
}

func (r sweeps) find(set string, status orders.Status) listed {
	return r.results[slices.IndexFunc(r.results, func(x listed) bool { return x.set == set && x.status == status })]
}

func (r sweeps) text() string {
	return fmt.Sprintf(`# What sweeps cost a reader

A status that is declared `+"`OneOf`"+` is swept: every change of an order deletes its row under all other statuses. Who
lists a status reads across what was deleted there, until gc_grace_seconds have passed and a compaction has come by. A
list of n orders crosses about n / share tombstones, where share is the part of all orders that are in the status. With
`+"`SingleWriter`"+` a row is deleted only where the order has been.

Here are both after %d changes of status each: orders are created open, most are then paid and shipped, one of a
thousand is paid and cancelled. Read is the table by status, one partition a status:

`+"```sql"+`
SELECT order_id, total, updated_at FROM orders_by_status WHERE status = ? LIMIT 20
`+"```"+`

%s
Tombstones are what a replica says it has read for one such request: the m of `+"`Read n live rows and m tombstone cells`"+`
in its trace. Latencies are of %d reads of each, in random order, at LOCAL_QUORUM, one at a time.%s

What follows from it:

- A status that few orders are in, and that the set sweeps, is the dear one. Above 1,000 tombstones
  (`+"`tombstone_warn_threshold`"+`) the server warns, above 100,000 (`+"`tombstone_failure_threshold`"+`) it rejects the
  read: a list of 20 fails from a share of 0.02 %% downwards.
- A status that every order passes through and leaves, such as open, costs the same in both: it is a queue.
- A bucket of time in the partition key bounds the cost by the orders of one bucket.
- Old and new orders have the same statuses here. Where the newest orders are the open ones and the newest are read
  first, as most services do, a reader finds its 20 before it meets a tombstone.

%s%d nodes and the client shared %d cores. The load average of the machine was %s before the run%s.
Writing took %.0f s, with the changes of %d orders in a logical write, in mode Concurrent. What was written was read as it
was, with no compaction asked for.

%s`, r.changes, r.table(), r.rounds, r.timeouts(), r.confirmedText(), r.hosts, runtime.NumCPU(), r.busy, r.judge(), r.loaded.Seconds(), ordersPerWrite,
		written("tombstones"))
}

// timeouts says what they are, where there were any.
func (r sweeps) timeouts() string {
	for _, x := range r.results {
		if x.timeouts > 0 {
			return " A timeout is a read\nthat the server gave up after five seconds."
		}
	}
	return ""
}

// judge says what the load average means for the latencies.
func (r sweeps) judge() string {
	if load, err := strconv.ParseFloat(r.busy, 64); err == nil && load > 1 {
		return ": it had other work, so the latencies\n" +
			"are too high, and mean something only compared with each other"
	}
	return ""
}

// loadAverage is what else the machine has to do, as the kernel tells it.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	one, _, _ := strings.Cut(string(data), " ")
	return one
}
