package schema_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
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

// liar reaches nodes whose errors have another text.
type liar struct {
	gocql.Dialer
	tell func(text string) string
}

func (l liar) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := l.Dialer.DialContext(ctx, network, address)
	return &lyingConn{Conn: c, tell: l.tell}, err
}

type lyingConn struct {
	net.Conn
	tell func(text string) string
	rest []byte // of the frame that is read
}

func (c *lyingConn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		frame := make([]byte, 9)
		if _, err := io.ReadFull(c.Conn, frame); err != nil {
			return 0, err
		}
		body := make([]byte, binary.BigEndian.Uint32(frame[5:]))
		if _, err := io.ReadFull(c.Conn, body); err != nil {
			return 0, err
		}
		if frame[4] == 0 { // ERROR: a code, a text, and what follows
			end := 6 + int(binary.BigEndian.Uint16(body[4:]))
			text := c.tell(string(body[6:end]))
			body = append(append(binary.BigEndian.AppendUint16(body[:4:4], uint16(len(text))), text...), body[end:]...)
			binary.BigEndian.PutUint32(frame[5:], uint32(len(body)))
		}
		c.rest = slices.Concat(frame, body)
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
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
		config.Keyspace = "shop"
		config.Dialer = liar{config.Dialer, func(text string) string { return strings.ReplaceAll(text, "Cannot achieve", "Cannot\nachieve") }}
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

// Cassandra 6 says INVALID of a change that its metadata service did not confirm in time. It may be done, or be done
// later: Ensure looks, and sends it again; Apply looks, and does not say that it was rejected.
func TestChangeThatWasNotConfirmed(t *testing.T) {
	t.Parallel()
	const unconfirmed = "java.util.concurrent.ExecutionException: org.apache.cassandra.net.MessageDelivery$GivingUpException: Could not succeed " +
		"sending TCM_COMMIT_REQ to CandidateIterator{candidates=[/127.0.0.1:7000], checkLive=true}; policy Retry{remainingMs=0, attempts=3} exhausted attempts"
	const table = "CREATE TABLE shop.orders (id int PRIMARY KEY)"
	declared := schema.Must(schema.Declare(schema.CQL(table)))
	ensure := func(ctx context.Context, s *session.Session) error { return schema.Ensure(ctx, s, declared) }
	apply := func(ctx context.Context, s *session.Session) error {
		all, err := schema.Steps(ctx, s, schema.Source{File: "f", Text: table})
		return errors.Join(err, schema.Apply(ctx, s, all, func(schema.Step) {}))
	}
	failed := cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid))
	for _, test := range []struct {
		name  string
		text  string
		do    func(context.Context, *session.Session) error
		steps []cassandratest.Step
		want  string
	}{
		{"ensure, done", unconfirmed, ensure, []cassandratest.Step{cassandratest.Apply, failed}, ""},
		{"ensure, not done", unconfirmed, ensure, []cassandratest.Step{failed}, ""},
		{"ensure, at the service", "Could not perform commit after 7 attempts. Time remaining: 0ms", ensure, []cassandratest.Step{failed}, ""},
		{"ensure, rejected", "Unknown property 'x'", ensure, []cassandratest.Step{failed}, "Unknown property 'x'"},
		{"apply, done", unconfirmed, apply, []cassandratest.Step{cassandratest.Apply, failed}, ""},
		{"apply, not done", unconfirmed, apply, []cassandratest.Step{failed}, "it may be done: apply again: "},
		{"apply, rejected", "Unknown property 'x'", apply, []cassandratest.Step{failed}, "schema: f: line 1: Unknown property 'x'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
				config := c.Config()
				config.Dialer = liar{config.Dialer, func(text string) string { return strings.Replace(text, "INVALID", test.text, 1) }}
				s, err := session.Open(config)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				rule := c.When(cassandratest.Text("shop.orders ("), cassandratest.Nth(1)).Do(test.steps...)
				err = test.do(t.Context(), s)
				if rule.Handled() != 1 || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("%d answers, %v, want %q", rule.Handled(), err, test.want)
				}
			})
		})
	}
}
