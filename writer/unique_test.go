package writer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
	"github.com/gocql/gocql"
)

// Keys of rows from before a Unique table was declared have no claims, and get none by an update that leaves them:
// whoever comes then takes them. A claim made by hand counts like any other.
func TestUniqueKnowsNoRowsOfBefore(t *testing.T) {
	t.Parallel()
	older := tables.Must(tables.New[user]("user",
		tables.Table{Name: "users", PartKey: []string{"user_id"}},
		tables.Table{Name: "users_by_city", PartKey: []string{"city"}, SortKey: []string{"user_id"}},
		tables.Versioned("version"),
	))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		for _, email := range []string{"unclaimed@x", "claimed@x"} {
			old := user{UserID: gocql.MustRandomUUID(), Email: email, City: "oslo", Name: "old"}
			if _, err := s.w.Write(t.Context(), "signUp", older.Insert(old)); err != nil {
				t.Fatal(err)
			}
			if err := s.rename(t.Context(), old, "older"); err != nil {
				t.Fatal(err)
			}
			if email == "claimed@x" {
				if err := s.reads.Query("INSERT INTO users_by_email (email, user_id, claim) VALUES (?, ?, now()) IF NOT EXISTS",
					email, old.UserID).Exec(); err != nil {
					t.Fatal(err)
				}
			}
			young := user{UserID: gocql.MustRandomUUID(), Email: email, City: "rome", Name: "young"}
			if _, err := s.w.Write(t.Context(), "signUp", users.Insert(young)); errors.Is(err,
				writer.ErrTaken) != (email == "claimed@x") {
				t.Errorf("%s: %v", email, err)
			}
		}
	})
}

// A row of a Unique table that names no entity, as other code may have put it, is an error that says so, and nothing
// was written.
func TestUniqueKeyOfNobody(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		if err := s.reads.Query("INSERT INTO users_by_email (email) VALUES ('a@x')").Exec(); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "signUp",
			users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: "ann"}))
		if e := failedWrite(t, err); !e.NotApplied() || errors.Is(err, writer.ErrTaken) ||
			!strings.Contains(err.Error(), ".users_by_email names no entity") || strings.Contains(err.Error(), "a@x") {
			t.Errorf("%v", err)
		}
		ann := user{UserID: gocql.MustRandomUUID(), Email: "b@x", City: "rome", Name: "ann"}
		if ann.Version, err = versionOf(s.w.Write(t.Context(), "signUp", users.Insert(ann))); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"DELETE FROM users_by_email WHERE email = 'b@x'",
			"INSERT INTO users_by_email (email) VALUES ('b@x')",
		} {
			if err := s.reads.Query(statement).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.w.Write(t.Context(), "leave", users.Delete(ann)); err != nil {
			t.Errorf("a delete that gives up such a key: %v", err)
		}
	})
}

// A key whose claim got no answer may be kept from other entities for as long as ClaimGrace, while the same entity has
// it at once. The error, which has a result only for tables with rows of the entity, names the table of the claim.
func TestUniqueKeyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		ann := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: "ann"}
		other := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: "bob"}
		lost := c.When(cassandratest.Table("users_by_email")).Do(cassandratest.Apply, cassandratest.Drop)
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(ann))
		lost.End()
		e := failedWrite(t, err)
		if !e.NotApplied() || len(e.Tables) != 2 || !strings.Contains(err.Error(), ".users_by_email") {
			t.Errorf("%v of %v", err, e.Tables)
		}
		if _, err := s.w.Write(t.Context(), "signUp", users.Insert(other)); !errors.Is(err, writer.ErrTaken) {
			t.Errorf("another entity at once: %v", err)
		}
		if _, err := s.w.Write(t.Context(), "signUp", users.Insert(ann)); err != nil {
			t.Errorf("the same entity: %v", err)
		}
	})
}

// A row of a Unique table from before it had tokens is taken over like any other whose owner does not have the key.
func TestUniqueKeyWithoutToken(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		if err := s.reads.Query("INSERT INTO users_by_email (email, user_id) VALUES ('a@x', ?)", gocql.MustRandomUUID()).
			Exec(); err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{"ann", "bob"} {
			_, err := s.w.Write(t.Context(), "signUp",
				users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: who}))
			if errors.Is(err, writer.ErrTaken) != (who == "bob") || who == "ann" && err != nil {
				t.Errorf("%s: %v", who, err)
			}
		}
	})
}

