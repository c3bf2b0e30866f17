package session_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
)

// cutDialer makes connections of which the first end after so many answers.
type cutDialer struct {
	gocql.Dialer
	answers int
	cut     chan struct{} // has one for each connection that ends
}

func (d *cutDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, address)
	select {
	case <-d.cut:
		if err == nil {
			c = &cutConn{c, d.answers}
		}
	default:
	}
	return c, err //nolint:wrapcheck // it stands for the other
}

type cutConn struct {
	net.Conn
	answers int
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.answers--; c.answers < 0 {
		return 0, io.EOF
	}
	return c.Conn.Read(p) //nolint:wrapcheck // it stands for the other
}

// A node that goes away while a session is opened on it makes Connect fail, or try another one. It must return: gocql
// by itself may wait for itself.
func TestConnectReturnsIfTheNodeGoesAway(t *testing.T) {
	t.Parallel()
	for answers := 1; answers <= 8; answers++ {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
				config := c.Config()
				config.Keyspace = "shop"
				d := &cutDialer{config.Dialer, answers, make(chan struct{}, 1)}
				d.cut <- struct{}{}
				config.Dialer = d
				done := make(chan error, 1)
				go func() {
					s, err := session.Connect(config)
					if err == nil {
						s.Close()
					}
					done <- err
				}()
				if err := <-done; err != nil { // if it waits for itself, the test ends with its time limit
					t.Log(err)
				}
			})
		})
	}
}
