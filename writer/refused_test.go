package writer_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A write that a table refuses for good is resumed by nobody, in whatever order the tables answer, and finished by Resume once the
// cause is gone. Other tables may be resumed meanwhile.
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
		refusing := c.When(cassandratest.Table("tickets_by_id")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
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
