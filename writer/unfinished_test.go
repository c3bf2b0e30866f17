package writer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// Whoever writes an entity next brings its query tables to the state of its base row. So they are not said to be
// without a change that the base row has, or may have. Tables of other entities in the same write are.
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
				"users": writer.Unknown, "users_by_city": writer.Unknown, "tickets_by_id": writer.NotApplied,
				"tickets_by_user": writer.NotApplied,
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
				"users": writer.Applied, "users_by_city": writer.Pending, "tickets_by_id": writer.NotApplied,
				"tickets_by_user": writer.NotApplied,
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

// A write that takes a key from an owner who has given it up does not throw away what the owner's client has left to be
// done, be it resumed from storage. With Resumes, which names all tables, it finishes that. Without, it ends with what
// to do, and completes later.
func TestStoredResumeKeepsWhatTheOwnerLeftUnfinished(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		t.Run(fmt.Sprintf("Resumes %t", known), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) { ownerLeftUnfinished(t, c, known) })
		})
	}
}

func ownerLeftUnfinished(t *testing.T, c *cassandratest.Cluster, known bool) {
	t.Helper()
	s := start(t, c)
	worker := s.w
	if known {
		worker = s.client(t, writer.Resumes(users)).w
	}
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
	_, err := s.w.Write(t.Context(), "signUp",
		users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "bern", Name: "eve"}))
	failed := failedWrite(t, err)
	rejects.End()
	<-time.After(15 * time.Second) // ClaimGrace is over

	_, err = worker.Resume(t.Context(), delivered(t, failed))
	if known {
		if err != nil || s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'rome'") != 0 {
			t.Errorf("Bob may still be in Rome: %v", err)
		}
	} else if e := failedWrite(t, err); !e.Resumable() || e.NotApplied() || !strings.Contains(err.Error(), "users_by_email") ||
		!strings.Contains(err.Error(), "resume with a writer that has the option Resumes") {
		t.Errorf("%v", err)
	}
	if err := s.rename(t.Context(), bob, "robert"); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'rome'"); n != 0 {
		t.Error("a ghost: Bob is still in Rome")
	}
	if _, err = worker.Resume(t.Context(), delivered(t, failed)); err != nil {
		t.Errorf("after Bob was written again: %v", err)
	}
	// The new version that Bob has been given so that the key could be taken from him does not keep him from his next
	// change.
	if err := s.rename(t.Context(), bob, "bob"); err != nil {
		t.Error(err)
	}
	for city, want := range map[string]int{"rome": 0, "oslo": 1, "bern": 1} {
		if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = ?", city); n != want {
			t.Errorf("%d in %s, want %d", n, city, want)
		}
	}
}

// A change that was not applied is resumed from storage although the one before it was left unfinished, be it by its
// own client, which ended before the base row said that all tables have it.
func TestStoredResumeFinishesTheChangeBefore(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"not said to be done": "users", "in no query table": "users_by_city"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				left := c.When(cassandratest.Table(before), cassandratest.Where(func(r cassandratest.Request) bool {
					return !strings.Contains(r.Statements[0].Text, " IF ")
				})).Do(cassandratest.Drop)
				bob := user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"}
				_, _ = s.w.Write(t.Context(), "signUp", users.Insert(bob))
				<-time.After(time.Minute) // the end of the insert is given up
				left.End()
				if err := s.reads.Query("SELECT version FROM users WHERE user_id = ?", bob.UserID).Scan(&bob.Version); err != nil {
					t.Fatal(err)
				}
				lost := c.When(cassandratest.Table("users")).Do(cassandratest.Drop)
				moved := bob
				moved.City = "oslo"
				_, err := s.w.Write(t.Context(), "move", users.Update(bob, moved))
				lost.End()
				failed := failedWrite(t, err)
				worker := s.client(t, writer.Resumes(users))
				if _, err := worker.w.Resume(t.Context(), delivered(t, failed)); err != nil {
					t.Error(err)
				}
				for city, want := range map[string]int{"rome": 0, "oslo": 1} {
					if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = ?", city); n != want {
						t.Errorf("%d in %s, want %d", n, city, want)
					}
				}
			})
		})
	}
}

