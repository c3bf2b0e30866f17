//go:build regions

package regions_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// tally is a number that both datacentres count up.
type tally struct {
	ID      string
	N       int
	Version gocql.UUID
}

// seat is taken under a condition on its holder.
type seat struct{ SeatID, Holder string }

var (
	tallies = tables.Must(tables.New[tally]("tally", tables.Table{Name: "tallies", PartKey: []string{"id"}}, tables.Versioned("version")))
	// locals are tallies whose conditions hold in one datacentre.
	locals = tables.Must(tables.New[tally]("local", tables.Table{Name: "local_tallies", PartKey: []string{"id"}}, tables.Versioned("version"), tables.LocalSerial()))
	seats  = tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("holder")))
	all    = schema.Must(schema.Declare(schema.Sets(orders.Orders, users.Users, tallies, locals, seats)))
)

// coordinators counts requests by the datacentre of their coordinators.
type coordinators struct {
	mu sync.Mutex
	in map[string]int
}

func (c *coordinators) note(host *gocql.HostInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in[host.DataCenter()]++
}

// ObserveQuery implements gocql.QueryObserver.
func (c *coordinators) ObserveQuery(_ context.Context, q gocql.ObservedQuery) { c.note(q.Host) }

// ObserveBatch implements gocql.BatchObserver.
func (c *coordinators) ObserveBatch(_ context.Context, b gocql.ObservedBatch) { c.note(b.Host) }

// region is a service in a datacentre.
type region struct {
	name  string
	s     *session.Session
	w     *writer.Writer
	asked *coordinators
}

// open opens a service in a datacentre; in none if the name is empty.
func open(t *testing.T, keyspace, datacentre string) *region {
	t.Helper()
	r := &region{name: datacentre, asked: &coordinators{in: make(map[string]int)}}
	config := gocql.NewCluster(cluster.Hosts(t)...)
	config.Keyspace = keyspace
	options := []session.Option{session.Adjust(func(c *gocql.ClusterConfig) { c.QueryObserver, c.BatchObserver = r.asked, r.asked })}
	if datacentre != "" {
		options = append(options, session.LocalDC(datacentre))
	}
	var err error
	if r.s, err = session.Open(config, options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.s.Close)
	if r.w, err = writer.New(r.s); err != nil {
		t.Fatal(err)
	}
	return r
}

// both gives a keyspace with three replicas in each datacentre, and a service in each.
func both(t *testing.T) (keyspace string, one, two *region) {
	t.Helper()
	cluster.Need(t, 6)
	keyspace = cluster.Keyspace(t, 3, all.Statements()...)
	return keyspace, open(t, keyspace, "dc1"), open(t, keyspace, "dc2")
}

// outcome is what became of a write.
func outcome(err error) writer.Outcome { return writer.OutcomeOf(err) }

// stored is an error as a queue keeps it.
func stored(t *testing.T, err error) []byte {
	t.Helper()
	var failed *writer.Error
	if !errors.As(err, &failed) {
		t.Errorf("no error to store: %v", err)
		return nil
	}
	data, err := failed.MarshalBinary()
	if err != nil {
		t.Error(err)
	}
	return data
}

// resume resumes a stored error in a datacentre.
func (r *region) resume(ctx context.Context, data []byte) error {
	failed := new(writer.Error)
	if err := failed.UnmarshalBinary(data); err != nil {
		return err
	}
	_, err := r.w.Resume(ctx, failed)
	return err
}
