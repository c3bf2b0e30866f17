package reading

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Place is a keyspace of a test, with what writes and reads there.
type Place struct {
	Keyspace string
	Admin    *gocql.Session // waits long, for changes of the schema
	Session  *session.Session
	Writer   *writer.Writer
	Reader   *reader.Reader
}

// Open makes a keyspace with the tables of a schema. It is dropped when the test ends.
func Open(t *testing.T, replication int, schema ...string) *Place {
	t.Helper()
	p := &Place{Keyspace: cluster.Keyspace(t, replication)}
	p.Admin = cluster.Session(t, p.Keyspace, func(c *gocql.ClusterConfig) { c.Timeout = time.Minute })
	cluster.ChangeSchema(t, p.Keyspace, schema...)
	var err error
	if p.Session, err = session.New(p.connect(t), p.connect(t)); err != nil {
		t.Fatal(err)
	}
	if p.Writer, err = writer.New(p.Session, writer.Timeout(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	if p.Reader, err = reader.New(p.Session); err != nil {
		t.Fatal(err)
	}
	return p
}

// Map makes the tables of declared keyspaces those of others.
func (p *Place) Map(keyspaces map[string]string) {
	p.Session = p.Session.With(session.Keyspaces(keyspaces))
	p.Writer, p.Reader = p.Writer.With(writer.Session(p.Session)), p.Reader.With(reader.Session(p.Session))
}

// Client is a session whose writes have connections of their own, configured by change. Its reads are those of the place.
func (p *Place) Client(t *testing.T, change func(*gocql.ClusterConfig), options ...session.Option) *session.Session {
	t.Helper()
	s, err := session.New(p.connect(t, change), p.Session.Reads(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p *Place) connect(t *testing.T, changes ...func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	return cluster.Session(t, p.Keyspace, append([]func(*gocql.ClusterConfig){func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.ConnectTimeout = 10 * time.Second
	}}, changes...)...)
}