// A write whose batch may not be sent, as the schema cannot be read, says so of each table that does not have it, also
// of the one with the condition.
func TestEachTableHasACause(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c).client(t)
		unread := c.When(cassandratest.Table("tables")).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.One, 1, 0)))
		u := user{UserID: gocql.MustRandomUUID(), Email: "a", City: "b", Name: "c"}
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(u),
			tickets.Insert(ticket{TicketID: gocql.MustRandomUUID(), UserID: u.UserID, Seat: "1"}))
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

type event struct {
	Day     string
	EventID gocql.UUID
	Kind    string
}

// A client that dies after the condition leaves the row of the condition alone with the write. The next write of the
// entity finishes its query tables, and no other entity; the same write again with At writes all of the rest.
func TestRestOfAWriteWithACondition(t *testing.T) {
	t.Parallel()
	set := patronSet()
	events := tables.Must(tables.New[event]("event", tables.Table{
		Name: "events", PartKey: []string{"day"},
		SortKey: []string{"event_id"},
	}))
	for name, want := range map[string]int{"next write": 0, "same write": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set, events)
				first, s := open(t, c)
				second, _ := open(t, c)
				rows := func(table string) (n int) {
					if err := s.Query("SELECT count(*) FROM " + table).Scan(&n); err != nil {
						t.Fatal(err)
					}
					return n
				}
				p, at := newPatron(), writer.At(time.Now().UnixMicro())
				changes := []tables.Change{set.Insert(p), events.Insert(event{"2026-11-26", gocql.UUID{1}, "signed up"})}
				died := c.When(cassandratest.Table("events")).Do(cassandratest.Drop)
				if _, err := first.With(at).Write(t.Context(), "signUp", changes...); err == nil || failedWrite(t, err).
					NotApplied() {
					t.Fatalf("the rest was to be lost: %v", err)
				}
				died.End()
				if rows("patrons") != 1 || rows("patrons_by_city") != 0 || rows("events") != 0 {
					t.Fatal("the row of the condition is not alone with the write")
				}
				var err error
				if want == 1 {
					_, err = second.With(at).Write(t.Context(), "signUp", changes...)
				} else {
					_, err = writer.Modify(t.Context(), second, "tag", set, p, func(p patron) (patron, error) {
						p.Tags = nil
						return p, nil
					})
				}
				if err != nil || rows("patrons_by_city") != 1 || rows("events") != want {
					t.Errorf("%v: %d rows in the query table, %d events, want %d", err, rows("patrons_by_city"), rows("events"), want)
				}
			})
		})
	}
}

// A write that a table refuses for good is resumed by nobody, in whatever order the tables answer, and finished by
// Resume once the cause is gone. Other tables may be resumed meanwhile.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	refusal := cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized))
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		for _, refused := range []string{"users", "users_by_city"} {
			row := user{UserID: gocql.MustRandomUUID(), Email: refused + "@x", City: "oslo", Name: "a"}
			refusing := c.When(cassandratest.Table(refused)).Do(refusal)
			_, err := s.w.Write(t.Context(), "signUp", users.Insert(row))
			failed := again(failedWrite(t, err))
			for range 2 {
				if !errors.Is(failed, writer.ErrRefused) || failed.Resumable() || writer.OutcomeOf(err) == writer.Applied {
					t.Errorf("%s: resumable %v: %v", refused, failed.Resumable(), failed)
				}
				_, err = s.w.Resume(t.Context(), failed)
				failed = again(failedWrite(t, err))
			}
			refusing.End()
			if _, err := s.w.Resume(t.Context(), failed); err != nil {
				t.Errorf("%s, the permission is there: %v", refused, err)
			}
		}
	})
}

// As long as another table may still take it, the write is to be resumed.
func TestRefusedBesideUnavailable(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		refusing := c.When(cassandratest.Table("tickets_by_id")).
			Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		away := c.When(cassandratest.Table("tickets_by_user")).Do(unavailable)
		_, err := s.w.With(writer.Concurrent()).Write(t.Context(), "book",
			tickets.Insert(ticket{TicketID: gocql.MustRandomUUID(), UserID: gocql.MustRandomUUID(), Seat: "1"}))
		failed := again(failedWrite(t, err))
		if !errors.Is(failed, writer.ErrRefused) || !failed.Resumable() {
			t.Errorf("resumable %v: %v", failed.Resumable(), failed)
		}
		away.End()
		_, err = s.w.Resume(t.Context(), failed)
		if failed = failedWrite(t, err); !errors.Is(failed, writer.ErrRefused) || failed.Resumable() {
			t.Errorf("resumable %v: %v", failed.Resumable(), failed)
		}
		refusing.End()
	})
}

