package reading

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/writer"
)

// Place is a keyspace of a test, with what writes and reads there.
type Place struct {
	Keyspace string
	Admin    *gocql.Session // waits long, for changes of the schema
	Session  *gocql.Session // of the reader
	Writer   *writer.Writer
	Reader   *reader.Reader
}

// Open makes a keyspace with the tables of a schema. It is dropped when the test ends.
func Open(t *testing.T, replication int, schema ...string) *Place {
	t.Helper()
	p := &Place{Keyspace: cluster.Keyspace(t, replication)}
	configure := func(c *gocql.ClusterConfig) {
		writer.Configure(c, "")
		c.ConnectTimeout = 10 * time.Second
	}
	p.Admin = cluster.Session(t, p.Keyspace, func(c *gocql.ClusterConfig) { c.Timeout = time.Minute })
	p.Session = cluster.Session(t, p.Keyspace, configure)
	for _, statement := range schema {
		if err := p.Admin.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if p.Writer, err = writer.New(cluster.Session(t, p.Keyspace, configure), writer.Reads(p.Session), writer.Timeout(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	if p.Reader, err = reader.New(p.Session); err != nil {
		t.Fatal(err)
	}
	return p
}
