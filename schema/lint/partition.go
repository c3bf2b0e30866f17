package lint

import (
	"fmt"
	"math"
	"time"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/estimate"
)

var partitionRules = []Rule{
	{
		Code: "DN101", Name: "low-cardinality-partition", Severity: Error,
		Doc:   "A partition key with few values puts all rows into few partitions: they grow without end, on few nodes.",
		check: lowCardinality,
	},
	{
		Code: "DN102", Name: "hot-partition", Severity: Error,
		Doc:   "A partition key that is only a time, with rows in the order of their arrival: all that is written at a moment goes to one partition.",
		check: hotPartition,
	},
	{
		Code: "DN103", Name: "time-only-partition", Severity: Warning,
		Doc:   "A partition key of a time and nothing that spreads: all rows of that time are in one partition, on one set of replicas.",
		check: timeOnly,
	},
	{
		Code: "DN104", Name: "unbounded-partition", Severity: Warning,
		Doc:   "Rows arrive in a partition forever: no bucket of time in its key, and no TTL.",
		check: unbounded,
	},
}

// rolesOf counts what the columns of a partition key do.
func rolesOf(t *schema.Table) map[role]int {
	n := make(map[role]int)
	for _, c := range t.Of(schema.PartitionKey) {
		n[roleOf(c)]++
	}
	return n
}

// clustered gives the tables with more than a row a partition, the roles in their partition key with them.
func (r *review) clustered(yield func(*schema.Table, map[role]int) bool) {
	for _, t := range r.tables() {
		if len(t.Of(schema.Clustering)) > 0 && !yield(t, rolesOf(t)) {
			return
		}
	}
}

func lowCardinality(r *review) {
	for t, n := range r.clustered {
		if n[few] > 0 && n[few] == len(t.Of(schema.PartitionKey)) {
			r.finding(t, "add a bucket to the partition key, a stable hash of the row's id modulo 16 or so, and read the buckets side by side",
				"the partition key (%s) has few values", names(t.Of(schema.PartitionKey)))
		}
	}
}

func hotPartition(r *review) {
	for t, n := range r.clustered {
		if n[moment] > 0 && n[moment] == len(t.Of(schema.PartitionKey)) && instant(t.Of(schema.Clustering)[0]) {
			r.finding(t, "put what the rows are about into the partition key before the time, for example ((sensor_id, day), ts), or a bucket",
				"the partition key (%s) is only a time and rows arrive in the order of %s: every write of the moment goes to one partition",
				names(t.Of(schema.PartitionKey)), t.Of(schema.Clustering)[0].Name)
		}
	}
}

func timeOnly(r *review) {
	for t, n := range r.clustered {
		part := t.Of(schema.PartitionKey)
		mixed := n[moment] > 0 && n[few] > 0
		if n[moment] == 0 || n[moment]+n[few] < len(part) || !mixed && instant(t.Of(schema.Clustering)[0]) {
			continue
		}
		r.finding(t, "add to the partition key what queries know besides the time, or a bucket; if rows are few, state their volume and accept this",
			"all rows of one %s are in one partition", names(part))
	}
}

func unbounded(r *review) {
	for t, n := range r.clustered {
		if n[identity] == 0 || n[moment] > 0 || n[spread] > 0 || t.TTL() > 0 || r.single(t) || r.stated(t) || r.alwaysTTL(t) {
			continue
		}
		for _, c := range t.Of(schema.Clustering) {
			if instant(c) {
				r.finding(t, "add a bucket of time to the partition key, or a TTL; or state its volume, if that stays small",
					"a partition (%s) gets rows by %s forever", names(t.Of(schema.PartitionKey)), c.Name).Column = c.Name
				break
			}
		}
	}
}

// stated says whether what is expected of a table is: what comes of it is said by the rules on size.
func (r *review) stated(t *schema.Table) bool {
	for _, v := range r.schema.Volumes {
		if v.Table == t.ID && !v.Measured {
			return true
		}
	}
	return false
}

// alwaysTTL says whether all that is written to a table has a TTL.
func (r *review) alwaysTTL(t *schema.Table) bool {
	written, all := false, true
	for q, of := range r.queries {
		if of == t && (q.Verb == "INSERT" || q.Verb == "UPDATE") {
			written, all = true, all && q.TTL != 0
		}
	}
	return written && all
}

var sizeRules = []Rule{
	{
		Code: "DN105", Name: "partition-rows", Severity: Warning,
		Doc: "More than 100,000 rows in a partition, by the stated volume: reads and repairs of it become slow.",
		check: func(r *review) {
			r.size("rows", estimate.GoodRows, func(s estimate.Size) float64 { return s.Rows }, math.Inf(1))
		},
	},
	{
		Code: "DN106", Name: "partition-bytes", Severity: Warning,
		Doc: "More than 10 MB in a partition, by the stated volume.",
		check: func(r *review) {
			r.size("bytes", estimate.GoodBytes, func(s estimate.Size) float64 { return s.Bytes }, estimate.BadBytes)
		},
	},
	{
		Code: "DN107", Name: "partition-too-large", Severity: Error,
		Doc: "More than 100 MB in a partition, by the stated volume: compaction, repair and reads of it strain the nodes that have it.",
		check: func(r *review) {
			r.size("bytes", estimate.BadBytes, func(s estimate.Size) float64 { return s.Bytes }, math.Inf(1))
		},
	},
	{
		Code: "DN108", Name: "partition-cells", Severity: Error,
		Doc: "Two billion cells in a partition, by the stated volume: Cassandra cannot hold more.",
		check: func(r *review) {
			r.size("cells", estimate.MaxCells, func(s estimate.Size) float64 { return s.Cells }, math.Inf(1))
		},
	},
}

// foresight is how far ahead the rules on size look.
const foresight = 5 * schema.Year

// size reports tables whose stated volume reaches a limit, unless it reaches a worse one, of which another rule tells.
func (r *review) size(what string, limit float64, of func(estimate.Size) float64, worse float64) {
	for _, v := range r.schema.Volumes {
		t := r.schema.Table(v.Table)
		if t == nil {
			continue
		}
		e, err := estimate.New(r.schema, v)
		if err != nil {
			continue
		}
		at := of(e.At(foresight))
		after, ok := e.When(func(s estimate.Size) bool { return of(s) >= limit })
		if !ok || after > foresight || at >= worse {
			continue
		}
		when := "reaches " + count(limit) + " " + what + " after " + age(after)
		if after <= time.Minute {
			when = "has " + count(at) + " " + what
		}
		r.finding(t, "divide the partition: a bucket of time, one more key column, or a second table for what is large",
			"the largest partition %s", when)
	}
}

// count writes a number for people, for example 2 billion.
func count(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}} {
		if n >= u.size {
			return fmt.Sprintf("%.3g%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", n)
}

// age writes a time for people.
func age(d time.Duration) string {
	switch {
	case d >= 2*schema.Year:
		return fmt.Sprintf("%.1f years", float64(d)/float64(schema.Year))
	case d >= 2*schema.Month:
		return fmt.Sprintf("%.1f months", float64(d)/float64(schema.Month))
	case d >= 2*schema.Day:
		return fmt.Sprintf("%.1f days", float64(d)/float64(schema.Day))
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
