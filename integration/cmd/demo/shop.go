package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// shop is an order service: its keyspace, its sessions and its writer.
type shop struct {
	session   *session.Session
	declared  *schema.Schema
	keyspaces []string // created by this run, to be dropped
	view      view
	own       *session.Session // of its keyspace
	w         *writer.Writer
	dialer    faulty.Dialer // loses the replies that it is told to lose
}

// openShop connects to the cluster and creates the tables.
func openShop(ctx context.Context, out *screen, c *cassandra) (*shop, error) {
	s := new(shop)
	if err := s.open(ctx, out, c); err != nil {
		return nil, errors.Join(ended(ctx, err), s.close(ctx))
	}
	return s, nil
}

func (s *shop) open(ctx context.Context, out *screen, c *cassandra) (err error) {
	out.line("denorm: one order in three Cassandra tables, written by one call")
	c.confess(out)
	if s.session, err = session.Open(c.config(), session.Adjust(func(c *gocql.ClusterConfig) {
		c.Timeout = time.Minute             // dropping a keyspace takes seconds on a small machine
		c.Events.DisableSchemaEvents = true // or reading a schema that others change may take the fault
		s.dialer.Configure(c)
	})); err != nil {
		return err
	}
	var peers int
	if err := s.session.Reads().Query(`SELECT count(*) FROM system.peers`).WithContext(ctx).Scan(&peers); err != nil {
		return fmt.Errorf("count the nodes: %w", err)
	}
	if s.declared, err = schema.Declare(schema.Sets(orders.Orders),
		schema.Keyspaces(schema.Keyspace{Replication: schema.Replication(map[string]int{"": min(peers+1, 3)})})); err != nil {
		return err
	}
	keyspace := "demo_" + strings.ToLower(rand.Text()[:8]) // several demos may run at once
	out.say("cluster %v, nodes: %d. Creating keyspace %s and its tables ...", c, peers+1, keyspace)
	if s.own, err = s.create(ctx, keyspace); err != nil {
		return err
	}
	s.view = view{s.own.Reads(), keyspace}
	if s.w, err = writer.New(s.own); err != nil {
		return err
	}
	return s.w.Warm(ctx, orders.Orders)
}

// create makes a keyspace with the tables.
func (s *shop) create(ctx context.Context, keyspace string) (*session.Session, error) {
	s.keyspaces = append(s.keyspaces, keyspace) // first: what is interrupted may be there all the same
	in := s.session.With(session.Keyspaces(map[string]string{"": keyspace}))
	return in, schema.Ensure(ctx, in, s.declared)
}

// close drops the keyspaces, also when ctx has ended, and closes the sessions.
func (s *shop) close(ctx context.Context) error {
	if ctx.Err() != nil && len(s.keyspaces) > 0 {
		fmt.Fprintln(os.Stderr, "demo: dropping the keyspaces of this run; Ctrl-C again leaves them behind")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var errs []error
	for _, name := range s.keyspaces {
		if err := s.session.Reads().Query("DROP KEYSPACE IF EXISTS " + name).WithContext(ctx).Exec(); err != nil {
			errs = append(errs, fmt.Errorf("drop keyspace %s: %w", name, err))
		}
	}
	if s.session != nil {
		s.session.Close()
	}
	return errors.Join(errs...)
}
