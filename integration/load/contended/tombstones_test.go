package contended_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/writer"
)

var tombstones = regexp.MustCompile(`(?:and|over) (\d+) tombstone`)

// crossed is how many tombstones the nodes cross at a read of an order, by their traces.
func crossed(t *testing.T, s *gocql.Session, id gocql.UUID) (most int) {
	t.Helper()
	var trace bytes.Buffer
	row := make(map[string]any)
	q := s.Query("SELECT * FROM orders_by_id WHERE order_id = ?", id).Consistency(gocql.All).Trace(gocql.NewTraceWriter(s, &trace))
	if err := q.MapScan(row); err != nil {
		t.Fatal(err)
	}
	found := tombstones.FindAllSubmatch(trace.Bytes(), -1)
	if found == nil {
		t.Fatalf("no node says how many tombstones it has crossed:\n%s", &trace)
	}
	for _, f := range found {
		n, err := strconv.Atoi(string(f[1]))
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	return most
}

// However often an entity is changed, a read of its base row crosses a few tombstones.
func TestChangesLeaveNoTombstones(t *testing.T) {
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	orders := create(t, p)
	often, seldom := orders[0], orders[1]
	client, changes := contended.Library{Writer: p.Writer}, 300
	if *long {
		changes = 100_000
	}
	took := make(map[gocql.UUID][]time.Duration)
	read := func(id gocql.UUID) {
		begin := time.Now()
		if _, err := writer.Load(t.Context(), p.Writer, "load", contended.Orders, contended.Order{OrderID: id}); err != nil {
			t.Fatal(err)
		}
		took[id] = append(took[id], time.Since(begin))
	}
	for n := range changes {
		if err := client.Change(t.Context(), often, "status "+strconv.Itoa(n)); err != nil {
			t.Fatal(n, err)
		}
		if n >= changes/2 && n%10 == 0 { // A B B A
			if err := p.Writer.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, id := range []gocql.UUID{often, seldom, seldom, often} {
				read(id)
			}
		}
	}
	if err := p.Writer.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := crossed(t, p.Session.Reads(), often); n > 10 {
		t.Errorf("%d tombstones after %d changes", n, changes)
	}
	t.Logf("after %d changes a read crosses %d tombstones; medians of reads %v, of the other order %v", changes, crossed(t, p.Session.Reads(), often),
		median(took[often]), median(took[seldom]))
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
