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

// A write that is resumed twice, the second time in vain, is in the tables since the first time. Resume cannot know,
// and so never says that it is not applied.
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
		late := s.client(t, writer.WithClock(writer.NewClock(func() time.Time {
			return time.Now().Add(10 * 24 * time.Hour)
		})))
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
	if second.NotApplied() || len(second.Tables) != 2 ||
		slices.ContainsFunc(second.Tables, func(r writer.TableResult) bool {
			return r.Outcome == writer.NotApplied
		}) {
		t.Errorf("%s: the rows are there, and Resume says %v (%v)", name, second.Tables, err)
	}
}

// Whoever was told that another write came first, or that somebody else has the key, is not to be served later all the
// same: Resume sends nothing, also when the key has become free.
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
			"update": {users.Update(old, moved), writer.ErrConflict},
			"delete": {users.Delete(old), writer.ErrConflict},
			"insert": {users.Insert(bob), writer.ErrConflict},
			"unique key": {
				users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "k@x", City: "bern", Name: "eve"}),
				writer.ErrTaken,
			},
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
			if e := failedWrite(t, err); !e.Is(writer.ErrInvalid) || !errors.Is(err, is[name]) || e.Resumable() ||
				e.NotApplied() ||
				!strings.Contains(err.Error(), "answered by a conflict") {
				t.Errorf("%s, resumed when nothing is in the way: %v", name, err)
			}
		}
		if n := len(c.Journal()); n != sent {
			t.Errorf("%d requests of refused errors", n-sent)
		}
	})
}

// A condition that comes through Resume may have been sent by another delivery. The row with the write's own mark is
// its work.
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
		if late := failedWrite(t, err); !late.Is(writer.ErrConflict) || !late.Is(writer.ErrUnknown) || late.NotApplied() ||
			late.Resumable() {
			t.Errorf("after another write: %v", err)
		}
	})
}

// An error that says "not applied" is delivered twice, and between the two the entity gets back the key that it gave
// up. The second delivery does not free that claim, so nobody else can have the key.
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
		patient := s.w.With(writer.Retry(retry.Policy{
			MaxAttempts: 3, AttemptTimeout: 20 * time.Second,
			MaxElapsedTime: time.Minute,
		}), writer.Timeout(time.Minute))
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

// patron has an address that nobody else has, and tags in no order.
type patron struct {
	PatronID gocql.UUID
	Email    string
	City     string
	Tags     map[string]string
	Version  gocql.UUID
}

func patronSet() *tables.Set[patron] {
	return tables.Must(tables.New[patron]("patron",
		tables.Table{Name: "patrons", PartKey: []string{"patron_id"}},
		tables.Table{Name: "patrons_by_city", PartKey: []string{"city"}, SortKey: []string{"patron_id"}},
		tables.Table{Name: "patrons_by_email", PartKey: []string{"email"}, Unique: true}, tables.Versioned("version"),
	))
}

func newPatron() patron {
	return patron{
		PatronID: gocql.MustRandomUUID(), Email: "a@example.org", City: "rome",
		Tags: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"},
	}
}

// counted is reserved by a Compare with a Mark.
type counted struct {
	CountedID gocql.UUID
	Left      int32
	Mark      gocql.UUID
}

func countedSet(options ...tables.Option) *tables.Set[counted] {
	return tables.Must(tables.New[counted]("counted", append([]tables.Option{
		tables.Table{Name: "counts", PartKey: []string{"counted_id"}},
	}, options...)...))
}

// repeated delivers a change with At, first so that steps befall whatever it sends of the base table, then again as it
// is, in another process: a writer of its own. The second delivery is acknowledged, with the version that the first one
// had.
func repeated(t *testing.T, c *cassandratest.Cluster, base string, change func() tables.Change) {
	t.Helper()
	first, _ := open(t, c)
	second, _ := open(t, c)
	at := writer.At(time.Now().UnixMicro())
	lost := c.When(cassandratest.Table(base)).Do(cassandratest.Apply, cassandratest.Drop)
	result, err := first.With(at).Write(t.Context(), "first", change())
	lost.End()
	if lost.Handled() == 0 || err == nil || failedWrite(t, err).NotApplied() {
		t.Fatalf("the first delivery was to be lost after it was applied: %v", err)
	}
	for range 2 {
		again, err := second.With(at).Write(t.Context(), "again", change())
		if err != nil || again.Version != result.Version || again.Timestamp != result.Timestamp {
			t.Fatalf("the repeat: %v, version %v, want %v", err, again.Version, result.Version)
		}
	}
}

