package driverbugs

import (
	"context"
	"time"

	"github.com/gocql/gocql"
)

func openGocql17(o options) (session, error) {
	config := gocql.NewCluster("127.0.0.1")
	config.ProtoVersion, config.NumConns, config.Timeout, config.Dialer = protocol, 1, o.timeout, o.dialer
	config.WriteCoalesceWaitTime, config.ReconnectInterval = 0, 100*time.Millisecond
	config.Logger = quiet17{}
	if o.connected != nil {
		config.ConnectObserver = observer17(o.connected)
	}
	s, err := config.CreateSession()
	if err != nil {
		return session{}, err
	}
	return session{
		exec: func(ctx context.Context, statement string, values ...any) error {
			return s.Query(statement, values...).WithContext(ctx).Exec()
		},
		batch: func(ctx context.Context, statement string, values ...any) error {
			b := s.NewBatch(gocql.UnloggedBatch).WithContext(ctx)
			b.Query(statement, values...)
			return s.ExecuteBatch(b)
		},
		close:    s.Close,
		noAnswer: gocql.ErrTimeoutNoResponse,
	}, nil
}

type observer17 func()

func (o observer17) ObserveConnect(gocql.ObservedConnect) { o() }

type quiet17 struct{}

func (quiet17) Print(...any)          {}
func (quiet17) Printf(string, ...any) {}
func (quiet17) Println(...any)        {}
