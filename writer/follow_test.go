package writer_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// Whoever writes an entity next brings its query tables to the state of its base row. So they are not said to be without a change that
// the base row has, or may have. Tables of other entities in the same write are.
func TestQueryTablesFollowTheBaseRow(t *testing.T) {
	t.Parallel()
	invalid := cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid))
	for name, test := range map[string]struct {
		fault     func(c *cassandratest.Cluster) *cassandratest.Rule
		alongside bool
		want      map[string]writer.Outcome
	}{
		"answer of the condition lost": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("users")).Do(cassandratest.Apply, cassandratest.Drop)
			}, false, map[string]writer.Outcome{"users": writer.Unknown, "users_by_city": writer.Unknown},
		},
		"answer lost, with another entity": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("users")).Do(cassandratest.Apply, cassandratest.Drop)
			}, true, map[string]writer.Outcome{
				"users": writer.Unknown, "users_by_city": writer.Unknown, "tickets_by_id": writer.NotApplied, "tickets_by_user": writer.NotApplied,
			},
		},
		"query table not reached": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("users_by_city")).Do(unavailable)
			}, false, map[string]writer.Outcome{"users": writer.Applied, "users_by_city": writer.Pending},
		},
		"answer of the query table lost": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("users_by_city")).Do(cassandratest.Drop)
			}, false, map[string]writer.Outcome{"users": writer.Applied, "users_by_city": writer.Pending},
		},
		"other entity not reached": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("tickets_by_id")).Do(invalid)
			}, true, map[string]writer.Outcome{
				"users": writer.Applied, "users_by_city": writer.Pending, "tickets_by_id": writer.NotApplied, "tickets_by_user": writer.NotApplied,
			},
		},
		"condition refused": {
			func(c *cassandratest.Cluster) *cassandratest.Rule {
				return c.When(cassandratest.Table("users")).Do(invalid)
			}, false, map[string]writer.Outcome{"users": writer.NotApplied, "users_by_city": writer.NotApplied},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				bob := user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"}
				changes := []tables.Change{users.Insert(bob)}
				if test.alongside {
					changes = append(changes, tickets.Insert(ticket{gocql.TimeUUID(), bob.UserID, "12A"}))
				}
				fault := test.fault(c)
				_, err := s.w.Write(t.Context(), "signUp", changes...)
				fault.End()
				failed := failedWrite(t, err)
				for _, e := range []*writer.Error{failed, delivered(t, failed)} {
					got := make(map[string]writer.Outcome)
					for _, r := range e.Tables {
						got[r.Table] = r.Outcome
					}
					if !maps.Equal(got, test.want) {
						t.Errorf("%v, want %v: %v", got, test.want, e)
					}
				}
				if failed.NotApplied() {
					return
				}
				if err := s.rename(t.Context(), bob, "bob"); err != nil { // by somebody else; nobody resumes
					t.Fatal(err)
				}
				if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'rome'"); n != 1 {
					t.Errorf("%d rows by city", n)
				}
				if _, err := s.w.Resume(t.Context(), failed); err != nil && !errors.Is(err, writer.ErrConflict) {
					t.Error(err)
				}
			})
		})
	}
}

// A write that takes a key from an owner who has given it up does not throw away what the owner's client has left to be done, be it
// resumed from storage, where the query tables are not known. It then ends with what to do, and completes later.
func TestStoredResumeKeepsWhatTheOwnerLeftUnfinished(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		// Bob moves to Oslo and gives k@x up. His client dies after the transaction.
		away := c.When(cassandratest.Table("users_by_city")).Do(cassandratest.Drop)
		moved := bob
		moved.City, moved.Email = "oslo", "k2@x"
		if _, err := s.w.Write(t.Context(), "move", users.Update(bob, moved)); err == nil {
			t.Fatal("not the premise")
		}
		away.End()
		rejects := c.When(cassandratest.Table("users_by_email")).Do(cassandratest.Fail(cassandratest.Overloaded))
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "bern", Name: "eve"}))
		failed := failedWrite(t, err)
		rejects.End()
		<-time.After(15 * time.Second) // ClaimGrace is over

		_, err = s.w.Resume(t.Context(), delivered(t, failed))
		if e := failedWrite(t, err); !e.Resumable() || e.NotApplied() || !strings.Contains(err.Error(), "users_by_email") ||
			!strings.Contains(err.Error(), "write or modify the entity") {
			t.Errorf("%v", err)
		}
		if err := s.rename(t.Context(), bob, "robert"); err != nil {
			t.Fatal(err)
		}
		if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'rome'"); n != 0 {
			t.Error("a ghost: Bob is still in Rome")
		}
		if _, err = s.w.Resume(t.Context(), delivered(t, failed)); err != nil {
			t.Errorf("after Bob was written again: %v", err)
		}
		// The new version that Bob has been given so that the key could be taken from him does not keep him from his next change.
		if err := s.rename(t.Context(), bob, "bob"); err != nil {
			t.Error(err)
		}
		for city, want := range map[string]int{"rome": 0, "oslo": 1, "bern": 1} {
			if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = ?", city); n != want {
				t.Errorf("%d in %s, want %d", n, city, want)
			}
		}
	})
}

// A write whose batch may not be sent, as the schema cannot be read, says so of each table that does not have it, also of the one with the condition.
func TestEachTableHasACause(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c).client(t)
		unread := c.When(cassandratest.Table("tables")).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.One, 1, 0)))
		u := user{UserID: gocql.MustRandomUUID(), Email: "a", City: "b", Name: "c"}
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(u), tickets.Insert(ticket{TicketID: gocql.MustRandomUUID(), UserID: u.UserID, Seat: "1"}))
		if unread.Handled() == 0 {
			t.Fatal("no request has met the rule")
		}
		e := failedWrite(t, err)
		if !e.NotApplied() || len(e.Tables) == 0 {
			t.Errorf("%v", err)
		}
		for _, r := range e.Tables {
			if r.Err == nil {
				t.Errorf("table %s is %v without a cause: %v", r.Table, r.Outcome, err)
			}
		}
		unread.End()
		if _, err := s.w.Resume(t.Context(), e); err != nil {
			t.Error(err)
		}
	})
}
