package bulk

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

var (
	changes = flag.Int("changes", 24_000, "changes of orders")
	kills   = flag.Int("kills", 3, "how often the import is killed")
)

func TestMain(m *testing.M) {
	var i Import
	is, err := child.Told(&i)
	if !is {
		os.Exit(m.Run())
	}
	if err == nil {
		err = i.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// An import is killed again and again, and begins at its checkpoints each time. The tables are those of one run: no change is lost, and none
// that was written again undoes a later one. So they are by single requests and by groups.
func TestImportIsKilled(t *testing.T) {
	for name, group := range map[string]int{"single requests": 0, "groups": 4 << 10} {
		t.Run(name, func(t *testing.T) {
			keyspace := cluster.Keyspace(t, 3)
			cluster.ChangeSchema(t, keyspace, orders.Schema.Statements()...)
			i := &Import{
				Hosts: cluster.Hosts(t), Keyspace: keyspace, File: filepath.Join(t.TempDir(), "checkpoint"), Changes: *changes, Group: group,
				Began: time.Now().Add(-time.Hour).Truncate(time.Millisecond),
			}
			start := time.Now()
			for n := range *kills + 1 {
				c, err := child.Start(i)
				if err != nil {
					t.Fatal(err)
				}
				if n == *kills {
					if err := c.End(); err != nil {
						t.Fatal(err)
					}
					break
				}
				i.awaitCheckpoint(t, c)
				if err := c.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d changes, killed %d times, in %.1f s", i.Changes, *kills, time.Since(start).Seconds())
			i.compare(t, cluster.Session(t, keyspace, func(c *gocql.ClusterConfig) { c.Consistency, c.Timeout = gocql.All, time.Minute }))
		})
	}
}

// awaitCheckpoint waits until the import has saved one.
func (i *Import) awaitCheckpoint(t *testing.T, c *child.Child) {
	t.Helper()
	var before time.Time
	if info, err := os.Stat(i.File); err == nil {
		before = info.ModTime()
	}
	for {
		select {
		case <-c.Ended():
			t.Fatalf("the import has ended before it was killed: give more changes: %v", c.End())
		case <-time.After(10 * time.Millisecond):
		}
		if info, err := os.Stat(i.File); err == nil && info.ModTime().After(before) {
			<-time.After(200 * time.Millisecond) // and goes on
			return
		}
	}
}

// compare finds in each table exactly the orders that are there after the last change of each.
func (i *Import) compare(t *testing.T, s *gocql.Session) {
	t.Helper()
	want := make(map[gocql.UUID]orders.Order)
	for n := range i.Changes {
		if o, there := i.Order(n); there {
			want[o.OrderID] = o
		} else {
			delete(want, o.OrderID)
		}
	}
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		var o orders.Order
		var written int64
		rows, wrong := 0, 0
		iter := s.Query(`SELECT order_id, user_id, status, total, updated_at, writetime(total) FROM ` + table).PageSize(1000).Iter()
		for iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt, &written) {
			w, ok := want[o.OrderID]
			if rows++; !ok || o.UserID != w.UserID || o.Status != w.Status || o.Total.Cmp(w.Total) != 0 || o.UpdatedAt != w.UpdatedAt || written != w.UpdatedAt {
				if wrong++; wrong <= 3 {
					t.Errorf("%s has %+v, written at %d, want %+v", table, o, written, w)
				}
			}
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		if rows != len(want) || wrong > 0 {
			t.Errorf("%s has %d rows of which %d are wrong, want %d", table, rows, wrong, len(want))
		}
	}
}
