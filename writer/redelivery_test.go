package writer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A write that is resumed twice, the second time in vain, is in the tables since the first time. Resume cannot know, and so
// never says that it is not applied.
func TestRedeliveredResumeNeverSaysNotApplied(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		away := c.When(cassandratest.Table("tickets_by_id", "tickets_by_user")).Do(unavailable)
		_, err := s.w.Write(t.Context(), "sell", tickets.Insert(ticket{gocql.TimeUUID(), gocql.MustRandomUUID(), "12A"}))
		failed := failedWrite(t, err)
		if !failed.NotApplied() {
			t.Fatalf("not the premise: %v", err)
		}
		away.End()
		if _, err := s.w.Resume(t.Context(), again(failed)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		away = c.When(cassandratest.Table("tickets_by_id", "tickets_by_user")).Do(unavailable)
		defer away.End()
		late := s.client(t, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(10 * 24 * time.Hour) })))
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for name, resume := range map[string]func() (writer.Result, error){
			"refused by all nodes": func() (writer.Result, error) { return s.w.Resume(t.Context(), again(failed)) },
			"canceled":             func() (writer.Result, error) { return s.w.Resume(over, again(failed)) },
			"a writer with a bad option": func() (writer.Result, error) {
				return s.w.With(writer.Timeout(-1)).Resume(t.Context(), again(failed))
			},
			"too late": func() (writer.Result, error) { return late.w.Resume(t.Context(), again(failed)) },
		} {
			check(t, name, resume)
		}
		if !failed.NotApplied() {
			t.Error("the error that was given to Resume has changed")
		}
	})
}

func check(t *testing.T, name string, resume func() (writer.Result, error)) {
	t.Helper()
	_, err := resume()
	second := failedWrite(t, err)
	if second.NotApplied() || len(second.Tables) != 2 || slices.ContainsFunc(second.Tables, func(r writer.TableResult) bool {
		return r.Outcome == writer.NotApplied
	}) {
		t.Errorf("%s: the rows are there, and Resume says %v (%v)", name, second.Tables, err)
	}
}

// Whoever was told that another write came first, or that somebody else has the key, is not to be served later all the same: Resume sends
// nothing, also when the key has become free.
func TestFinalRejectionsAreNotResumable(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		old := bob
		if err := s.rename(t.Context(), bob, "robert"); err != nil {
			t.Fatal(err)
		}
		moved := old
		moved.City = "oslo"
		taken := slot{SlotID: "s", Holder: "you"}
		if _, err := s.w.Write(t.Context(), "make", slots.Insert(taken)); err != nil {
			t.Fatal(err)
		}
		mine := taken
		mine.Holder = "me"
		free := slot{SlotID: "s"}
		refused, is := make(map[string]*writer.Error), make(map[string]error)
		for name, test := range map[string]struct {
			change tables.Change
			is     error
		}{
			"update":           {users.Update(old, moved), writer.ErrConflict},
			"delete":           {users.Delete(old), writer.ErrConflict},
			"insert":           {users.Insert(bob), writer.ErrConflict},
			"unique key":       {users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "bern", Name: "eve"}), writer.ErrTaken},
			"compared":         {slots.Update(free, mine), writer.ErrConflict},
			"compared: insert": {slots.Insert(mine), writer.ErrConflict},
		} {
			_, err := s.w.Write(t.Context(), "change", test.change)
			failed := failedWrite(t, err)
			if !errors.Is(err, test.is) || !failed.NotApplied() || again(failed).Resumable() {
				t.Errorf("%s: %v, resumable: %t", name, err, failed.Resumable())
			}
			// A Resume all the same, which cannot even begin.
			_, err = s.w.With(writer.Timeout(-1)).Resume(t.Context(), again(failed))
			if !errors.Is(err, writer.ErrConflict) || failedWrite(t, err).Resumable() {
				t.Errorf("%s, resumed: %v", name, err)
			}
			refused[name], is[name] = failed, test.is
		}
		now, err := writer.Load(t.Context(), s.w, "load", users, bob)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Write(t.Context(), "leave", users.Delete(now)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Write(t.Context(), "free", slots.Update(taken, free)); err != nil {
			t.Fatal(err)
		}
		sent := len(c.Journal())
		for name, failed := range refused {
			_, err := s.w.Resume(t.Context(), again(failed))
			if e := failedWrite(t, err); !e.Is(writer.ErrInvalid) || !errors.Is(err, is[name]) || e.Resumable() || e.NotApplied() ||
				!strings.Contains(err.Error(), "answered by a conflict") {
				t.Errorf("%s, resumed when nothing is in the way: %v", name, err)
			}
		}
		if n := len(c.Journal()); n != sent {
			t.Errorf("%d requests of refused errors", n-sent)
		}
	})
}