// A key of a Unique table that goes from one entity to another is given up before it is taken, as the source has it.
// Where the first change fails, the second is parked, and so is what comes after that.
func TestWriteAllKeepsTheOrderOfAUniqueKey(t *testing.T) {
	t.Parallel()
	set := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		const pairs, bad = 30, 7
		var gone, moved, heirs []patron
		write := func(p patron, email string) patron {
			p.Email = email
			result, err := w.Write(t.Context(), "signUp", set.Insert(newFor(p)))
			if err != nil {
				t.Fatal(err)
			}
			p.Version = result.Version
			return p
		}
		for n := range pairs {
			gone = append(gone, write(newPatron(), fmt.Sprintf("gone %d", n)))
			moved = append(moved, write(newPatron(), fmt.Sprintf("moved %d", n)))
		}
		gone[bad].Version = moved[bad].Version // as of a row that another has changed
		source := func(yield func(bulk.Item, error) bool) {
			for n := range pairs {
				heir, after := newPatron(), moved[n]
				heir.Email = gone[n].Email
				after.Email = fmt.Sprintf("new %d", n)
				next := newPatron()
				next.Email = moved[n].Email
				heirs = append(heirs, heir)
				changes := []tables.Change{set.Delete(gone[n]), set.Insert(heir), set.Update(moved[n], after), set.Insert(next)}
				for _, change := range changes {
					if !yield(bulk.Item{Change: change, Position: int64(n)}, nil) {
						return
					}
				}
			}
		}
		run := bulk.WriteAll(t.Context(), w, "import", source)
		failed, parked := 0, 0
		for done := range run.All() {
			switch {
			case done.Err == nil:
			case done.Position != bad:
				t.Errorf("%v: %v", done.Change, done.Err)
			case errors.Is(done.Err, bulk.ErrParked):
				parked++
			default:
				failed++
			}
		}
		if failed != 1 || parked != 1 {
			t.Errorf("%d failed, %d parked: %v", failed, parked, run.Err())
		}
		for n, heir := range heirs {
			if _, err := writer.Load(t.Context(), w, "show", set, heir); (err != nil) != (n == bad) {
				t.Errorf("heir %d: %v", n, err)
			}
		}
	})
}

type stay struct {
	Site    string
	Day     time.Time
	ID      int32
	Note    string
	Version gocql.UUID
}

// staySet has an ID that a Unique table enforces: of two stays with one id, one after the other, each has a base row of
// its own, and both have the same row in stays_by_id.
func staySet() *tables.Set[stay] {
	return tables.Must(tables.New[stay]("stay",
		tables.Table{Name: "stays", PartKey: []string{"site"}, SortKey: []string{"day", "id"}},
		tables.Table{Name: "stays_by_id", PartKey: []string{"id"}},
		tables.Table{Name: "stays_id", PartKey: []string{"id"}, Unique: true},
		tables.ID("id"), tables.Versioned("version"),
	))
}

// stayOn is a stay with the id 7.
func stayOn(day int) stay {
	return stay{Site: "x", Day: time.Date(2000, 1, day, 0, 0, 0, 0, time.UTC), ID: 7, Note: "n"}
}

// rowsOfStay counts the rows of the stay with the id 7 in the base table, in its query table and in its Unique table.
func rowsOfStay(t *testing.T, s *service) [3]int {
	t.Helper()
	return [3]int{
		s.count(t, "SELECT count(*) FROM stays WHERE site = 'x' AND id = 7 AND note = 'n' ALLOW FILTERING"),
		s.count(t, "SELECT count(*) FROM stays_by_id WHERE id = 7"),
		s.count(t, "SELECT count(*) FROM stays_id WHERE id = 7"),
	}
}