// A request of a Versioned set with a Unique key that is repeated with its timestamp is the same write: insert, update
// and delete are acknowledged again, and nothing is there twice, or claimed for nothing.
func TestRepeatOfVersionedIsRecognised(t *testing.T) {
	t.Parallel()
	set := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, s := open(t, c)
		p := newPatron()
		load := func() patron {
			now, err := writer.Load(t.Context(), w, "show", set, p)
			if err != nil {
				t.Fatal(err)
			}
			return now
		}
		repeated(t, c, "patrons", func() tables.Change { return set.Insert(newFor(p)) })
		before := load()
		repeated(t, c, "patrons", func() tables.Change {
			after := newFor(p)
			after.Email, after.City = "b@example.org", "oslo"
			return set.Update(before, after)
		})
		before = load()
		time.Sleep(11 * time.Second) // ClaimGrace: who gave the address up was not told so
		other := newPatron()
		if _, err := w.Write(t.Context(), "signUp", set.Insert(other)); before.Email != "b@example.org" || err != nil {
			t.Errorf("%+v; the address that was given up: %v", before, err)
		}
		before = load() // who took the address has given the row a version of its own
		repeated(t, c, "patrons", func() tables.Change { return set.Delete(before) })
		for _, table := range []string{"patrons_by_city", "patrons_by_email"} {
			var rows int
			if err := s.Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || table == "patrons_by_city" &&
				rows != 1 {
				t.Errorf("%s has %d rows (%v), one patron is left", table, rows, err)
			}
		}
	})
}

// newFor is p with tags of its own, which Go walks in another order.
func newFor(p patron) patron {
	p.Tags = newPatron().Tags
	return p
}

// Without a fault a write with At leaves no claim of an address that was given up, nor of one that was not had.
func TestPinnedWritesFreeTheirClaims(t *testing.T) {
	t.Parallel()
	set := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, s := open(t, c)
		pin := func() *writer.Writer { time.Sleep(time.Second); return w.With(writer.At(time.Now().UnixMicro())) }
		claims := func(when string, want int) {
			t.Helper()
			var rows int
			if err := s.Query("SELECT count(*) FROM patrons_by_email").Scan(&rows); err != nil || rows != want {
				t.Errorf("%s: %d claims, want %d (%v)", when, rows, want, err)
			}
		}
		p := newPatron()
		result, err := pin().Write(t.Context(), "signUp", set.Insert(p))
		claims("signed up", 1)
		stale := p
		stale.Version = result.Version
		p = stale
		p.Email = "b@example.org"
		result, err2 := pin().Write(t.Context(), "move", set.Update(stale, p))
		p.Version = result.Version
		claims("moved", 1)
		wanted := stale
		wanted.Email = "c@example.org"
		_, conflict := pin().Write(t.Context(), "move", set.Update(stale, wanted))
		claims("after a conflict", 1)
		_, err3 := pin().Write(t.Context(), "leave", set.Delete(p))
		claims("left", 0)
		if err := errors.Join(err, err2, err3); err != nil || !errors.Is(conflict, writer.ErrConflict) {
			t.Error(err, conflict)
		}
	})
}

// With Compare and Mark a repeat is recognised as well.
func TestRepeatOfCompareIsRecognisedByItsMark(t *testing.T) {
	t.Parallel()
	set := countedSet(tables.Compare("left"), tables.Mark("mark"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		n := counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		repeated(t, c, "counts", func() tables.Change { return set.Insert(n) })
		after := n
		after.Left--
		repeated(t, c, "counts", func() tables.Change { return set.Update(n, after) })
		if now, err := writer.Load(t.Context(), w, "show", set, n); err != nil || now.Left != 4 {
			t.Errorf("%+v, %v: taken more than once", now, err)
		}
	})
}

