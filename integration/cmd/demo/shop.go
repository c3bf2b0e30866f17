package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// shop is an order service: its keyspace, its sessions, and its writer.
type shop struct {
	cassandra *cassandra
	nodes     int
	keyspace  string
	keyspaces []string         // all that were created, to be dropped
	sessions  []*gocql.Session // all that were opened, to be closed
	admin     *gocql.Session   // creates and drops keyspaces
	reads     *gocql.Session
	view      view             // through reads
	session   *session.Session // of w
	w         *writer.Writer

	lossyWriter *writer.Writer // see lossy
	dialer      *faulty.Dialer
}

// openShop connects to the cluster and creates the tables.
func openShop(ctx context.Context, out *screen, c *cassandra) (*shop, error) {
	s := &shop{cassandra: c, keyspace: "demo_" + randomName()}
	if err := s.open(ctx, out); err != nil {
		return nil, errors.Join(ended(ctx, err), s.close(ctx))
	}
	return s, nil
}

// randomName lets several demos run at once, also alongside what a killed one has left behind.
func randomName() string {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	return hex.EncodeToString(random)
}

func (s *shop) open(ctx context.Context, out *screen) (err error) {
	out.line(out.styled("denorm: one order in three Cassandra tables, written by one call", bold))
	s.cassandra.confess(out)
	if s.admin, err = s.connect(ctx, "", patient); err != nil {
		return err
	}
	var peers int
	if err := s.admin.Query(`SELECT count(*) FROM system.peers`).WithContext(ctx).Scan(&peers); err != nil {
		return fmt.Errorf("count the nodes: %w", err)
	}
	s.nodes = peers + 1
	out.say("cluster %v, %d node(s); creating keyspace %s and its tables ...", s.cassandra, s.nodes, s.keyspace)

	// Two sessions: package session says why a writer reads with another one than it writes with.
	if s.reads, err = s.keyspaceWith(ctx, s.keyspace, orders.Schema.Statements()); err != nil {
		return err
	}
	s.view = newView(s.reads)
	writes, err := s.connect(ctx, s.keyspace)
	if err != nil {
		return err
	}
	s.session, s.w, err = s.writer(ctx, writes)
	return err
}

// writer makes a writer that writes with a session of its own, and checks that the live tables are as declared.
func (s *shop) writer(ctx context.Context, writes *gocql.Session) (*session.Session, *writer.Writer, error) {
	both, err := session.New(writes, s.reads)
	if err != nil {
		return nil, nil, err
	}
	w, err := writer.New(both)
	if err != nil {
		return nil, nil, err
	}
	return both, w, w.Check(ctx, orders.Orders)
}

// lossy is a writer of a session that loses replies on demand of the dialer. Sections share it.
func (s *shop) lossy(ctx context.Context) (*writer.Writer, *faulty.Dialer, error) {
	if s.lossyWriter != nil {
		return s.lossyWriter, s.dialer, nil
	}
	dialer := new(faulty.Dialer)
	lossy, err := s.connect(ctx, s.keyspace, func(config *gocql.ClusterConfig) {
		dialer.Configure(config)
		config.Events.DisableSchemaEvents = true // or reading a schema that others change may take the fault
	})
	if err != nil {
		return nil, nil, err
	}
	_, w, err := s.writer(ctx, lossy)
	if err != nil {
		return nil, nil, err
	}
	s.lossyWriter, s.dialer = w, dialer
	return w, dialer, nil
}

// connect opens a session as writers and readers need it. gocql knows no context here, so one that comes too late is closed
// when it comes.
func (s *shop) connect(ctx context.Context, keyspace string, changes ...func(*gocql.ClusterConfig)) (*gocql.Session, error) {
	config := session.Configure(s.cassandra.config(), "")
	config.Keyspace = keyspace
	config.Logger = log.New(io.Discard, "", 0) // what matters comes as an error
	for _, change := range changes {
		change(config)
	}
	type opened struct {
		session *gocql.Session
		err     error
	}
	ready := make(chan opened, 1)
	go func() {
		s, err := session.Connect(config)
		ready <- opened{s, err}
	}()
	select {
	case o := <-ready:
		if o.err != nil {
			return nil, fmt.Errorf("connect to %v: %w", s.cassandra, o.err)
		}
		s.sessions = append(s.sessions, o.session)
		return o.session, nil
	case <-ctx.Done():
		go func() {
			if o := <-ready; o.err == nil {
				o.session.Close()
			}
		}()
		return nil, fmt.Errorf("connect to %v: %w", s.cassandra, ctx.Err())
	}
}

// patient is for schema statements, which take seconds on a small machine.
func patient(config *gocql.ClusterConfig) { config.Timeout = time.Minute }

// keyspaceWith creates a keyspace with tables in it, and returns a session there.
func (s *shop) keyspaceWith(ctx context.Context, name string, schema []string) (*gocql.Session, error) {
	s.keyspaces = append(s.keyspaces, name) // first: what is interrupted may be there all the same
	create := fmt.Sprintf(`CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`,
		name, min(s.nodes, 3))
	if err := s.admin.Query(create).WithContext(ctx).Exec(); err != nil {
		return nil, fmt.Errorf("create keyspace %s: %w", name, err)
	}
	session, err := s.connect(ctx, name, patient)
	if err != nil {
		return nil, err
	}
	for _, statement := range schema {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return nil, fmt.Errorf("create tables in %s: %w", name, err)
		}
	}
	return session, nil
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
		if err := s.admin.Query("DROP KEYSPACE IF EXISTS " + name).WithContext(ctx).Exec(); err != nil {
			errs = append(errs, fmt.Errorf("drop keyspace %s: %w", name, err))
		}
	}
	for _, session := range s.sessions {
		session.Close()
	}
	return errors.Join(errs...)
}
