package replica_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
)

// now is the second in which the law looks: some cells have ended then, and some have not.
const now = 100

func order(a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		if c := bytes.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// mutation draws what a statement may write, with few keys, columns, values and timestamps.
func mutation(t *rapid.T) *replica.Partition {
	at := rapid.Int64Range(1, 3).Draw(t, "timestamp")
	one := rapid.SampledFrom([]string{"", "a"})
	key := func() [][]byte { return [][]byte{[]byte(one.Draw(t, "c")), []byte(one.Draw(t, "d"))} }
	p := replica.NewPartition()
	p.Stamp = rapid.Uint64Range(1, 1<<40).Draw(t, "stamp")
	row := replica.NewRow(key())
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		p.Deletion = at
		return p
	case 1:
		p.Ranges = []replica.Range{{
			From: replica.Bound{Prefix: key()[:rapid.IntRange(0, 2).Draw(t, "from")], Inclusive: true},
			To: replica.Bound{Prefix: key()[:rapid.IntRange(0, 2).Draw(t, "to")], Inclusive: rapid.Bool().
				Draw(t, "inclusive")},
			Timestamp: at,
		}}
		return p
	case 2:
		row.Deletion = at
	case 3:
		row.Marker = merge.Liveness{Timestamp: at, Expires: rapid.SampledFrom([]int64{0, 50, 150}).Draw(t, "expires")}
	case 4: // a collection in place of another
		row.Set(replica.Cell{Column: "m", All: true, Cell: merge.Cell{Timestamp: at - 1}})
		row.Set(replica.Cell{Column: "m", Path: []byte(one.Draw(t, "path")), Cell: cell(t, at)})
	default:
		row.Set(replica.Cell{Column: one.Draw(t, "column"), Cell: cell(t, at)})
		row.Set(replica.Cell{Column: "m", Path: []byte(one.Draw(t, "path")), Cell: cell(t, at)})
	}
	if rapid.IntRange(0, 4).Draw(t, "static") == 0 && row.Deletion == merge.NoTimestamp {
		row.Key, row.Marker = nil, merge.Liveness{Timestamp: merge.NoTimestamp}
		p.Static = row
		return p
	}
	p.Rows = []*replica.Row{row}
	return p
}

func cell(t *rapid.T, at int64) merge.Cell {
	c := merge.Cell{Timestamp: at}
	if rapid.IntRange(0, 3).Draw(t, "tombstone") > 0 {
		c.Value = []byte(rapid.SampledFrom([]string{"", "\x01", "\xff"}).Draw(t, "value"))
		c.Expires = rapid.SampledFrom([]int64{0, 50, 150}).Draw(t, "expires")
	}
	return c
}

// look is what a read finds.
func look(p *replica.Partition) string {
	var b strings.Builder
	rows := p.Rows
	if p.Static != nil {
		rows = append([]*replica.Row{p.Static}, rows...)
	}
	for _, r := range rows {
		if !r.Live(now) {
			continue
		}
		fmt.Fprintf(&b, "%q:", r.Key)
		for _, c := range r.Cells {
			if c.Live(now) {
				fmt.Fprintf(&b, " %s[%q]=%q at %d until %d", c.Column, c.Path, c.Value, c.Timestamp, c.Expires)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func merged(parts ...*replica.Partition) *replica.Partition {
	out := replica.NewPartition()
	for _, p := range parts {
		out.Merge(p, order)
	}
	return out
}

// Whatever the order in which mutations arrive, however often each of them does, and on which replica it is first: a
// read finds the same.
func TestMergeLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(mutation), 5, 15).Draw(t, "mutations")
		want := look(merged(all...))

		shuffled := rapid.Permutation(append(slices.Clone(all), all[:rapid.IntRange(0, len(all)).Draw(t, "repeated")]...)).
			Draw(t, "shuffled")
		if got := look(merged(shuffled...)); got != want {
			t.Errorf("in another order:\n%swant\n%s", got, want)
		}
		cut := rapid.IntRange(0, len(shuffled)).Draw(t, "cut")
		left, right := merged(shuffled[:cut]...), merged(shuffled[cut:]...)
		before := look(right)
		if got := look(merged(left, right)); got != want {
			t.Errorf("on two replicas:\n%swant\n%s", got, want)
		}
		if got := look(merged(right, left, right)); got != want {
			t.Errorf("repaired twice:\n%swant\n%s", got, want)
		}
		if after := look(right); after != before {
			t.Errorf("what was merged is another now:\n%swas\n%s", after, before)
		}
	})
}

// Of counters the larger clock of each node counts, and a tombstone wins forever.
func TestMergeCounters(t *testing.T) {
	t.Parallel()
	shard := func(node int, clock, count int64) *replica.Partition {
		p, row := replica.NewPartition(), replica.NewRow(nil)
		row.Set(replica.Cell{
			Column: "n", Cell: merge.Cell{Timestamp: clock, Value: []byte{}},
			Shards: []replica.Shard{{Node: node, Clock: clock, Count: count}},
		})
		p.Rows = []*replica.Row{row}
		return p
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []*replica.Partition
		var want int64
		for node := 1; node <= 3; node++ {
			var count int64
			for clock := range int64(rapid.IntRange(0, 3).Draw(t, "updates")) {
				count += rapid.Int64Range(-2, 2).Draw(t, "delta")
				all = append(all, shard(node, clock+1, count))
			}
			want += count
		}
		if all == nil {
			return
		}
		all = append(all, all[0])
		got := merged(rapid.Permutation(all).Draw(t, "order")...)
		if n := got.Rows[0].Cell("n").Count(); n != want {
			t.Errorf("got %d, want %d", n, want)
		}
		tombstone, row := replica.NewPartition(), replica.NewRow(nil)
		row.Set(replica.Cell{Column: "n", Cell: merge.Cell{Timestamp: 1}})
		tombstone.Rows = []*replica.Row{row}
		got = merged(rapid.Permutation(append(all, tombstone)).Draw(t, "order with a tombstone")...)
		if got.Rows[0].Live(now) {
			t.Errorf("it is there, and was deleted")
		}
	})
}
