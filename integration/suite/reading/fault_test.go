//go:build faults

package reading_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
)

// A node stops in the middle of a read that asks all nodes as coordinators. Every row is given once, in order: what
// fails is asked again elsewhere, and if a partition cannot be read for a while, the error names it and the token
// continues behind what was given.
func TestNodeStopsDuringARead(t *testing.T) {
	cluster.Alone(t)
	for name, stop := range map[string]func(*cluster.Node) error{
		"killed": func(n *cluster.Node) error { return n.Kill(t.Context()) },
		"silent": func(n *cluster.Node) error { return n.Pause(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			cluster.Need(t, 3)
			p := nodes.Cassandra.Open(t, 3)
			rows := fill(t, p, 3)
			nodes := cluster.Nodes(t)
			r := p.Reader.With(reader.PageSize(10))
			q := stretch(0, 3*time.Hour)
			var got []sample
			var token reader.Token
			start, slowest, breaks := time.Now(), time.Duration(0), 0
			for {
				result := reader.Read(t.Context(), r, "all", q.After(token))
				var failed error
				last := time.Now()
				for row, err := range result.All() {
					slowest, last = max(slowest, time.Since(last)), time.Now()
					if failed = err; err != nil {
						break
					}
					if got = append(got, row); len(got) == len(rows)/4 {
						if err := stop(nodes[1]); err != nil {
							t.Fatal(err)
						}
						last = time.Now()
					}
				}
				if failed == nil {
					break
				}
				var named *reader.Error
				if !errors.As(failed, &named) || named.Partition == 0 || len(named.Buckets) != 2 {
					t.Fatalf("an error that does not name the partition: %v", failed)
				}
				t.Log(failed)
				if token = result.Token(); time.Since(start) > 2*time.Minute {
					t.Fatal("not read within two minutes")
				}
				breaks++
			}
			t.Logf("%d rows in %v, continued %d times, the longest wait for a row %v", len(got), time.Since(start), breaks, slowest)
			seen := make(map[sample]bool)
			for i, row := range got {
				if row.At = row.At.UTC(); seen[row] {
					t.Fatalf("row %d came twice: %v", i, row)
				}
				seen[row] = true
				if i > 0 && row.At.After(got[i-1].At) {
					t.Fatalf("row %d is out of order", i)
				}
			}
			if len(got) != len(rows) {
				t.Errorf("%d rows, want %d", len(got), len(rows))
			}
		})
	}
}

// Where each partition has one replica and a node is gone, some partitions cannot be read. The query says which one
// failed, and does not pass the rest off as the whole.
func TestNodeWithTheOnlyReplicaStopped(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	p := nodes.Cassandra.Open(t, 1)
	const hours = 6 // 24 partitions: that the node has none of them happens once in 17,000 runs
	want := len(fill(t, p, hours))
	// A node that is killed loses what it acknowledged since the last marker in its commit log, of which there is one
	// every 100 ms (AbstractCommitLogService.DEFAULT_MARKER_INTERVAL_MILLIS), and with one replica nobody else has it.
	<-time.After(2 * time.Second)
	nodes := cluster.Nodes(t)
	if err := nodes[2].Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Reader = p.Reader.With(reader.Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 6 * time.Second}))
	lost := make(map[string]bool)
	var named *reader.Error
	for i := range hours * 4 {
		from := time.Duration(i/4) * time.Hour
		_, _, err := reader.List(t.Context(), p.Reader, "one", stretch(from, from+time.Hour).Eq("bucket", i%4))
		if errors.As(err, &named) {
			lost[fmt.Sprintf("%s/%d", named.Buckets[0].Value, i%4)] = true
		}
	}
	rows, token, err := reader.List(t.Context(), p.Reader, "all", stretch(0, hours*time.Hour))
	t.Logf("%d of %d partitions cannot be read: %d of %d rows, %v", len(lost), hours*4, len(rows), want, err)
	switch {
	case len(lost) == 0 || len(lost) == hours*4:
		t.Fatal("the node that was killed has no partition, or all of them")
	case !errors.As(err, &named):
		t.Fatalf("%v, want an error that names the partition", err)
	case len(named.Buckets) != 2 || !lost[named.Buckets[0].Value+"/"+named.Buckets[1].Value]:
		t.Errorf("%v names a partition that can be read; those that cannot are %v", err, lost)
	}
	if err := nodes[2].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := nodes[2].Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 20 { // the driver finds the node again by and by
		var rest []sample
		if rest, token, err = reader.List(t.Context(), p.Reader, "all", stretch(0, hours*time.Hour).After(token)); err == nil {
			rows = append(rows, rest...)
			break
		}
		rows = append(rows, rest...)
	}
	if err != nil || len(rows) != want {
		t.Errorf("when the node is back: %d rows, %v", len(rows), err)
	}
}
