package bulk

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
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
	child.Main(m, &i, func(ctx context.Context) error { return i.Run(context.WithoutCancel(ctx)) }) // End waits for its end
}

// An import is killed again and again, and begins at its checkpoints each time. The tables are those of one run: no
// change is lost, and none that was written again undoes a later one. So they are by single requests and by groups.
func TestImportIsKilled(t *testing.T) {
	for name, group := range map[string]int{"single requests": 0, "groups": 4 << 10} {
		t.Run(name, func(t *testing.T) {
			keyspace := cluster.Keyspace(t, 3, orders.Schema.Statements()...)
			i := &Import{
				Hosts: cluster.Hosts(t), Keyspace: keyspace, File: filepath.Join(t.TempDir(), "checkpoint"), Changes: *changes, Group: group,
				Began: time.Now().Add(-time.Hour).Truncate(time.Millisecond),
			}
			start, saved, failed := time.Now(), []int(nil), 0
			for len(saved) < *kills {
				part := i.Changes / (*kills + 1)
				i.Kill = (len(saved)+1)*part + rand.N(part)
				c := i.start(t)
				<-c.Ended()
				if err := c.Kill(); err != nil { // by an item's error, as a write may end on nodes that are very busy
					if failed++; failed > *kills+3 {
						t.Fatalf("the import has ended with errors %d times, at last: %v", failed, err)
					}
					continue // begins again like one that was killed
				}
				saved = append(saved, i.saved(t))
			}
			i.Kill = 0
			for err := i.start(t).End(); err != nil; err = i.start(t).End() {
				if failed++; failed > *kills+3 {
					t.Fatal(err)
				}
			}
			t.Logf("%d changes in %.1f s, killed %d times when up to %d were saved; ended by an item's error %d times",
				i.Changes, time.Since(start).Seconds(), len(saved), saved, failed)
			i.compare(t, cluster.Session(t, keyspace, func(c *gocql.ClusterConfig) { c.Consistency, c.Timeout = gocql.All, time.Minute }))
		})
	}
}

func (i *Import) start(t *testing.T) *child.Child {
	t.Helper()
	c, err := child.Start(i)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// saved is the change up to which all lanes are saved.
func (i *Import) saved(t *testing.T) int {
	t.Helper()
	saved, err := i.read()
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) < lanes {
		return 0
	}
	return int(slices.Min(slices.Collect(maps.Values(saved))))
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
	i.compareTable(t, s, want, "orders_by_id", "")
	i.compareTable(t, s, want, "orders_by_user", "")
	// By parts: a node ends a read that meets 100,000 rows that are gone, and each order has left its first status.
	var parts []string
	for from := 0; from < i.Changes; from += 10 * block * stages {
		last := from+10*block*stages >= i.Changes
		first, _ := i.Order(from)
		for _, status := range orders.Statuses {
			part := fmt.Sprintf(" WHERE status = '%s' AND order_id >= %v", status, first.OrderID)
			if next, _ := i.Order(from + 10*block*stages); !last {
				part += fmt.Sprintf(" AND order_id < %v", next.OrderID)
			}
			parts = append(parts, part)
		}
	}
	i.compareTable(t, s, want, "orders_by_status", parts...)
}

// compareTable reads a table by parts.
func (i *Import) compareTable(t *testing.T, s *gocql.Session, want map[gocql.UUID]orders.Order, table string, parts ...string) {
	t.Helper()
	rows, wrong := 0, 0
	for _, part := range parts {
		var o orders.Order
		var written int64
		iter := s.Query(`SELECT order_id, user_id, status, total, updated_at, writetime(total) FROM ` + table + part).PageSize(1000).Iter()
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
	}
	if rows != len(want) || wrong > 0 {
		t.Errorf("%s has %d rows of which %d are wrong, want %d", table, rows, wrong, len(want))
	}
}
