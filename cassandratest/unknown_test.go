package cassandratest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// What follows is how a service tests what it does when it cannot know whether a write was applied.

type ticket struct {
	TicketID gocql.UUID
	UserID   gocql.UUID
	Seat     string
}

var tickets = tables.Must(tables.New[ticket]("ticket",
	tables.Table{Name: "tickets_by_id", PartKey: []string{"ticket_id"}},
	tables.Table{Name: "tickets_by_user", PartKey: []string{"user_id"}, SortKey: []string{"ticket_id"}},
))

var boxOffice = schema.Must(schema.Declare(schema.Sets(tickets)))

// service sells tickets. What is not known to be sold is finished later.
type service struct {
	w    *writer.Writer
	open chan []byte // failed writes, a queue on disk in real life
}

// sell answers 201 if the ticket is sold, 503 if it surely is not, and 202 if it may be, or will be.
func (s *service) sell(ctx context.Context, t ticket) int {
	_, err := s.w.Write(ctx, "sellTicket", tickets.Insert(t))
	var failed *writer.Error
	switch {
	case err == nil:
		return http.StatusCreated
	case !errors.As(err, &failed) || failed.NotApplied():
		return http.StatusServiceUnavailable
	}
	stored, err := failed.MarshalBinary()
	if err != nil {
		return http.StatusInternalServerError
	}
	s.open <- stored
	return http.StatusAccepted
}

// finish brings what is in the queue to its end.
func (s *service) finish(ctx context.Context) error {
	var failed writer.Error
	if err := failed.UnmarshalBinary(<-s.open); err != nil {
		return err
	}
	_, err := s.w.Resume(ctx, &failed)
	return err
}

// start is a service on an in-process Cassandra.
func start(tb testing.TB, c *cassandratest.Cluster) (*service, *gocql.Session) {
	tb.Helper()
	c.Create(boxOffice.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	w, err := writer.New(s, writer.Retry(retry.Policy{MaxAttempts: 2, AttemptTimeout: time.Second}),
		writer.WithClock(writer.NewClock(time.Now))) // each bubble has a time of its own
	if err != nil {
		tb.Fatal(err)
	}
	return &service{w: w, open: make(chan []byte, 1)}, s.Reads()
}

func TestServiceSaysAcceptedWhenItCannotKnow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps []cassandratest.Step
		want  int
		there int // rows by user, when the answer is given
	}{
		"all is well":                 {nil, http.StatusCreated, 1},
		"applied, the answer is lost": {[]cassandratest.Step{cassandratest.Apply, cassandratest.Drop}, http.StatusAccepted, 1},
		"the request is lost":         {[]cassandratest.Step{cassandratest.Drop}, http.StatusAccepted, 0},
		"too few replicas":            {[]cassandratest.Step{cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))}, http.StatusAccepted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, session := start(t, c)
				byUser := c.When(cassandratest.Text("INSERT INTO shop.tickets_by_user")).Do(test.steps...)
				seat := ticket{gocql.TimeUUID(), gocql.MustRandomUUID(), "12A"}
				if got := s.sell(t.Context(), seat); got != test.want {
					t.Errorf("answered %d, want %d", got, test.want)
				}
				if byUser.Handled() == 0 {
					t.Fatal("no write by user has met the rule")
				}
				if n := count(t, session, seat); n != test.there {
					t.Errorf("%d rows by user, want %d", n, test.there)
				}
				byUser.End() // the network works again
				if test.want == http.StatusAccepted {
					if err := s.finish(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if n := count(t, session, seat); n != 1 {
					t.Errorf("%d rows by user in the end", n)
				}
			})
		})
	}
}

func count(t *testing.T, session *gocql.Session, seat ticket) (n int) {
	t.Helper()
	if err := session.Query(`SELECT count(*) FROM tickets_by_user WHERE user_id = ?`, seat.UserID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A unit test with a lost answer, from three nodes and their tables to the Resume: the log says how long one takes.
func TestLostAnswer(t *testing.T) {
	const tests = 20
	began := time.Now()
	for range tests {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			s, session := start(t, c)
			lost := c.When().Do(cassandratest.Apply, cassandratest.Drop) // whatever the writer sends
			seat := ticket{gocql.TimeUUID(), gocql.MustRandomUUID(), "12A"}
			if got := s.sell(t.Context(), seat); got != http.StatusAccepted {
				t.Errorf("answered %d", got)
			}
			if lost.Handled() == 0 {
				t.Fatal("no answer was lost")
			}
			lost.End()
			if err := s.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := count(t, session, seat); n != 1 {
				t.Errorf("%d rows by user in the end", n)
			}
		})
	}
	t.Logf("%v a test", time.Since(began)/tests)
}

// What is finished too late is rejected, as its deletes may be forgotten by then. Half of the default gc_grace_seconds
// is five days.
func TestTooLate(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _ := start(t, c)
		c.Create(`ALTER TABLE shop.tickets_by_user WITH gc_grace_seconds = 120`)
		lost := c.When(cassandratest.Table("tickets_by_user")).Do(cassandratest.Drop)
		if got := s.sell(t.Context(), ticket{gocql.TimeUUID(), gocql.MustRandomUUID(), "12A"}); got != http.StatusAccepted {
			t.Fatalf("answered %d", got)
		}
		lost.End()
		<-time.After(time.Minute)
		if err := s.finish(t.Context()); !errors.Is(err, writer.ErrExpired) {
			t.Errorf("finished too late: %v", err)
		}
	})
}

// How long it takes to start three nodes, with their tables, and to close them.
func BenchmarkStart(b *testing.B) {
	statements := boxOffice.In(map[string]string{"": "shop"}).Statements()
	for b.Loop() {
		c := cassandratest.New(3)
		c.Create(statements...)
		c.Close()
	}
}

// How long it takes to start three nodes and to have a session with them.
func BenchmarkSession(b *testing.B) {
	for b.Loop() {
		c := cassandratest.New(3)
		session, err := session.Configure(c.Config(), "dc1").CreateSession()
		if err != nil {
			b.Fatal(err)
		}
		session.Close()
		c.Close()
	}
}

// How long an INSERT takes through gocql, at three replicas.
func BenchmarkInsert(b *testing.B) {
	c := cassandratest.New(3)
	defer c.Close()
	c.Create(boxOffice.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.WriteCoalesceWaitTime = 0 // gocql waits 200 µs for more to send
	session, err := config.CreateSession()
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	for b.Loop() {
		err := session.Query(`INSERT INTO shop.tickets_by_id (ticket_id, user_id, seat) VALUES (?, ?, ?)`,
			gocql.TimeUUID(), gocql.TimeUUID(), "12A").Exec()
		if err != nil {
			b.Fatal(err)
		}
	}
}