// An insert waits for the claim of its id, while the entity that had the id is deleted: the delete has the later
// timestamp, so the insert is planned again above that, by Write and by WriteAll, and is in every table.
func TestInsertAlongsideDeleteOfItsID(t *testing.T) {
	t.Parallel()
	set := staySet()
	for name, insert := range map[string]func(*testing.T, *writer.Writer) error{
		"Write": func(t *testing.T, w *writer.Writer) error {
			t.Helper()
			_, err := w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
			return err
		},
		"WriteAll": func(t *testing.T, w *writer.Writer) error {
			t.Helper()
			run := bulk.WriteAll(t.Context(), w, "import", func(yield func(bulk.Item, error) bool) {
				yield(bulk.Item{Change: set.Insert(stayOn(1))}, nil)
			})
			for done := range run.All() {
				if done.Err != nil {
					t.Error(done.Err)
				}
			}
			return run.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				s := (&service{Cluster: c}).client(t)
				was := stayOn(2)
				var err error
				if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
					t.Fatal(err)
				}
				slow := c.When(cassandratest.Table("stays_id"), cassandratest.Text("INSERT")).
					Do(cassandratest.Delay(500 * time.Millisecond))
				inserted := make(chan error, 1)
				go func() { inserted <- insert(t, s.w) }()
				<-time.After(100 * time.Millisecond)
				if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
					t.Fatal(err)
				}
				if err := <-inserted; err != nil {
					t.Error(err)
				}
				slow.End()
				if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want {
					t.Errorf("rows %v, want %v", got, want)
				}
			})
		})
	}
}

// An insert that was not applied has no claim, and a Resume has its timestamp. Before it is resumed, another entity has
// come and gone with its id. It is not sent again, and stays not applied. A new insert is in every table.
func TestInsertResumedAfterAnotherLife(t *testing.T) {
	t.Parallel()
	set := staySet()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		fails := c.When(cassandratest.Table("stays_id")).Do(cassandratest.Fail(cassandratest.Overloaded))
		_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
		fails.End()
		failed := failedWrite(t, err)
		if !failed.NotApplied() || failed.Resumable() {
			t.Fatal(err)
		}
		was := stayOn(2)
		if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
			t.Fatal(err)
		}
		_, err = s.w.With(writer.Resumes(set)).Resume(t.Context(), again(failed))
		if e := failedWrite(t, err); writer.OutcomeOf(err) != writer.NotApplied || e.Resumable() {
			t.Errorf("%v", err)
		}
		if got, want := rowsOfStay(t, s), [3]int{0, 0, 0}; got != want {
			t.Errorf("rows %v, want %v: %v", got, want, err)
		}
		if _, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1))); err != nil {
			t.Fatal(err)
		}
		if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want {
			t.Errorf("rows %v, want %v", got, want)
		}
	})
}

// An insert whose transaction got no answer keeps its claim, so a Resume finishes it.
func TestInsertResumedWithItsClaim(t *testing.T) {
	t.Parallel()
	set := staySet()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		lost := c.When(cassandratest.Table("stays"), cassandratest.Text("UPDATE")).Do(cassandratest.Drop)
		_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
		lost.End()
		if _, err = s.w.With(writer.Resumes(set)).Resume(t.Context(), again(failedWrite(t, err))); err != nil {
			t.Fatal(err)
		}
		if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want {
			t.Errorf("rows %v, want %v", got, want)
		}
	})
}

// Two inserts of one entity wait for the claim of its id, while the entity that had the id is deleted. The one that has
// the claim first is planned again. The other finds that claim, which is as late for it.
func TestTwoInsertsAlongsideDeleteOfTheirID(t *testing.T) {
	t.Parallel()
	set := staySet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		was := stayOn(2)
		var err error
		if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
			t.Fatal(err)
		}
		slow := c.When(cassandratest.Table("stays_id"), cassandratest.Text("INSERT")).
			Do(cassandratest.Delay(500 * time.Millisecond))
		inserted := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
				inserted <- err
			}()
		}
		<-time.After(100 * time.Millisecond)
		if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
			t.Fatal(err)
		}
		applied := 0
		for range 2 {
			if err := <-inserted; err == nil {
				applied++
			} else if !errors.Is(err, writer.ErrConflict) {
				t.Error(err)
			} else {
				t.Log(err)
			}
		}
		slow.End()
		if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want || applied != 1 {
			t.Errorf("rows %v, want %v; %d applied", got, want, applied)
		}
	})
}

