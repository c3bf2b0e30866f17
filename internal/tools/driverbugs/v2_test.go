package driverbugs

import (
	"context"
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
