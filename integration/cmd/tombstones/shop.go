package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// shop is a keyspace of the run's own, dropped when it ends.
type shop struct {
	keyspace string
	admin    *gocql.Session
	session  *gocql.Session
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

func connect(hosts []string, keyspace string) (*gocql.Session, error) {
	config := writer.Configure(gocql.NewCluster(hosts...), "")
	config.Keyspace = keyspace
	config.Timeout = 30 * time.Second
	return writer.Connect(config)
}

func (s *shop) prepare(ctx context.Context, hosts []string) error {
	create := fmt.Sprintf(`CREATE KEYSPACE %s WITH replication =
		{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`, s.keyspace, len(hosts))
	if err := s.admin.Query(create).WithContext(ctx).Exec(); err != nil {
		return err
	}
	session, err := connect(hosts, s.keyspace)
	if err != nil {
		return err
	}
	s.session = session
	for _, set := range sets {
		for _, statement := range set.schema() {
			if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
				return err
			}
		}
	}
	// The servers are driven to their limit: what matters is that all arrives.
	s.w, err = writer.New(session, writer.Concurrent(), writer.Timeout(2*time.Minute),
		writer.Retry(retry.Policy{MaxAttempts: 20, MaxElapsedTime: 2 * time.Minute, AttemptTimeout: 20 * time.Second}))
	return err
}

func (s *shop) close() error {
	if s.session != nil {
		s.session.Close()
	}
	err := s.admin.Query(`DROP KEYSPACE IF EXISTS ` + s.keyspace).Exec()
	s.admin.Close()
	if err != nil {
		return fmt.Errorf("drop keyspace: %w", err)
	}
	return nil
}