// player is a member of a club or of none, and has a row by club in the keyspace of clubs.
type player struct {
	PlayerID gocql.UUID
	Name     string
	Club     *string
	Version  gocql.UUID
}

var players = tables.Must(tables.New[player]("player",
	tables.Table{Name: "players", PartKey: []string{"player_id"}},
	tables.Table{Name: "players_by_club", Keyspace: "clubs", PartKey: []string{"club"}, SortKey: []string{"player_id"}},
	tables.Versioned("version"),
))

// A change of a set with conditions brings the query tables what other clients have left, also those in which its own
// rows have no place. So with StrictKeyspaces all tables of the set have to be in the map, and no row goes to the
// session's keyspace, which may be another tenant's.
func TestStrictKeyspacesOfAllTables(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		for _, keyspace := range []string{"shop", "tenant"} {
			made := schema.Must(schema.Declare(schema.Sets(players))).In(map[string]string{"": keyspace, "clubs": keyspace}).
				Statements()
			c.Create(slices.DeleteFunc(made, func(text string) bool {
				return keyspace == "shop" && !strings.Contains(text, "TABLE shop.")
			})...)
		}
		mapped := map[string]string{"": "tenant", "clubs": "tenant"}
		strict := connect(t, c, session.StrictKeyspaces())
		strictly := openOn(t, strict)
		in := func(mapped map[string]string) *writer.Writer {
			return strictly.With(writer.Session(strict.With(session.Keyspaces(mapped))))
		}
		whole := in(mapped)
		club, none := "chess", player{PlayerID: gocql.MustRandomUUID(), Name: "a"}
		res, err := whole.Write(t.Context(), "come", players.Insert(none))
		if err != nil {
			t.Fatal(err)
		}
		none.Version = res.Version
		chess, renamed := none, none
		chess.Club, renamed.Name = &club, "b"
		away := c.When(cassandratest.Table("players_by_club")).Do(unavailable)
		_, err = whole.Write(t.Context(), "join", players.Update(none, chess)) // and its client dies
		away.End()
		joined := failedWrite(t, err)
		for _, missing := range slices.Sorted(maps.Keys(mapped)) {
			misspelt := maps.Clone(mapped)
			delete(misspelt, missing)
			w := in(misspelt)
			for name, change := range map[string]tables.Change{
				"insert": players.Insert(player{PlayerID: gocql.MustRandomUUID(), Name: "c"}),
				"update": players.Update(none, renamed), "delete": players.Delete(none),
			} {
				if _, err := w.Write(t.Context(), name, change); !errors.Is(err, writer.ErrInvalid) ||
					!strings.Contains(err.Error(), "is not in the map of session.Keyspaces") {
					t.Errorf("%s without keyspace %q: %v", name, missing, err)
				}
			}
		}
		if _, err := in(map[string]string{"": "tenant"}).Resume(t.Context(), again(joined)); err != nil {
			t.Error("resumed:", err) // to the keyspaces that the error has
		}
		if here, there := s.count(t, "SELECT count(*) FROM shop.players_by_club"),
			s.count(t, "SELECT count(*) FROM tenant.players_by_club"); here != 0 || there != 1 {
			t.Errorf("%d rows in the keyspace of the session, %d in the tenant's", here, there)
		}
	})
}

// Servers whose clocks are far ahead write at their times. Nothing that is sent depends on them: each change works,
// then and afterwards.
func TestServerClocksFarAhead(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		skew := func(d time.Duration) {
			for n := range 3 {
				c.Node(n + 1).Skew(d)
			}
		}
		skew(50 * time.Minute)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		if err := s.rename(t.Context(), bob, "robert"); err != nil {
			t.Errorf("less than an hour ahead: %v", err)
		}
		skew(2 * time.Hour)
		eve := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "e@x", City: "bern", Name: "eve"})
		moved := eve
		moved.City = "oslo"
		if _, err := s.w.Write(t.Context(), "move", users.Update(eve, moved)); err != nil {
			t.Errorf("hours ahead: %v", err)
		}
		skew(0)
		if err := s.rename(t.Context(), eve, "adam"); err != nil {
			t.Errorf("when the clocks are right: %v", err)
		}
		for city, want := range map[string]int{"bern": 0, "oslo": 1} {
			if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = ?", city); n != want {
				t.Errorf("%d in %s, want %d", n, city, want)
			}
		}
	})
}