// An insert that was not applied has no claim of its own. A claim of its entity may be there all the same, and another
// entity may have come and gone with the id before that: the claim of another insert, or its own, which came late.
func TestInsertResumedOverAClaimOfItsEntity(t *testing.T) {
	t.Parallel()
	set := staySet()
	claimed := cassandratest.Text("INSERT INTO shop.stays_id")
	for name, claims := range map[string]func(*testing.T, *cassandratest.Cluster, *service) error{
		"of another insert": func(t *testing.T, c *cassandratest.Cluster, s *service) error {
			t.Helper()
			fails := c.When(claimed).Do(cassandratest.Fail(cassandratest.Overloaded))
			_, failed := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
			fails.End()
			was := stayOn(2)
			var err error
			if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
				t.Fatal(err)
			}
			if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
				t.Fatal(err)
			}
			lost := c.When(claimed).Do(cassandratest.Apply, cassandratest.Drop)
			_, err = s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
			lost.End()
			if !failedWrite(t, err).NotApplied() {
				t.Fatal(err)
			}
			return failed
		},
		"its own, late": func(t *testing.T, c *cassandratest.Cluster, s *service) error {
			t.Helper()
			was := stayOn(2)
			var err error
			if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
				t.Fatal(err)
			}
			slow := c.When(claimed).Do(cassandratest.Delay(3 * time.Second))
			once := s.w.With(writer.Timeout(500*time.Millisecond), writer.Retry(retry.Policy{MaxAttempts: 1}))
			_, failed := once.Write(t.Context(), "stay", set.Insert(stayOn(1)))
			if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
				t.Fatal(err)
			}
			<-time.After(4 * time.Second)
			slow.End()
			return failed
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
				t.Helper()
				create(c, set)
				s := (&service{Cluster: c}).client(t)
				failed := failedWrite(t, claims(t, c, s))
				if got, want := rowsOfStay(t, s), [3]int{0, 0, 1}; !failed.NotApplied() || got != want {
					t.Fatalf("rows %v, want %v: %v", got, want, failed)
				}
				if failed.Resumable() {
					t.Errorf("resumable: %v", failed)
				}
				for left, n := failed, 0; n < 2; n++ {
					_, err := s.w.With(writer.Resumes(set)).Resume(t.Context(), again(left))
					e := failedWrite(t, err)
					if writer.OutcomeOf(err) != writer.NotApplied || !e.NotApplied() || e.Resumable() {
						t.Errorf("%v", err)
					}
					left = e
				}
				if got, want := rowsOfStay(t, s), [3]int{0, 0, 1}; got != want {
					t.Errorf("rows %v, want %v", got, want)
				}
				if _, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1))); err != nil {
					t.Fatal(err)
				}
				if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want {
					t.Errorf("rows %v, want %v", got, want)
				}
			})
		})
	}
}

// The claim of an earlier insert arrives late: after the entity that had the id is deleted, and before the claim of
// another insert of the same entity, whose version is earlier than the delete, and later than the claim.
func TestInsertMeetsALateClaimOfItsEntity(t *testing.T) {
	t.Parallel()
	set := staySet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		was := stayOn(2)
		var err error
		if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
			t.Fatal(err)
		}
		slow := c.When(cassandratest.Text("INSERT INTO shop.stays_id")).Do(cassandratest.Delay(600 * time.Millisecond))
		early := s.w.With(writer.Timeout(50*time.Millisecond), writer.Retry(retry.Policy{MaxAttempts: 1}))
		if _, err := early.Write(t.Context(), "stay", set.Insert(stayOn(1))); !failedWrite(t, err).NotApplied() {
			t.Fatal(err)
		}
		inserted := make(chan error, 1)
		go func() {
			_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
			inserted <- err
		}()
		<-time.After(100 * time.Millisecond)
		if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
			t.Fatal(err)
		}
		if err := <-inserted; err != nil {
			t.Fatal(err)
		}
		slow.End()
		if got, want := rowsOfStay(t, s), [3]int{1, 1, 1}; got != want {
			t.Errorf("rows %v, want %v", got, want)
		}
	})
}

// Without ID, two entities share no row, so a Resume of a stored insert that has to claim its key again is carried out,
// as it is from memory.
func TestInsertResumedWithoutAnID(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[stay]("stay",
		tables.Table{Name: "stays", PartKey: []string{"site"}, SortKey: []string{"day", "id"}},
		tables.Table{Name: "stays_by_id", PartKey: []string{"id"}, SortKey: []string{"site", "day"}},
		tables.Table{Name: "stays_id", PartKey: []string{"id"}, Unique: true},
		tables.Versioned("version"),
	))
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		fails := c.When(cassandratest.Table("stays_id")).Do(cassandratest.Fail(cassandratest.Overloaded))
		_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
		fails.End()
		failed := failedWrite(t, err)
		if !failed.NotApplied() || !failed.Resumable() {
			t.Fatal(err)
		}
		if _, err = s.w.With(writer.Resumes(set)).Resume(t.Context(), again(failed)); err != nil {
			t.Error(err)
		}
	})
}

