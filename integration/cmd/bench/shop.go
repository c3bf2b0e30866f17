package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/session"
)

// shop is a keyspace of the run's own, dropped when it ends.
type shop struct {
	admin    *gocql.Session
	session  *session.Session // of all contenders
	keyspace string
}

func openShop(ctx context.Context, hosts []string) (*shop, error) {
	s := &shop{keyspace: fmt.Sprintf("bench_%d_%d", os.Getpid(), time.Now().Unix())}
	config := session.Configure(gocql.NewCluster(hosts...), "")
	config.Timeout = 30 * time.Second
	admin, err := session.Connect(config)
	if err != nil {
		return nil, err
	}
	s.admin = admin
	create := fmt.Sprintf(`CREATE KEYSPACE %s WITH replication =
		{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`, s.keyspace, len(hosts))
	if err := admin.Query(create).WithContext(ctx).Exec(); err != nil {
		s.close()
		return nil, err
	}
	config = gocql.NewCluster(hosts...)
	config.Keyspace = s.keyspace
	if s.session, err = session.Open(config); err != nil {
		s.close()
		return nil, err
	}
	for _, statement := range orders.Schema.Statements() {
		if err := s.session.Reads().Query(statement).WithContext(ctx).Exec(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *shop) close() {
	if s.session != nil {
		s.session.Close()
	}
	if err := s.admin.Query(`DROP KEYSPACE IF EXISTS ` + s.keyspace).Exec(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: drop keyspace:", err)
	}
	s.admin.Close()
}
