package writer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

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
// come and gone with its id. It is not sent again, and gives its claim back. A new insert is in every table.
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
		if !failed.NotApplied() || !failed.Resumable() {
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
		if e := failedWrite(t, err); !errors.Is(err, writer.ErrConflict) || e.Resumable() {
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