type reasons struct {
	session.Tracer
	mu    sync.Mutex
	seen  []string
	ended func() // is called at the end of each request
}

func (r *reasons) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	return ctx
}

func (r *reasons) TraceRequestEnd(_ context.Context, e session.RequestEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, e.Outcome.String()+":"+e.Reason)
	if r.ended != nil {
		r.ended()
	}
}

func (r *reasons) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return ctx
}

func (r *reasons) TraceEnd(context.Context, session.OperationEnd) {}

// An insert that nothing is in the way of is no conflict, and claims its keys once, in one request each. It is planned
// again where the claim of its ID is what orders entities: not for another unique key, nor without an ID.
func TestInsertAboveItsClaimIsNoConflict(t *testing.T) {
	t.Parallel()
	without := tables.Must(tables.New[stay]("stay",
		tables.Table{Name: "stays", PartKey: []string{"site"}, SortKey: []string{"day", "id"}},
		tables.Table{Name: "stays_by_id", PartKey: []string{"id"}},
		tables.Table{Name: "stays_id", PartKey: []string{"note"}, Unique: true},
		tables.ID("id"), tables.Versioned("version"),
	))
	for name, test := range map[string]struct {
		set  *tables.Set[stay]
		want []string
	}{
		"claim of the ID": {staySet(), []string{"not applied:", "applied:", "applied:"}},
		"of another key":  {without, []string{"applied:", "applied:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, test.set)
				tracer := new(reasons)
				both := connect(t, c, session.Trace(tracer))
				w := openOn(t, both)
				claims := c.When(cassandratest.Table("stays_id")).Do(cassandratest.Answer)
				if _, err := w.Write(t.Context(), "stay", test.set.Insert(stayOn(1))); err != nil {
					t.Fatal(err)
				}
				if n := claims.Handled(); !slices.Equal(tracer.seen, test.want) || n != 1 {
					t.Errorf("%q, want %q; %d requests to the unique table", tracer.seen, test.want, n)
				}
			})
		})
	}
}

// What an insert has claimed is given back if nothing of it was sent, also when its call has ended: after the first
// plan, which claims, or while the nodes rejected its transaction; and if it cannot be planned again. It cannot either if
// the clock is set back so far that the claim is too far ahead. A second plan may be a logged batch where the first was
// none, and the schema that it needs may not be read. In no case does a Resume send the insert without its claim.
func TestClaimIsGivenBackAfterTheCall(t *testing.T) {
	t.Parallel()
	type note struct {
		ID   int32
		Ends time.Time
	}
	notes := tables.Must(tables.New[note]("note",
		tables.Table{Name: "notes", PartKey: []string{"id"}}, tables.ExpiresAt("ends")))
	set := staySet()
	for _, name := range []string{
		"second plan not begun", "second plan rejected", "second plan's schema not read", "transaction rejected",
		"clock set back",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set, notes)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var ahead atomic.Int64
				var unread atomic.Bool
				both := connect(t, c, session.Trace(&reasons{ended: func() {
					switch name {
					case "second plan not begun":
						cancel()
					case "second plan rejected":
						ahead.Store(int64(time.Minute))
					case "second plan's schema not read":
						if unread.Load() {
							ahead.Store(int64(20 * time.Second)) // the batchlog is tried again
						}
					case "clock set back":
						ahead.Store(0)
					}
				}}))
				if name == "clock set back" {
					ahead.Store(int64(20 * time.Second))
				}
				s := &service{c, openOn(t, both, writer.WithClock(writer.NewClock(func() time.Time {
					return time.Now().Add(time.Duration(ahead.Load()))
				}))), both.Reads(), both}
				if name == "transaction rejected" {
					c.When(cassandratest.Table("stays"), cassandratest.Text("UPDATE")).
						Do(cassandratest.Fail(cassandratest.Unavailable(gocql.Consistency(gocql.Serial), 2, 1)))
					time.AfterFunc(500*time.Millisecond, cancel)
				}
				if name == "second plan's schema not read" {
					fails := c.When(cassandratest.Batch).Choose(func(r cassandratest.Request) []cassandratest.Step {
						if !r.Logged {
							return nil
						}
						return []cassandratest.Step{cassandratest.Fail(cassandratest.WriteTimeout("BATCH_LOG", 1, 0))}
					})
					ends := time.Now().Add(time.Hour)
					result, err := s.w.Write(ctx, "note", notes.Insert(note{2, ends}), notes.Insert(note{3, ends}))
					fails.End()
					if err != nil || result.Mode != writer.Fallback {
						t.Fatalf("%v, %v", result.Mode, err)
					}
					c.When(cassandratest.Table("system_schema.triggers")).
						Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
					unread.Store(true)
				}
				_, err := s.w.With(writer.Retry(retry.Policy{MaxAttempts: 100})).Write(ctx, "stay",
					set.Insert(stayOn(1)), notes.Insert(note{1, time.Now().Add(30 * time.Second)}))
				conflict := errors.Is(err, writer.ErrConflict)
				failed := failedWrite(t, err)
				if !failed.NotApplied() || failed.Resumable() || conflict != (name == "clock set back") {
					t.Error(err)
				}
				says := map[string]string{
					"second plan's schema not read": "not read",
					"clock set back":                "its ID claimed, by a clock more than 10s ahead of this one",
				}
				if !strings.Contains(err.Error(), says[name]) {
					t.Error(err)
				}
				if err := s.w.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got, want := rowsOfStay(t, s), [3]int{0, 0, 0}; got != want {
					t.Errorf("rows %v, want %v: %v", got, want, err)
				}
			})
		})
	}
}

