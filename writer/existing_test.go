package writer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A row that was there before its set became Versioned has no version. An insert of its entity is a conflict all the same, also one
// that comes out of storage: it would write over the row, and leave what the row has in the query tables behind.
func TestInsertOverARowWithoutVersionIsAConflict(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		id := gocql.MustRandomUUID()
		away := c.When(cassandratest.Table("users")).Do(unavailable)
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: "new@x", City: "oslo", Name: "new"}))
		away.End()
		failed := failedWrite(t, err)
		for _, table := range []string{"users", "users_by_city"} {
			if err := s.reads.Query("INSERT INTO "+table+" (user_id, email, city, name) VALUES (?, 'old@x', 'rome', 'old')", id).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.w.Resume(t.Context(), again(failed))
		if !errors.Is(err, writer.ErrConflict) {
			t.Errorf("resumed: %v", err)
		}
		_, err = s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: "new@x", City: "oslo", Name: "new"}))
		if now, ok := writer.Current[user](err); !errors.Is(err, writer.ErrConflict) || !failedWrite(t, err).NotApplied() || !ok || now.Name != "old" {
			t.Errorf("%v, with %+v", err, now)
		}
		if n := s.count(t, "SELECT count(*) FROM users_by_city"); n != 1 {
			t.Errorf("%d rows of one user", n)
		}
	})
}

// So has one in which the first columns are null, be it that they were never known, or that they were added for the library.
func TestInsertOverARowWithOneColumnIsAConflict(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		for _, column := range []string{"email", "city", "name"} {
			id := gocql.MustRandomUUID()
			away := c.When(cassandratest.Table("users")).Do(unavailable)
			_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: column, City: "oslo", Name: "new"}))
			away.End()
			failed := failedWrite(t, err)
			if err := s.reads.Query("INSERT INTO users (user_id, "+column+") VALUES (?, 'old')", id).Exec(); err != nil {
				t.Fatal(err)
			}
			if _, err = s.w.Resume(t.Context(), again(failed)); !errors.Is(err, writer.ErrConflict) {
				t.Errorf("%s, resumed: %v", column, err)
			}
			_, err = s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: column, City: "oslo", Name: "new"}))
			if now, ok := writer.Current[user](err); !errors.Is(err, writer.ErrConflict) || !ok || now.Email+now.City+now.Name != "old" {
				t.Errorf("%s: %v, with %+v", column, err, now)
			}
		}
	})
}

// The answer to an insert that is rejected holds all columns of the row, those too that the set does not declare and gocql has no Go type for.
func TestConflictWithARowOfUnknownTypes(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		for _, column := range []string{"pending text", "pair tuple<int, text>", "odd map<frozen<list<int>>, int>"} {
			if err := s.reads.Query("ALTER TABLE slots ADD " + column).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.reads.Query("INSERT INTO slots (slot_id, holder, pending, pair, odd) VALUES ('a', 'ann', 'x', (1, 'x'), {[1]: 2})").Exec(); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "reserve", slots.Insert(slot{SlotID: "a", Holder: "bob"}))
		if now, ok := writer.Current[slot](err); !errors.Is(err, writer.ErrConflict) || !ok || now.Holder != "ann" {
			t.Errorf("%v, with %+v", err, now)
		}
	})
}

// Keys of rows from before a Unique table was declared have no claims, and get none by an update that leaves them: whoever comes then
// takes them. A claim made by hand counts like any other.
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
				if err := s.reads.Query("INSERT INTO users_by_email (email, user_id, claim) VALUES (?, ?, now()) IF NOT EXISTS", email, old.UserID).Exec(); err != nil {
					t.Fatal(err)
				}
			}
			young := user{UserID: gocql.MustRandomUUID(), Email: email, City: "rome", Name: "young"}
			if _, err := s.w.Write(t.Context(), "signUp", users.Insert(young)); errors.Is(err, writer.ErrTaken) != (email == "claimed@x") {
				t.Errorf("%s: %v", email, err)
			}
		}
	})
}

func versionOf(r writer.Result, err error) (gocql.UUID, error) { return r.Version, err }

// A row of a Unique table that names no entity, as other code may have put it, is an error that says so, and nothing was written.
func TestUniqueKeyOfNobody(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		if err := s.reads.Query("INSERT INTO users_by_email (email) VALUES ('a@x')").Exec(); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: "ann"}))
		if e := failedWrite(t, err); !e.NotApplied() || errors.Is(err, writer.ErrTaken) ||
			!strings.Contains(err.Error(), ".users_by_email names no entity") || strings.Contains(err.Error(), "a@x") {
			t.Errorf("%v", err)
		}
		ann := user{UserID: gocql.MustRandomUUID(), Email: "b@x", City: "rome", Name: "ann"}
		if ann.Version, err = versionOf(s.w.Write(t.Context(), "signUp", users.Insert(ann))); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"DELETE FROM users_by_email WHERE email = 'b@x'", "INSERT INTO users_by_email (email) VALUES ('b@x')"} {
			if err := s.reads.Query(statement).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.w.Write(t.Context(), "leave", users.Delete(ann)); err != nil {
			t.Errorf("a delete that gives up such a key: %v", err)
		}
	})
}

// A key whose claim got no answer may be kept from other entities for as long as ClaimGrace, while the same entity has it at once. The error, which
// has a result only for tables with rows of the entity, names the table of the claim.
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
		if err := s.reads.Query("INSERT INTO users_by_email (email, user_id) VALUES ('a@x', ?)", gocql.MustRandomUUID()).Exec(); err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{"ann", "bob"} {
			_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome", Name: who}))
			if errors.Is(err, writer.ErrTaken) != (who == "bob") || who == "ann" && err != nil {
				t.Errorf("%s: %v", who, err)
			}
		}
	})
}
