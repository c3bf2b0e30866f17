package writer_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/writer"
)

// Stored errors of this version of the format are resumed by every later change of the code, or it has another version. The files were made
// in the first minute of a cluster in virtual time.
func TestStoredErrorsStayReadable(t *testing.T) {
	t.Parallel()
	sets := writer.Resumes(visits, users, slots)
	for name, want := range map[string]map[string]int{
		"put":       {"visits_by_login": 1},
		"merge":     {"visits_by_login": 1},
		"remove":    {"visits": 0, "visits_by_login": 0},
		"versioned": {"users": 1, "users_by_city": 1, "users_by_email": 1},
		"compared":  {"slots": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				create(c, visits)
				data, err := os.ReadFile(filepath.Join("testdata", "stored", name+".bin"))
				if err != nil {
					t.Fatal(err)
				}
				failed := new(writer.Error)
				if err := failed.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute) // no write is ahead of the clock
				for _, w := range []*writer.Writer{s.w.With(sets), s.w} {
					if _, err := w.Resume(t.Context(), failed); err != nil {
						t.Fatal(err)
					}
				}
				for table, n := range want {
					if got := s.count(t, "SELECT count(*) FROM "+table); got != n {
						t.Errorf("%d rows in %s, want %d", got, table, n)
					}
				}
			})
		})
	}
}