// An insert whose transaction got no answer keeps its claim. Once that is older than ClaimGrace another entity takes
// the id, and is deleted. The insert is not sent again then, though its entity has a claim, of another insert.
func TestInsertResumedAfterItsClaimWasTaken(t *testing.T) {
	t.Parallel()
	set := staySet()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		lost := c.When(cassandratest.Table("stays"), cassandratest.Text("UPDATE")).Do(cassandratest.Drop)
		_, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
		lost.End()
		failed := failedWrite(t, err)
		<-time.After(time.Minute)
		was := stayOn(2)
		if was.Version, err = versionOf(s.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Write(t.Context(), "leave", set.Delete(was)); err != nil {
			t.Fatal(err)
		}
		lost = c.When(cassandratest.Table("stays_id")).Do(cassandratest.Apply, cassandratest.Drop)
		_, err = s.w.Write(t.Context(), "stay", set.Insert(stayOn(1)))
		lost.End()
		if !failedWrite(t, err).NotApplied() {
			t.Fatal(err)
		}
		if _, err = s.w.With(writer.Resumes(set)).Resume(t.Context(), again(failed)); !errors.Is(err, writer.ErrConflict) {
			t.Error(err)
		}
		if got, want := rowsOfStay(t, s), [3]int{0, 0, 1}; got != want {
			t.Errorf("rows %v, want %v", got, want)
		}
	})
}

// A clock that is ahead deletes an entity, within the accepted skew, and another process creates its id again under
// another base key. Where the claim of the id was left, the insert evicts it, and is planned above the delete. Where it
// was given up, nothing shows the delete to the insert: the query table lacks the row, as the documentation says.
func TestInsertOfAnIDAfterADeleteByAFasterClock(t *testing.T) {
	t.Parallel()
	set := staySet()
	for name, want := range map[string][3]int{"claim left": {1, 1, 1}, "claim given up": {1, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				s := (&service{Cluster: c}).client(t)
				ahead := s.client(t, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(8 * time.Second) })))
				was := stayOn(2)
				var err error
				if was.Version, err = versionOf(ahead.w.Write(t.Context(), "stay", set.Insert(was))); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				left := c.When(cassandratest.Table("stays_id"), cassandratest.Text("DELETE")).Do(cassandratest.Drop)
				if name == "claim given up" {
					left.End()
				}
				if _, err := ahead.w.Write(t.Context(), "leave", set.Delete(was)); err != nil && name == "claim given up" {
					t.Fatal(err)
				}
				left.End()
				if _, err := s.w.Write(t.Context(), "stay", set.Insert(stayOn(1))); err != nil {
					t.Fatal(err)
				}
				if got := rowsOfStay(t, s); got != want {
					t.Errorf("rows %v, want %v", got, want)
				}
			})
		})
	}
}

