package suite

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Cassandra is what the suite runs on, and what each does.
type Cassandra struct {
	// MakeKeyspace gives a keyspace of the test's own, with what the statements create.
	MakeKeyspace func(tb testing.TB, replication int, statements ...string) string
	// ChangeSchema returns when every node has applied the statements.
	ChangeSchema func(tb testing.TB, keyspace string, statements ...string)
	// Dial opens a session that is closed when the test ends.
	Dial func(tb testing.TB, keyspace string, changes ...Change) *gocql.Session
	// Real says that it is Cassandra itself, which can trace requests and rename fields of types.
	Real bool
}

// Change is one of the configuration of a session before it is opened.
type Change = func(*gocql.ClusterConfig)

// Place is a keyspace of a test, with what writes and reads there.
type Place struct {
	Cassandra
	Keyspace string
	Session  *session.Session
	Writer   *writer.Writer
	Reader   *reader.Reader
}

// Open makes a keyspace with tables.
func (c Cassandra) Open(t *testing.T, replication int, statements ...string) *Place {
	t.Helper()
	p := &Place{Cassandra: c, Keyspace: c.MakeKeyspace(t, replication, statements...)}
	p.use(t, testsession.New(t, p.Connect(t), p.Connect(t)))
	return p
}

func (p *Place) use(t *testing.T, s *session.Session) {
	t.Helper()
	p.Session = s
	options := []writer.NewOption{writer.Timeout(30 * time.Second)}
	if p.Real { // the machine may be busy
		options = append(options, writer.Retry(retry.Policy{MaxAttempts: 12, MaxElapsedTime: 28 * time.Second}))
	}
	p.Writer = NewWriter(t, s, options...)
	var err error
	p.Reader, err = reader.New(s)
	must(t, err)
}

// mapped is the place for tables that are declared in a keyspace of a name.
func (p *Place) mapped(name string) *Place {
	own := *p
	own.Map(map[string]string{name: p.Keyspace})
	return &own
}

// Map makes the tables of declared keyspaces those of others.
func (p *Place) Map(keyspaces map[string]string) {
	p.Session = p.Session.With(session.Keyspaces(keyspaces))
	p.Writer, p.Reader = p.Writer.With(writer.Session(p.Session)), p.Reader.With(reader.Session(p.Session))
}

// paged is the place with pages of so many rows.
func (p *Place) paged(size int) *Place {
	own := *p
	own.Reader = p.Reader.With(reader.PageSize(size))
	return &own
}

// Connect opens a session of the driver in the place.
func (p *Place) Connect(t *testing.T, changes ...Change) *gocql.Session {
	t.Helper()
	return p.Dial(t, p.Keyspace, append([]Change{configured}, changes...)...)
}

func configured(c *gocql.ClusterConfig) {
	session.Configure(c, "")
	c.ConnectTimeout, c.WriteTimeout = 10*time.Second, 10*time.Second
}

// patient is for sessions that change the schema.
func patient(c *gocql.ClusterConfig) { c.Timeout = time.Minute }

// Faulty is a session whose writes have connections of their own, which fail as the dialer says. Its reads are those of the place.
func (p *Place) Faulty(t *testing.T, d *faulty.Dialer, options ...session.Option) *session.Session {
	t.Helper()
	return testsession.New(t, p.Connect(t, d.Configure), p.Session.Reads(), options...)
}

// NewWriter is writer.New, of which an error ends the test.
func NewWriter(t *testing.T, s *session.Session, options ...writer.NewOption) *writer.Writer {
	t.Helper()
	w, err := writer.New(s, options...)
	must(t, err)
	return w
}

// open makes a keyspace with the tables of a schema, and more.
func (c Cassandra) open(t *testing.T, declared *schema.Schema, more ...string) *Place {
	t.Helper()
	return c.Open(t, 3, append(declared.Statements(), more...)...)
}

// openIn makes one for the tables that a schema declares in a keyspace of a name.
func (c Cassandra) openIn(t *testing.T, name string, declared *schema.Schema) *Place {
	t.Helper()
	return c.open(t, declared.In(map[string]string{name: ""})).mapped(name)
}
