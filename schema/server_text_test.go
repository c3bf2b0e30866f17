package schema_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// liar reaches nodes whose errors have a line break in them.
type liar struct{ gocql.Dialer }

func (l liar) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := l.Dialer.DialContext(ctx, network, address)
	return lyingConn{c}, err
}

type lyingConn struct{ net.Conn }

func (c lyingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	copy(b, bytes.ReplaceAll(b[:n], []byte("Cannot achieve"), []byte("Cannot\nachieve")))
	return n, err
}

// What a server says makes no line of its own in a log.
func TestTextOfServerIsOneLine(t *testing.T) {
	t.Parallel()
	type bill struct {
		ID string
		At time.Time
	}
	set := tables.Must(tables.New[bill]("bill", tables.Table{Name: "bills", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")}))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
		config := c.Config()
		config.Keyspace, config.Dialer = "shop", liar{config.Dialer}
		s, err := session.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		r, err := rotation.New(s, "shop", set, "bills")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := r.Plan(t.Context(), time.Now(), rotation.Window{})
		if err != nil || len(plan.Create) == 0 {
			t.Fatal(plan, err)
		}
		for name, call := range map[string]func() error{
			"Ensure": func() error { return schema.Ensure(t.Context(), s, schema.Must(schema.Declare(schema.Sets(set)))) },
			"Apply":  func() error { return plan.Apply(t.Context()) },
		} {
			rule := c.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.One, 1, 0)))
			err := call()
			rule.End()
			if err == nil || !strings.Contains(err.Error(), `Cannot\nachieve`) {
				t.Errorf("%s: %q", name, err)
			}
		}
	})
}