// A condition that comes through Resume may have been sent by another delivery. The row with the write's own mark is its work.
func TestRedeliveredCompareKnowsItsMark(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		free := slot{SlotID: "s"}
		if _, err := s.w.Write(t.Context(), "make", slots.Insert(free)); err != nil {
			t.Fatal(err)
		}
		mine := free
		mine.Holder = "me"
		away := c.When(cassandratest.Table("slots")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeBootstrapping)))
		_, err := s.w.Write(t.Context(), "reserve", slots.Update(free, mine))
		failed := failedWrite(t, err)
		if !failed.NotApplied() {
			t.Fatalf("not the premise: %v", err)
		}
		away.End()
		for n := range 2 {
			if _, err := s.w.Resume(t.Context(), again(failed)); err != nil {
				t.Errorf("delivery %d: %v", n+1, err)
			}
		}
		now, err := writer.Load(t.Context(), s.w, "load", slots, free)
		if err != nil || now.Holder != "me" {
			t.Fatalf("%+v, %v", now, err)
		}
		// Another write follows; whether this one came before it cannot be known.
		next := now
		next.Holder = "you"
		if _, err := s.w.Write(t.Context(), "pass", slots.Update(now, next)); err != nil {
			t.Fatal(err)
		}
		_, err = s.w.Resume(t.Context(), again(failed))
		if late := failedWrite(t, err); !late.Is(writer.ErrConflict) || !late.Is(writer.ErrUnknown) || late.NotApplied() || late.Resumable() {
			t.Errorf("after another write: %v", err)
		}
	})
}

// An error that says "not applied" is delivered twice, and between the two the entity gets back the key that it gave up. The second
// delivery does not free that claim, so nobody else can have the key.
func TestRedeliveredResumeFreesNoLaterClaim(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
		refuse := c.When(cassandratest.Table("users_by_email")).Do(cassandratest.Fail(cassandratest.Overloaded))
		changed := bob
		changed.Email = "k2@x"
		_, err := s.w.Write(t.Context(), "changeEmail", users.Update(bob, changed))
		failed := failedWrite(t, err)
		refuse.End()
		if !failed.NotApplied() {
			t.Fatalf("not the premise: %v", err)
		}
		// The first delivery is applied to the base table, and then its consumer dies.
		away := c.When(cassandratest.Table("users_by_city")).Do(cassandratest.Drop)
		if _, err = s.w.Resume(t.Context(), again(failed)); err == nil {
			t.Fatal("not the premise")
		}
		away.End()
		// Another request gives Bob the key back. Its transaction on the base row is slow on its way.
		late := c.When(cassandratest.Table("users"), cassandratest.Where(func(r cassandratest.Request) bool {
			return r.Kind == cassandratest.Execute && len(r.Statements) == 1 && strings.HasPrefix(r.Statements[0].Text, "UPDATE")
		}), cassandratest.Nth(1)).Do(cassandratest.Delay(5 * time.Second))
		patient := s.w.With(writer.Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 20 * time.Second, MaxElapsedTime: time.Minute}), writer.Timeout(time.Minute))
		back := make(chan error)
		go func() {
			_, err := writer.Modify(t.Context(), patient, "back", users, user{UserID: bob.UserID}, func(u user) (user, error) {
				u.Email = "k@x"
				return u, nil
			})
			back <- err
		}()
		<-time.After(time.Second)
		if late.Handled() != 1 {
			t.Fatal("the transaction is not under way")
		}
		_, second := s.w.Resume(t.Context(), again(failed))
		if err := <-back; err != nil {
			t.Fatal(err)
		}
		<-time.After(15 * time.Second)
		eve := user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "bern", Name: "eve"}
		if _, err = s.w.Write(t.Context(), "signUp", users.Insert(eve)); !errors.Is(err, writer.ErrTaken) {
			t.Errorf("after a second delivery that ended with %v, Bob's address is given to Eve: %v", second, err)
		}
	})
}

// One error is resumed by several goroutines at the same time, as the queue of a process may do.
func TestOneErrorResumedByMany(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		resumedByMany(t, start(t, c), again)
	})
	t.Run("in real time", func(t *testing.T) {
		t.Parallel()
		c := cassandratest.New(3)
		t.Cleanup(c.Close)
		resumedByMany(t, start(t, c), func(e *writer.Error) *writer.Error { return e })
	})
}

func resumedByMany(t *testing.T, s *service, again func(*writer.Error) *writer.Error) {
	t.Helper()
	bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "rome", Name: "bob"})
	away := s.When(cassandratest.Table("users_by_city")).Do(unavailable)
	moved := bob
	moved.Email, moved.City = "k2@x", "oslo"
	_, err := s.w.Write(t.Context(), "move", users.Update(bob, moved))
	away.End()
	failed := again(failedWrite(t, err))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.w.Resume(t.Context(), failed); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = 'oslo'"); n != 1 {
		t.Errorf("%d rows", n)
	}
}
