package writer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type ticket struct {
	TicketID gocql.UUID
	UserID   gocql.UUID
	Seat     string
}

var tickets = tables.Must(tables.New[ticket]("ticket",
	tables.Table{Name: "tickets_by_id", PartKey: []string{"ticket_id"}},
	tables.Table{Name: "tickets_by_user", PartKey: []string{"user_id"}, SortKey: []string{"ticket_id"}},
))

type slot struct {
	SlotID string
	Holder string
	Mark   gocql.UUID
}

var slots = tables.Must(tables.New[slot]("slot",
	tables.Table{Name: "slots", PartKey: []string{"slot_id"}},
	tables.Compare("holder"), tables.Mark("mark"),
))

type user struct {
	UserID  gocql.UUID
	Email   string
	City    string
	Name    string
	Version gocql.UUID
}

var users = tables.Must(tables.New[user]("user",
	tables.Table{Name: "users", PartKey: []string{"user_id"}},
	tables.Table{Name: "users_by_city", PartKey: []string{"city"}, SortKey: []string{"user_id"}},
	tables.Table{Name: "users_by_email", PartKey: []string{"email"}, Unique: true},
	tables.Versioned("version"),
))

// unavailable is an answer that says that the request was not carried out.
var unavailable = cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))

// service is a writer and a session on a cluster with the tables of tickets, slots and users.
type service struct {
	*cassandratest.Cluster
	w     *writer.Writer
	reads *gocql.Session
	both  *session.Session
}

func start(tb testing.TB, c *cassandratest.Cluster) *service {
	tb.Helper()
	create(c, tickets, slots, users)
	return (&service{Cluster: c}).client(tb)
}

// client is another process.
func (s *service) client(tb testing.TB, options ...writer.NewOption) *service {
	tb.Helper()
	both := connect(tb, s.Cluster)
	return &service{s.Cluster, openOn(tb, both, options...), both.Reads(), both}
}

// open gives a writer on the keyspace shop of c, and the session that it reads with.
func open(tb testing.TB, c *cassandratest.Cluster) (*writer.Writer, *gocql.Session) {
	tb.Helper()
	both := connect(tb, c)
	return openOn(tb, both), both.Reads()
}

// connect opens the sessions of a process.
func connect(tb testing.TB, c *cassandratest.Cluster, options ...session.Option) *session.Session {
	tb.Helper()
	one := func() *gocql.Session {
		config := session.Configure(c.Config(), "dc1")
		config.Keyspace = "shop"
		s, err := config.CreateSession()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(s.Close)
		return s
	}
	return testsession.New(tb, one(), one(), options...)
}

// openOn gives a writer of a process.
func openOn(tb testing.TB, s *session.Session, options ...writer.NewOption) *writer.Writer {
	tb.Helper()
	w, err := writer.New(s, append([]writer.NewOption{
		writer.Retry(retry.Policy{MaxAttempts: 2, AttemptTimeout: time.Second}),
		writer.WithClock(writer.NewClock(time.Now)), // other bubbles have other times
	}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// create makes the tables of sets.
func create(c *cassandratest.Cluster, sets ...tables.Described) {
	c.Create(schema.Must(schema.Declare(schema.Sets(sets...))).In(map[string]string{"": "shop"}).Statements()...)
}

// count is how many rows a query finds.
func (s *service) count(tb testing.TB, query string, values ...any) int {
	tb.Helper()
	var n int
	if err := s.reads.Query(query, values...).Consistency(gocql.Quorum).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// signUp makes a user, with its version.
func (s *service) signUp(tb testing.TB, u user) user {
	tb.Helper()
	res, err := s.w.Write(tb.Context(), "signUp", users.Insert(u))
	if err != nil {
		tb.Fatal(err)
	}
	u.Version = res.Version
	return u
}

func (s *service) rename(ctx context.Context, u user, name string) error {
	_, err := writer.Modify(ctx, s.w, "rename", users, user{UserID: u.UserID}, func(u user) (user, error) {
		u.Name = name
		return u, nil
	})
	return err
}

func failedWrite(tb testing.TB, err error) *writer.Error {
	tb.Helper()
	var failed *writer.Error
	if !errors.As(err, &failed) {
		tb.Fatalf("want a *writer.Error, got %v", err)
	}
	return failed
}

// delivered is the error as a queue delivers it, once more each time.
func delivered(tb testing.TB, failed *writer.Error) *writer.Error {
	tb.Helper()
	data, err := failed.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	out := new(writer.Error)
	if err := out.UnmarshalBinary(data); err != nil {
		tb.Fatal(err)
	}
	return out
}

// both runs a test with errors as Write gives them, and as they come out of storage.
func both(t *testing.T, test func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error)) {
	t.Helper()
	for name, again := range map[string]func(*writer.Error) *writer.Error{
		"in memory": func(e *writer.Error) *writer.Error { return e },
		"stored":    func(e *writer.Error) *writer.Error { return delivered(t, e) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) { test(t, c, again) })
		})
	}
}