// Another change at the same timestamp is a conflict, and nothing of it is written.
func TestAnotherChangeAtOneTimestampIsAConflict(t *testing.T) {
	t.Parallel()
	people, counts := patronSet(), countedSet(tables.Compare("left"), tables.Mark("mark"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, people, counts)
		w, _ := open(t, c)
		at := w.With(writer.At(time.Now().UnixMicro()))
		p, n := newPatron(), counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		other, more := p, n
		other.City, more.Left = "oslo", 6
		for name, changes := range map[string][2]tables.Change{
			"versioned": {people.Insert(p), people.Insert(other)}, "compare": {counts.Insert(n), counts.Insert(more)},
		} {
			if _, err := at.Write(t.Context(), "first", changes[0]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, err := at.Write(t.Context(), "other", changes[1])
			if failed := failedWrite(t, err); !errors.Is(err, writer.ErrConflict) || failed.NotApplied() {
				t.Errorf("%s: %v, not applied %t", name, err, failed.NotApplied())
			}
		}
		if now, err := writer.Load(t.Context(), w, "show", people, p); err != nil || now.City != "rome" {
			t.Errorf("%+v, %v", now, err)
		}
		if now, err := writer.Load(t.Context(), w, "show", counts, n); err != nil || now.Left != 5 {
			t.Errorf("%+v, %v", now, err)
		}
	})
}

// A repeat that comes when others have changed the row, or when nothing can be sent, does not say that the request was
// not applied: it was. A Versioned row tells.
func TestLateRepeatIsNotCalledNotApplied(t *testing.T) {
	t.Parallel()
	people, counts := patronSet(), countedSet(tables.Compare("left"), tables.Mark("mark"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, people, counts)
		w, _ := open(t, c)
		at := w.With(writer.At(time.Now().UnixMicro()))
		p, n := newPatron(), counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		for name, change := range map[string]tables.Change{"versioned": people.Insert(p), "compare": counts.Insert(n)} {
			if _, err := at.Write(t.Context(), "first", change); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			_, ended := at.Write(over, "repeat", change)
			down := c.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
			_, refused := at.Write(t.Context(), "repeat", change)
			down.End()
			time.Sleep(time.Second)
			var err error
			if name == "compare" {
				_, err = writer.Modify(t.Context(), w, "count", counts, n, func(n counted) (counted, error) {
					n.Left--
					return n, nil
				})
			} else {
				_, err = writer.Modify(t.Context(), w, "move", people, p, func(p patron) (patron, error) {
					p.Email = "b@example.org"
					return p, nil
				})
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, late := at.Write(t.Context(), "repeat", change)
			if name == "versioned" { // its version is among the last ones of the row
				if late != nil {
					t.Errorf("%s, late: %v", name, late)
				}
				late = refused
			}
			for when, err := range map[string]error{"cancelled": ended, "unavailable": refused, "late": late} {
				failed := failedWrite(t, err)
				if failed.NotApplied() || !errors.Is(err, writer.ErrUnknown) ||
					errors.Is(err, writer.ErrConflict) != (when == "late" && name == "compare") {
					t.Errorf("%s, %s: not applied %t, unknown %t: %v", name, when, failed.NotApplied(),
						errors.Is(err, writer.ErrUnknown), err)
				}
			}
		}
		other := newPatron()
		other.Email = "a@example.org" // which the first one has had, and the late repeat has not kept
		if _, err := w.Write(t.Context(), "signUp", people.Insert(other)); err != nil {
			t.Errorf("an address that nobody has: %v", err)
		}
	})
}

// Two deliveries at the same time are one write, also if the first one stops between its claim and its transaction.
func TestDeliveriesAtTheSameTime(t *testing.T) {
	t.Parallel()
	set := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		one, s := open(t, c)
		two, _ := open(t, c)
		at, p := writer.At(time.Now().UnixMicro()), newPatron()
		slow := c.When(cassandratest.Table("patrons"), cassandratest.Nth(1)).Do(cassandratest.Delay(700 * time.Millisecond))
		errs := make(chan error, 1)
		var first writer.Result
		go func() {
			var err error
			first, err = one.With(at).Write(t.Context(), "first", set.Insert(newFor(p)))
			errs <- err
		}()
		time.Sleep(300 * time.Millisecond)
		second, err := two.With(at).Write(t.Context(), "second", set.Insert(newFor(p)))
		if late := <-errs; err != nil || late != nil || first.Version != second.Version || slow.Handled() == 0 {
			t.Errorf("%v and %v, versions %v and %v, held up %d", late, err, first.Version, second.Version, slow.Handled())
		}
		var owner gocql.UUID
		if err := s.Query("SELECT patron_id FROM patrons_by_email WHERE email = ?", p.Email).Scan(&owner); err != nil ||
			owner != p.PatronID {
			t.Errorf("the address is %v's, %v", owner, err)
		}
	})
}

