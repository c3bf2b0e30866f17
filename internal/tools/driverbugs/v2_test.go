package driverbugs

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

func openV2(o options) (session, error) {
	config := gocql.NewCluster("127.0.0.1")
	config.ProtoVersion, config.NumConns, config.Timeout, config.Dialer = protocol, 1, o.timeout, o.dialer
	config.WriteCoalesceWaitTime, config.ReconnectInterval = 0, 100*time.Millisecond
	if o.connected != nil {
		config.ConnectObserver = observerV2(o.connected)
	}
	s, err := config.CreateSession()
	if err != nil {
		return session{}, err
	}
	return session{
		exec: func(ctx context.Context, statement string, values ...any) error {
			return s.Query(statement, values...).ExecContext(ctx)
		},
		batch: func(ctx context.Context, statement string, values ...any) error {
			b := s.Batch(gocql.UnloggedBatch)
			b.Query(statement, values...)
			return b.ExecContext(ctx)
		},
		close:    s.Close,
		noAnswer: gocql.ErrTimeoutNoResponse,
	}, nil
}

type observerV2 func()

func (o observerV2) ObserveConnect(gocql.ObservedConnect) { o() }

// A session of v2 reads the schema by prepared statements while it is opened, and no context of the caller's bounds
// that: where these are answered UNPREPARED, CreateSession recurses without end. gocql 1.7 sends no prepared statement
// then, unless its policy is token-aware and the session has a keyspace.
func TestUnpreparedWhileOpening(t *testing.T) {
	t.Parallel()
	const enough = 200
	var executed atomic.Int32
	n := startNode(t, func(c *server, f frame) bool {
		if f.op != opExecute || !strings.Contains(f.statement, "system_schema.keyspaces") || executed.Add(1) > enough {
			return false
		}
		c.fail(f, unpreparedCode, join(short(len(f.id)), f.id))
		return true
	})
	s, err := openV2(options{dialer: &dialer{node: n}, timeout: 5 * time.Second})
	if err == nil {
		s.close()
	}
	if count := executed.Load(); count < enough {
		t.Fatalf("%d requests, %v: fixed in this driver version: remove the sentence on it in docs/why/driver.md", count, err)
	}
	t.Logf("CreateSession has sent the same request %d times, until it was answered", enough)
}
