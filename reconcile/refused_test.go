package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type visit struct {
	ID   int
	Page string
	At   time.Time
}

// Sets that cannot be compared are rejected before anything is sent.
func TestRejectedSets(t *testing.T) {
	t.Parallel()
	type seat struct {
		ID      int
		Taken   bool
		Version gocql.UUID
	}
	type click struct {
		Page  string
		Day   string
		Times int64
	}
	sets := map[string]tables.Described{
		"it has counters": tables.Must(tables.New[click]("click", tables.Table{Name: "clicks", PartKey: []string{"page"}, SortKey: []string{"day"}},
			tables.Table{Name: "clicks_by_day", PartKey: []string{"day"}, SortKey: []string{"page"}}, tables.Type("times", "counter"))),
		"it is Transactional": tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"id"}},
			tables.Table{Name: "seats_by_taken", PartKey: []string{"taken"}, SortKey: []string{"id"}}, tables.Versioned("version"), tables.Transactional())),
		"rotates": tables.Must(tables.New[visit]("visit", tables.Table{Name: "visits", PartKey: []string{"id"}},
			tables.Table{Name: "visits_by_page", PartKey: []string{"page"}, SortKey: []string{"at", "id"}, Rotate: tables.Month("at")})),
	}
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, things["moving"])
		sent := c.When(cassandratest.Text("partitioner FROM system.local WHERE")).Do(cassandratest.Delay(0))
		for why, set := range sets {
			for name, call := range map[string]func() error{
				"Verify": func() error { _, err := r.Verify(t.Context(), set); return err },
				"Repair": func() error { _, err := r.Repair(t.Context(), set); return err },
				"Watch":  func() error { return r.Watch(t.Context(), set) },
			} {
				if err := call(); !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), why) {
					t.Errorf("%s, %q: %v", name, why, err)
				}
			}
		}
		if n := sent.Handled(); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// A rate that cannot be stored is rejected before a run begins.
func TestRejectedRates(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, things["moving"])
		for _, rate := range []int{-1, 0, math.MaxInt} {
			if _, err := reconcile.New(s, reconcile.Rate(rate)); !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "Rate: ") {
				t.Errorf("Rate(%d): %v", rate, err)
			}
			if err := r.SetRate(t.Context(), gocql.TimeUUID(), rate); rate != 0 && (!errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "SetRate: ")) {
				t.Errorf("SetRate(%d): %v", rate, err)
			}
		}
	})
}

// otherTokens makes the nodes say that they have another partitioner.
type otherTokens struct{ gocql.Dialer }

func (d otherTokens) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	return otherConn{conn}, err
}

type otherConn struct{ net.Conn }

func (c otherConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	copy(b, bytes.ReplaceAll(b[:n], []byte("Murmur3Partitioner"), []byte("ABRandomPartitioner")[1:]))
	return n, err
}

// A cluster whose partitioner is not Murmur3Partitioner is rejected.
func TestOtherPartitioner(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(schema.Must(schema.Declare(schema.Sets(things["moving"]))).In(map[string]string{"": "shop"}).Statements()...)
		config := c.Config()
		config.Keyspace = "shop"
		config.Dialer = otherTokens{config.Dialer}
		s, err := session.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := reconcile.New(s)
		if err != nil {
			t.Fatal(err)
		}
		sent := c.When(cassandratest.Text("FROM shop.things")).Do(cassandratest.Delay(0))
		_, err = r.Verify(t.Context(), things["moving"])
		if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "BRandomPartitioner") || sent.Handled() > 0 {
			t.Errorf("%v, %d requests", err, sent.Handled())
		}
	})
}

// A run is not continued under another declaration.
func TestResumeOfAnotherDeclaration(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, things["moving"], reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"))
		report, err := r.Verify(t.Context(), things["moving"])
		if err != nil {
			t.Fatal(err)
		}
		other := tables.Must(tables.New[thing]("thing",
			tables.Table{Name: "things", PartKey: []string{"thing_id"}},
			tables.Table{Name: "things_by_status", PartKey: []string{"status"}, SortKey: []string{"thing_id"}, Columns: []string{"owner", "stamp"}},
			tables.Table{Name: "things_by_owner", PartKey: []string{"owner"}, SortKey: []string{"thing_id"}},
			tables.OneOf("status", "a", "b", "c", "d"), tables.SingleWriter("owner"), tables.Stamp("stamp")))
		sent := c.When(cassandratest.Text("FROM shop.things")).Do(cassandratest.Delay(0))
		_, err = r.Verify(t.Context(), other, reconcile.Resume(report.Run))
		if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "begun with another declaration") || sent.Handled() > 0 {
			t.Errorf("%v, %d requests", err, sent.Handled())
		}
	})
}

// Of one kind one run of a set is under way, and runs of two kinds go on next to each other.
func TestKindsOfRuns(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 20)
		x.Create(reconcile.StateSchema("shop"))
		ended := make(chan error, 1)
		go func() {
			_, err := x.storing(reconcile.Rate(10)).Repair(t.Context(), orders.Orders)
			ended <- err
		}()
		<-time.After(5 * time.Second)
		if _, err := x.storing().Repair(t.Context(), orders.Orders); !errors.Is(err, reconcile.ErrRunning) {
			t.Errorf("a second Repair: %v", err)
		}
		if _, err := x.storing().Verify(t.Context(), orders.Orders); err != nil {
			t.Errorf("Verify: %v", err)
		}
		if len(ended) > 0 {
			t.Error("the first Repair has ended before")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