// The last step of an insert is slow, as while a node is down. Changes of other entities do not wait for it, though
// their base rows are in the same partition.
func TestOthersOfAPartitionDoNotWaitForTheEnd(t *testing.T) {
	t.Parallel()
	set := staySet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		s := (&service{Cluster: c}).client(t)
		slow := c.When(cassandratest.Table("stays"), cassandratest.Text("USING TIMESTAMP")).
			Do(cassandratest.Delay(900 * time.Millisecond))
		defer slow.End()
		for id := range int32(3) {
			one, began := stayOn(1), time.Now()
			one.ID = id
			if _, err := s.w.Write(t.Context(), "stay", set.Insert(one)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took >= 100*time.Millisecond {
				t.Errorf("insert %d took %v", id, took)
			}
		}
	})
}

// While the batchlog is not trusted, the next logged batch that is sent tries it. A write that was planned, and sent no
// batch, does not keep others from it: one that is planned twice, one whose condition does not hold, one that is too
// large, one whose context has ended, and a Resume that does not know yet.
func TestWhatSendsNoBatchLeavesTheTrial(t *testing.T) {
	t.Parallel()
	set := staySet()
	stays := func(id int32) tables.Change {
		one := stayOn(1)
		one.ID = id
		return set.Insert(one)
	}
	other := func(note string) tables.Change {
		return passes[passToday]().Insert(passToday{PassID: gocql.MustRandomUUID().String(), Holder: "h", Note: &note})
	}
	for name, write := range map[string]func(*testing.T, *service) (writer.Mode, error){
		"planned twice": func(t *testing.T, s *service) (writer.Mode, error) {
			t.Helper()
			res, err := s.w.Write(t.Context(), "stay", stays(7), other("n"))
			return res.Mode, err
		},
		"conflict": func(t *testing.T, s *service) (writer.Mode, error) {
			t.Helper()
			_, err := s.w.Write(t.Context(), "stay", stays(6), other("n"))
			if !errors.Is(err, writer.ErrConflict) {
				t.Errorf("%v", err)
			}
			res, err := s.w.Write(t.Context(), "issue", other("n"), other("n"))
			return res.Mode, err
		},
		"too large": func(t *testing.T, s *service) (writer.Mode, error) {
			t.Helper()
			_, err := s.w.Write(t.Context(), "issue", other(strings.Repeat("n", 60<<10)), other("n"))
			if !errors.Is(err, writer.ErrTooLarge) {
				t.Errorf("%v", err)
			}
			res, err := s.w.Write(t.Context(), "issue", other("n"), other("n"))
			return res.Mode, err
		},
		"context ended": func(t *testing.T, s *service) (writer.Mode, error) {
			t.Helper()
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := s.w.Write(ended, "issue", other("n"), other("n"))
			if failed := failedWrite(t, err); failed.Mode != writer.LoggedBatch || !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			res, err := s.w.Write(t.Context(), "issue", other("n"), other("n"))
			return res.Mode, err
		},
		"undecided Resume": func(t *testing.T, s *service) (writer.Mode, error) {
			t.Helper()
			lost := s.When(cassandratest.Table("stays")).Do(unavailable)
			_, err := s.client(t).w.Write(t.Context(), "stay", stays(7), other("n")) // whose batchlog has not failed
			_, err = s.w.Resume(t.Context(), failedWrite(t, err))
			lost.End()
			if !failedWrite(t, err).Resumable() {
				t.Errorf("%v", err)
			}
			res, err := s.w.Write(t.Context(), "issue", other("n"), other("n"))
			return res.Mode, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set, passes[passToday]())
				s := (&service{Cluster: c}).client(t)
				if _, err := s.w.Write(t.Context(), "stay", stays(6)); err != nil {
					t.Fatal(err)
				}
				fails := c.When(cassandratest.Batch).Choose(func(r cassandratest.Request) []cassandratest.Step {
					if !r.Logged {
						return nil
					}
					return []cassandratest.Step{cassandratest.Fail(cassandratest.WriteTimeout("BATCH_LOG", 1, 0))}
				})
				res, err := s.w.Write(t.Context(), "issue", other("n"), other("n"))
				fails.End()
				if err != nil || res.Mode != writer.Fallback {
					t.Fatalf("%v, %v", res.Mode, err)
				}
				<-time.After(time.Minute)
				if mode, err := write(t, s); err != nil || mode != writer.LoggedBatch {
					t.Errorf("%v, %v, want a logged batch", mode, err)
				}
			})
		})
	}
}
