package writer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
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