// Whoever gets no answer, and resumes, is told who won: by the row, as long as it still has the version that this
// change followed.
func TestResumeSaysWhoWon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lost   []cassandratest.Step
		others int // changes of another writer before the resume; negative: of this one
		want   writer.Outcome
	}{
		"applied, and changed since": {
			[]cassandratest.Step{cassandratest.Apply, cassandratest.Drop},
			40,
			writer.Applied,
		},
		"not applied":                             {[]cassandratest.Step{cassandratest.Drop}, 0, writer.Applied}, // by Resume
		"not applied, and another was":            {[]cassandratest.Step{cassandratest.Drop}, 1, writer.Conflict},
		"not applied, and others were":            {[]cassandratest.Step{cassandratest.Drop}, 40, writer.Conflict},
		"not applied, and this writer changed it": {[]cassandratest.Step{cassandratest.Drop}, -15, writer.Conflict},
		"not applied, and too often to tell":      {[]cassandratest.Step{cassandratest.Drop}, -16, writer.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				by := s.client(t) // made right after: a number of its own
				bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
				if err := s.w.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				rule := c.When(cassandratest.Table("users")).Do(test.lost...)
				moved := bob
				moved.City = "oslo"
				_, err := s.w.Write(t.Context(), "move", users.Update(bob, moved))
				rule.End()
				failed := failedWrite(t, err)
				if test.others < 0 {
					by, test.others = s, -test.others
				}
				for n := range test.others {
					if err := by.rename(t.Context(), bob, fmt.Sprint("bob", n)); err != nil {
						t.Fatal(err)
					}
				}
				_, err = s.w.Resume(t.Context(), delivered(t, failed))
				if got := writer.OutcomeOf(err); got != test.want || got == writer.Conflict && !failedWrite(t, err).NotApplied() {
					t.Errorf("%v: %v", got, err)
				}
				if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'oslo'"); n != map[bool]int{
					true: 1,
				}[test.want == writer.Applied] {
					t.Errorf("%d rows in the new city", n)
				}
			})
		})
	}
}

