package writer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

// Servers whose clocks are more than an hour ahead keep entries of pending alive that a writer removes by its own clock. A change of
// such an entity then fails, as not applied, and nothing is lost: it goes on when the clocks are right and as much time has passed.
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
		_, err := s.w.Write(t.Context(), "move", users.Update(eve, moved))
		if failed := failedWrite(t, err); !failed.NotApplied() || !strings.Contains(err.Error(), "more than an hour ahead of this machine's") {
			t.Errorf("more than an hour ahead: %v", err)
		}
		skew(0)
		<-time.After(time.Hour + time.Minute)
		if _, err := s.w.Write(t.Context(), "move", users.Update(eve, moved)); err != nil {
			t.Errorf("when the entry is past: %v", err)
		}
		for city, want := range map[string]int{"bern": 0, "oslo": 1} {
			if n := s.count(t, "SELECT count(*) FROM users_by_city WHERE city = ?", city); n != want {
				t.Errorf("%d in %s, want %d", n, city, want)
			}
		}
	})
}
