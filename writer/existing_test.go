package writer_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
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
