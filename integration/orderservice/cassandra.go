package orderservice

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A write has time for three attempts of 2.5 s, as the first two may meet a node that is silent; by default it has for
// two.
const (
	lastAttempt  = 6 * time.Second // begins no later than this
	writeTimeout = 9 * time.Second
)

// Cassandra says where the orders are.
type Cassandra struct {
	Hosts    []string
	Keyspace string
	LocalDC  string // empty: all nodes are equally near
	// Orders is the set whose tables have to be there. Nil is orders.Orders.
	Orders *tables.Set[orders.Order]
	// CreateSchema creates keyspace and tables if they are not there. A keyspace with other replicas is an error. For
	// development.
	CreateSchema bool
	// Trace is told of the writes. It may be nil.
	Trace session.Tracer
	// Change changes the configuration of every session before it is opened: credentials, TLS. It may be nil.
	Change func(*gocql.ClusterConfig)
}

// Database is the open sessions of a service, and what works on them.
type Database struct {
	Writer *writer.Writer
	Reader orders.Reader

	sessions []*gocql.Session
}

// Open connects, and checks that the tables are as they are declared.
func (c Cassandra) Open(ctx context.Context) (*Database, error) {
	if c.CreateSchema {
		if err := c.create(ctx); err != nil {
			return nil, err
		}
	}
	d := new(Database)
	if err := d.open(ctx, c); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Database) open(ctx context.Context, c Cassandra) error {
	// Two sessions, as session.New says, which are not set up alike: what is read may be read again from another node, and
	// soon, while the writer makes its own attempts.
	reads, err := c.session(c.Keyspace, func(config *gocql.ClusterConfig) {
		config.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 2}
		config.Timeout = 2 * time.Second
	})
	if err != nil {
		return err
	}
	d.sessions = append(d.sessions, reads)
	writes, err := c.session(c.Keyspace)
	if err != nil {
		return err
	}
	d.sessions = append(d.sessions, writes)
	d.Reader = orders.NewReader(reads)
	s, err := session.New(writes, reads, session.Trace(c.Trace))
	if err != nil {
		return err
	}
	d.Writer, err = writer.New(s, writer.Retry(retry.Policy{MaxElapsedTime: lastAttempt}), writer.Timeout(writeTimeout))
	if err != nil {
		return err
	}
	set := cmp.Or(c.Orders, orders.Orders)
	if err := schema.Validate(ctx, s, schema.Sets(set)); err != nil {
		return err
	}
	return d.Writer.Warm(ctx, set)
}

// WriterAt is for [Service.WriterAt].
func (d *Database) WriterAt(timestamp int64) Writer { return d.Writer.With(writer.At(timestamp)) }

// Close closes the sessions.
func (d *Database) Close() {
	for _, session := range d.sessions {
		session.Close()
	}
}

func (c Cassandra) session(keyspace string, changes ...func(*gocql.ClusterConfig)) (*gocql.Session, error) {
	config := session.Configure(gocql.NewCluster(c.Hosts...), c.LocalDC)
	config.Keyspace = keyspace
	for _, change := range append(changes, c.Change) {
		if change != nil {
			change(config)
		}
	}
	opened, err := session.Connect(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", c.Hosts, err)
	}
	return opened, nil
}

// create creates keyspace and tables. The keyspace has up to three replicas.
func (c Cassandra) create(ctx context.Context) error {
	admin, err := c.session("", func(config *gocql.ClusterConfig) { config.Timeout = time.Minute }) // a small machine takes seconds
	if err != nil {
		return err
	}
	defer admin.Close()
	var peers int
	if err := admin.Query(`SELECT count(*) FROM system.peers`).WithContext(ctx).Scan(&peers); err != nil {
		return fmt.Errorf("count the nodes: %w", err)
	}
	s, err := session.New(nil, admin, session.Keyspaces(map[string]string{"": c.Keyspace}))
	if err != nil {
		return err
	}
	replicas := schema.Replication(map[string]int{"": min(peers+1, 3)})
	declared, err := schema.Declare(schema.Sets(orders.Orders), schema.Keyspaces(schema.Keyspace{Replication: replicas}))
	if err != nil {
		return err
	}
	return schema.Ensure(ctx, s, declared)
}
