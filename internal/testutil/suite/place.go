package suite

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/go-reflectx"
	"github.com/scylladb/gocqlx/v2"

	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
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
	p.Reader = value(reader.New(s))(t)
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

// reading is the place with other options of its reader.
func (p *Place) reading(options ...reader.Option) *Place {
	own := *p
	own.Reader = p.Reader.With(options...)
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

// Faulty is a session whose writes have connections of their own, which fail as the dialer says. Its reads are those of
// the place.
func (p *Place) Faulty(t *testing.T, d *faulty.Dialer, options ...session.Option) *session.Session {
	t.Helper()
	return testsession.New(t, p.Connect(t, d.Configure), p.Session.Reads(), options...)
}

// lossy is a writer that loses replies as the dialer says.
func (p *Place) lossy(t *testing.T, options ...writer.NewOption) (*writer.Writer, *faulty.Dialer) {
	t.Helper()
	d := new(faulty.Dialer)
	return NewWriter(t, p.Faulty(t, d), append([]writer.NewOption{writer.Timeout(20 * time.Second)}, options...)...), d
}

// NewWriter is writer.New, of which an error ends the test.
func NewWriter(t *testing.T, s *session.Session, options ...writer.NewOption) *writer.Writer {
	t.Helper()
	return value(writer.New(s, options...))(t)
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

// Create makes the tables of sets.
func Create(t *testing.T, p *Place, sets ...tables.Described) {
	t.Helper()
	p.ChangeSchema(t, p.Keyspace, schemaOf(sets...).Statements()...)
}

// schemaOf is the tables of sets.
func schemaOf(sets ...tables.Described) *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(sets...)))
}

// Write carries out a write that must succeed.
func Write(t *testing.T, w *writer.Writer, op string, changes ...tables.Change) writer.Result {
	t.Helper()
	return value(w.Write(t.Context(), op, changes...))(t)
}

// must ends the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value is what a call gave, which must succeed.
func value[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// wrong reports what must not be.
func wrong(t *testing.T, is bool, format string, args ...any) {
	t.Helper()
	if is {
		t.Errorf(format, args...)
	}
}

// wantError reports an error that is not the one that is wanted, which may be nil, or that does not say what it should.
func wantError(t *testing.T, what string, err, want error, says ...string) {
	t.Helper()
	if !errors.Is(err, want) || slices.ContainsFunc(says, func(s string) bool {
		return !strings.Contains(err.Error(), s)
	}) {
		t.Errorf("%s: %v, want %v %q", what, err, want, says)
	}
}

// wantRows reports rows, or what was read of them, that are not those that are wanted.
func wantRows[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	wrong(t, !slices.Equal(got, want), "%s: %d\n%v, want %d\n%v", what, len(got), got, len(want), want)
}

// conflict is the row that there is, as the error of a write that has met another one says.
func conflict[T any](t *testing.T, what string, err error) T {
	t.Helper()
	now, ok := writer.Current[T](err)
	wrong(t, !errors.Is(err, writer.ErrConflict) || !ok, "%s: %v, with %+v, want ErrConflict with a row", what, err, now)
	return now
}

// errorOf is the error of a call.
func errorOf[T any](_ T, err error) error { return err }

// errorOfRead is that of a read of a page.
func errorOfRead[T any](_ T, _ reader.Token, err error) error { return err }

// wantInvalid makes a change that must be rejected before anything is sent.
func wantInvalid(t *testing.T, w *writer.Writer, what string, changes ...tables.Change) {
	t.Helper()
	wantError(t, what, errorOf(w.Write(t.Context(), "write", changes...)), writer.ErrInvalid)
}

// check wants the tables to be as sets declare them.
func (p *Place) check(t *testing.T, sets ...tables.Described) {
	t.Helper()
	must(t, schema.Validate(t.Context(), p.Session, schema.Sets(sets...)))
}

// exec executes a statement by hand.
func (p *Place) exec(t *testing.T, statement string, values ...any) {
	t.Helper()
	must(t, p.Session.Reads().Query(statement, values...).Exec())
}

// rowMapper finds the fields of rows, as gocqlx does by default.
var rowMapper = reflectx.NewMapperFunc("db", reflectx.CamelToSnakeASCII)

// rowsOf are the rows of a query of the driver, in fields that have the names of the columns.
func rowsOf[T any](q *gocql.Query) (rows []T, err error) {
	return rows, (&gocqlx.Queryx{Query: q, Mapper: rowMapper}).Select(&rows)
}

// cell is what a SELECT of one column of one row, such as count(*), gives at ALL.
func cell[T any](t *testing.T, p *Place, statement string, values ...any) (v T) {
	t.Helper()
	must(t, p.Session.Reads().Query(statement, values...).Consistency(gocql.All).Scan(&v))
	return v
}

// wantCount wants a SELECT count(*) to give a number at ALL.
func (p *Place) wantCount(t *testing.T, want int, statement string, values ...any) {
	t.Helper()
	got := cell[int](t, p, statement, values...)
	wrong(t, got != want, "%s %v: %d rows, want %d", statement, values, got, want)
}

// all are the rows of a read that must succeed.
func all[T any](t *testing.T, rows iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for row, err := range rows {
		must(t, err)
		out = append(out, row)
	}
	return out
}

// each is what f gives of each row.
func each[T, V any](rows []T, f func(T) V) (out []V) {
	for _, row := range rows {
		out = append(out, f(row))
	}
	return out
}

// Insert writes rows, several at a time.
func Insert[T any](t *testing.T, p *Place, set *tables.Set[T], rows []T) {
	t.Helper()
	const most = 16
	together(most, func(n int) {
		for i := n; i < len(rows); i += most {
			change := set.Insert(rows[i])
			wantError(t, "write", errorOf(p.Writer.Write(context.WithoutCancel(t.Context()), "insert", change)), nil)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
}

// together does something so many times at the same time.
func together(times int, do func(n int)) {
	var wg sync.WaitGroup
	for n := range times {
		wg.Go(func() { do(n) })
	}
	wg.Wait()
}

// List reads a query whole.
func List[T any](t *testing.T, p *Place, q reader.Query[T]) []T {
	t.Helper()
	rows, _, err := reader.List(t.Context(), p.Reader, "list", q)
	must(t, err)
	return rows
}

// Pieces reads a query so many rows at a time, continued by token.
func Pieces[T any](t *testing.T, p *Place, q reader.Query[T], size int) (rows []T, times int) {
	t.Helper()
	return pages(t, func(token reader.Token) ([]T, reader.Token, error) {
		return reader.List(t.Context(), p.Reader, "list", q.Limit(size).After(token))
	})
}

// pages reads page after page, until there is no token.
func pages[T any](t *testing.T, read func(reader.Token) ([]T, reader.Token, error)) (rows []T, times int) {
	t.Helper()
	for token, more := reader.Token(""), true; more; more = token != "" {
		page, next, err := read(token)
		must(t, err)
		rows, token, times = append(rows, page...), next, times+1
	}
	return rows, times
}
