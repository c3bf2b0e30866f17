package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// shop is a keyspace of the run's own, dropped when it ends.
type shop struct {
	keyspace string
	admin    *session.Session
	session  *session.Session
	w        *writer.Writer
}

func openShop(ctx context.Context, hosts []string) (*shop, error) {
	s := &shop{keyspace: fmt.Sprintf("tombstones_%d_%d", os.Getpid(), time.Now().Unix())}
	admin, err := connect(hosts, "")
	if err != nil {
		return nil, err
	}
	s.admin = admin
	if err := s.prepare(ctx, hosts); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func connect(hosts []string, keyspace string) (*session.Session, error) {
	config := gocql.NewCluster(hosts...)
	config.Keyspace = keyspace
	return session.Open(config, session.Adjust(func(c *gocql.ClusterConfig) { c.Timeout = 30 * time.Second }))
}

func (s *shop) prepare(ctx context.Context, hosts []string) error {
	create := fmt.Sprintf(`CREATE KEYSPACE %s WITH replication =
		{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`, s.keyspace, len(hosts))
	if err := s.admin.Reads().Query(create).WithContext(ctx).Exec(); err != nil {
		return err
	}
	var err error
	if s.session, err = connect(hosts, s.keyspace); err != nil {
		return err
	}
	for _, set := range sets {
		for _, statement := range set.schema() {
			if err := s.session.Reads().Query(statement).WithContext(ctx).Exec(); err != nil {
				return err
			}
		}
	}
	// The servers are driven to their limit: what matters is that all arrives.
	s.w, err = writer.New(s.session, writer.Concurrent(), writer.Timeout(2*time.Minute),
		writer.Retry(retry.Policy{MaxAttempts: 20, MaxElapsedTime: 2 * time.Minute, AttemptTimeout: 20 * time.Second}))
	return err
}

func (s *shop) close() error {
	if s.session != nil {
		s.session.Close()
	}
	err := s.admin.Reads().Query(`DROP KEYSPACE IF EXISTS ` + s.keyspace).Exec()
	s.admin.Close()
	if err != nil {
		return fmt.Errorf("drop keyspace: %w", err)
	}
	return nil
}