// Where a repeat cannot be recognised, the documentation of At says what to do: a row that says which request made it
// tells its repeat, to the function of Modify and to whoever has met a conflict; and a Mark that is compared does not
// come back.
func TestRecipesForRepeats(t *testing.T) {
	t.Parallel()
	marked := countedSet(tables.Compare("left", "mark"), tables.Mark("mark"))
	people := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, people, marked)
		w, _ := open(t, c)
		p := newPatron()
		if _, err := w.Write(t.Context(), "signUp", people.Insert(p)); err != nil {
			t.Fatal(err)
		}
		done := errors.New("this request has been carried out")
		visit := func(request string) error {
			_, err := writer.Modify(t.Context(), w, "visit", people, p, func(p patron) (patron, error) {
				if p.Tags["request"] == request {
					return p, done
				}
				p.Tags["request"], p.City = request, p.City+"+"
				return p, nil
			})
			return err
		}
		if first, again := visit("r1"), visit("r1"); first != nil || !errors.Is(again, done) {
			t.Errorf("Modify: %v, then %v", first, again)
		}

		n := counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		if _, err := w.Write(t.Context(), "build", marked.Insert(n)); err != nil {
			t.Fatal(err)
		}
		before, err := writer.Load(t.Context(), w, "show", marked, n)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		after, at := before, w.With(writer.At(time.Now().UnixMicro()))
		after.Left--
		_, first := at.Write(t.Context(), "take", marked.Update(before, after))
		_, back := writer.Modify(t.Context(), w, "return", marked, n, func(n counted) (counted, error) {
			n.Left++
			return n, nil
		})
		_, again := at.Write(t.Context(), "take", marked.Update(before, after))
		now, unread := writer.Load(t.Context(), w, "show", marked, n)
		if first != nil || back != nil || unread != nil || !errors.Is(again, writer.ErrConflict) || now.Left != 5 {
			t.Errorf("a compared Mark: %v, %v, repeated %v, now %+v, %v", first, back, again, now, unread)
		}
	})
}

// tally counts behind a pointer, and has tags in no order.
type tally struct {
	TallyID   gocql.UUID
	Count     *int32
	Tags      map[string]string
	UpdatedAt int64
}

// A request that is delivered three times changes its entity once, also if its function changes the row in place. One
// that leaves all as it is may be repeated.
func TestRepeatOfAChangeInPlace(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[tally]("tally", tables.Table{Name: "tallies", PartKey: []string{"tally_id"}},
		tables.Stamp("updated_at")))
	for name, c := range map[string]struct {
		change func(tally) (tally, error)
		count  int32
		fails  bool
	}{
		"a copy":   {func(r tally) (tally, error) { n := *r.Count + 1; r.Count = &n; return r, nil }, 1, true},
		"in place": {func(r tally) (tally, error) { *r.Count++; return r, nil }, 1, true},
		"a map":    {func(r tally) (tally, error) { r.Tags["n"] += "x"; return r, nil }, 0, true},
		"the same": {func(r tally) (tally, error) { *r.Count, r.Tags["b"] = 5, "2"; return r, nil }, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, cluster *cassandratest.Cluster) {
				cluster.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
				create(cluster, set)
				w, _ := open(t, cluster)
				row := tally{TallyID: gocql.MustRandomUUID(), Count: new(int32), Tags: map[string]string{
					"a": "1", "b": "2",
					"c": "3",
				}}
				if _, err := w.Write(t.Context(), "create", set.Insert(row)); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Second)
				at := w.With(writer.At(time.Now().UnixMicro()))
				for delivery := range 3 {
					_, err := writer.Modify(t.Context(), at, "count", set, row, c.change)
					if invalid := errors.Is(err, writer.ErrInvalid); invalid != (c.fails && delivery > 0) || err != nil && !invalid {
						t.Errorf("delivery %d: %v", delivery, err)
					}
				}
				now, err := writer.Load(t.Context(), w, "show", set, row)
				if err != nil || *now.Count != c.count || len(now.Tags["n"]) > 1 {
					t.Errorf("counted %d times, %v (%v)", *now.Count, now.Tags, err)
				}
			})
		})
	}
}