// Calls of Modify by one writer do not keep each other from ending: each reads the row once, and its transaction is the
// only one.
func TestModifiesOfOneProcessTakeTurns(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: ""})
		var wait sync.WaitGroup
		for range 40 {
			wait.Go(func() {
				if _, err := writer.Modify(t.Context(), s.w.With(), "add", users, bob, func(u user) (user, error) {
					u.Name += "x"
					return u, nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if row, err := writer.Load(t.Context(), s.w, "load", users, bob); err != nil || len(row.Name) != 40 {
			t.Errorf("%q, %v", row.Name, err)
		}
		if n := len(c.Journal(cassandratest.Execute, cassandratest.Table("users"), cassandratest.Text("IF "))); n != 41 {
			t.Errorf("%d transactions for 41 changes", n)
		}
	})
}

// A call waits for its turn until it ends, and then nothing of it was sent.
func TestModifyWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		_, err := writer.Modify(t.Context(), s.w, "slow", users, bob, func(u user) (user, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := s.rename(ctx, bob, "robert")
			if !failedWrite(t, err).NotApplied() || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			return u, nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := s.rename(t.Context(), bob, "robert"); err != nil {
			t.Errorf("when the turn is over: %v", err)
		}
	})
}

// The column done of a row can be of a later time than its version: a base row that was restored, put back or deleted
// by hand, or a clock that was far ahead. What it then says never becomes right, and the entity is written all the
// same.
func TestDoneAheadOfTheVersion(t *testing.T) {
	t.Parallel()
	const restore = "INSERT INTO users (user_id, email, city, name, version, done) VALUES (?, ?, ?, ?, ?, ?)"
	skewed := func(t *testing.T, s *service, d time.Duration) *service {
		t.Helper()
		return s.client(t, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(d) })))
	}
	exec := func(t *testing.T, s *service, text string, args ...any) {
		t.Helper()
		if err := s.both.Writes().Query(text, args...).Consistency(gocql.Quorum).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(*testing.T, *service, user){
		"restored, then changed by a clock behind": func(t *testing.T, s *service, bob user) {
			t.Helper()
			exec(t, s, "TRUNCATE users")
			exec(t, s, restore, bob.UserID, bob.Email, bob.City, bob.Name, bob.Version, bob.Version)
			if err := skewed(t, s, -2*time.Second).rename(t.Context(), bob, "robert"); err != nil {
				t.Fatal(err)
			}
		},
		"an older row put back": func(t *testing.T, s *service, bob user) {
			t.Helper()
			if err := errors.Join(s.rename(t.Context(), bob, "robert"), s.w.Wait(t.Context())); err != nil {
				t.Fatal(err)
			}
			exec(t, s, "INSERT INTO users (user_id, name, version) VALUES (?, ?, ?)", bob.UserID, bob.Name, bob.Version)
		},
		"deleted by hand, inserted by a clock behind": func(t *testing.T, s *service, bob user) {
			t.Helper()
			exec(t, s, "DELETE FROM users WHERE user_id = ?", bob.UserID)
			bob.Version = gocql.UUID{}
			skewed(t, s, -2*time.Second).signUp(t, bob)
		},
		"deleted by a clock ahead": func(t *testing.T, s *service, bob user) {
			t.Helper()
			wrong := skewed(t, s, 30*time.Hour)
			if _, err := wrong.w.Write(t.Context(), "leave", users.Delete(bob)); err != nil {
				t.Fatal(err)
			}
			<-time.After(25 * time.Hour)
			bob.Version = gocql.UUID{}
			s.signUp(t, bob)
		},
		"restored, then a change of before resumed": func(t *testing.T, s *service, bob user) {
			t.Helper()
			away := s.When(cassandratest.Table("users_by_city")).Do(unavailable)
			named := bob
			named.Name = "robert"
			_, err := s.w.Write(t.Context(), "name", users.Update(bob, named))
			away.End()
			failed := failedWrite(t, err)
			exec(t, s, "TRUNCATE users")
			exec(t, s, restore+" USING TIMESTAMP ?", bob.UserID, bob.Email, bob.City, bob.Name, bob.Version, bob.Version,
				bob.Version.Time().UnixMicro())
			if _, err := s.w.Resume(t.Context(), delivered(t, failed)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
				if err := s.w.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				spoil(t, s, bob)
				<-time.After(time.Hour)
				for _, name := range []string{"one", "two"} {
					if err := s.rename(t.Context(), bob, name); err != nil {
						t.Error(err)
					}
				}
				// Under the deletes of a clock that far ahead there are no rows yet.
				if rows := s.texts(t, "SELECT city, name FROM users_by_city"); name != "deleted by a clock ahead" &&
					!slices.Equal(rows, []string{"rome two"}) {
					t.Errorf("by city %q", rows)
				}
			})
		})
	}
}

// A repeat of a change that others have followed sends nothing to the query tables: the deletes that would cover it may
// be purged.
func TestLateRepeatLeavesQueryTables(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		at := s.w.With(writer.At(time.Now().Add(time.Millisecond).UnixMicro()))
		oslo := bob
		oslo.City = "oslo"
		result, err := at.Write(t.Context(), "move", users.Update(bob, oslo))
		if err != nil {
			t.Fatal(err)
		}
		now := oslo
		now.Version = result.Version
		bern := now
		bern.City = "bern"
		if _, err := s.w.Write(t.Context(), "move", users.Update(now, bern)); err != nil {
			t.Fatal(err)
		}
		if err := s.w.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := len(c.Journal(cassandratest.Execute, cassandratest.Table("users_by_city")))
		if again, err := at.Write(t.Context(), "move", users.Update(bob, oslo)); err != nil ||
			again.Version != result.Version {
			t.Errorf("%+v, %v", again, err)
		}
		if n := len(c.Journal(cassandratest.Execute, cassandratest.Table("users_by_city"))) - sent; n > 0 {
			t.Errorf("%d requests at a time that others have followed", n)
		}
	})
}
