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

// Two changes of one entity are what is wrong with a write, also where one of them lacks what the other would give it.
func TestChangedTwice(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		u := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome"}
		moved := u
		moved.City = "oslo"
		for name, changes := range map[string][]tables.Change{
			"insert first": {users.Insert(u), users.Update(u, moved)},
			"update first": {users.Update(u, moved), users.Insert(u)},
		} {
			_, err := s.w.Write(t.Context(), "join", changes...)
			if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "entity user: changed twice in one write") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What was not written because a condition did not hold says that it did not, and not that this is not known.
func TestConditionDidNotHold(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		u := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome"}
		if _, err := s.w.Write(t.Context(), "join", users.Insert(u)); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "join", users.Insert(u))
		if !errors.Is(err, writer.ErrConflict) || !strings.Contains(err.Error(), "users_by_city not applied, not sent: the condition of the write did not hold") {
			t.Error(err)
		}
	})
}

// Modify of a counter set is rejected, whether there is a row or not.
func TestModifyOfCounters(t *testing.T) {
	t.Parallel()
	type hits struct {
		PageID string
		Hits   int64
	}
	set := tables.Must(tables.New[hits]("hits", tables.Table{Name: "hits", PartKey: []string{"page_id"}}, tables.Type("hits", "counter")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		for _, there := range []bool{false, true} {
			if there {
				if _, err := w.Write(t.Context(), "count", set.Add(hits{"a", 1})); err != nil {
					t.Fatal(err)
				}
			}
			_, err := writer.Modify(t.Context(), w, "count", set, hits{PageID: "a"}, func(h hits) (hits, error) {
				t.Error("called")
				return h, nil
			})
			if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "update of counters: Add is their only verb") {
				t.Errorf("a row %t: %v", there, err)
			}
		}
	})
}
