package writer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type visitor struct {
	VisitorID gocql.UUID
	Name      string
	City      string
	Version   gocql.UUID
}

// visitorToday is a visitor with a column more.
type visitorToday struct {
	VisitorID gocql.UUID
	Name      string
	City      string
	Note      *string
	Version   gocql.UUID
}

func visitors[M any]() *tables.Set[M] {
	return tables.Must(tables.New[M]("visitor",
		tables.Table{Name: "visitors", PartKey: []string{"visitor_id"}},
		tables.Table{Name: "visitors_by_city", PartKey: []string{"city"}, SortKey: []string{"visitor_id"}},
		tables.Versioned("version"),
	))
}

type pass struct {
	PassID string
	Holder string
	Ends   *time.Time
	Stamp  int64
}

type passToday struct {
	PassID string
	Holder string
	Ends   *time.Time
	Stamp  int64
	Note   *string
}

func passes[P any]() *tables.Set[P] {
	return tables.Must(tables.New[P]("pass",
		tables.Table{Name: "passes", PartKey: []string{"pass_id"}},
		tables.Table{Name: "passes_by_holder", PartKey: []string{"holder"}, SortKey: []string{"pass_id"}, Columns: []string{"ends", "stamp"}},
		tables.ExpiresAt("ends"), tables.Stamp("stamp"),
	))
}

// A column comes in two releases, as package tables says: while processes of before run, it is absent. They and those of today then finish
// and delete what the others have written.
func TestColumnInTwoReleases(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		former, today := visitors[visitor](), visitors[visitorToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(today, passes[passToday]()))).In(map[string]string{"": "shop"}).Statements()...)
		before, after := (&service{Cluster: c}).client(t), (&service{Cluster: c}).client(t)
		note := "x"
		one := visitorToday{VisitorID: gocql.MustRandomUUID(), Name: "a", City: "oslo"}
		leaveHalf(t, after, today.Insert(one))
		rename(t, before, former, visitor{VisitorID: one.VisitorID})
		after.agree(t, 1, "")
		remove(t, before, former, visitor{VisitorID: one.VisitorID})
		after.agree(t, 0, "")
		if _, err := writer.Load(t.Context(), after.w, "load", today, one); !errors.Is(err, writer.ErrNotFound) {
			t.Errorf("a deleted entity: %v", err)
		}
		if _, err := after.w.Write(t.Context(), "signUp", today.Insert(one)); err != nil {
			t.Fatal(err)
		}
		// The second release, next to the first one.
		row, err := writer.Load(t.Context(), after.w, "load", today, one)
		if err != nil {
			t.Fatal(err)
		}
		noted := row
		noted.Note = &note
		leaveHalf(t, after, today.Update(row, noted))
		rename(t, before, today, one)
		after.agree(t, 1, note)
		remove(t, before, today, one)
		after.agree(t, 0, "")
		if _, err := writer.Load(t.Context(), after.w, "load", today, one); !errors.Is(err, writer.ErrNotFound) {
			t.Errorf("a deleted entity: %v", err)
		}
	})
}

// leaveHalf makes a change that does not reach the query table.
func leaveHalf(tb testing.TB, s *service, change tables.Change) {
	tb.Helper()
	away := s.When(cassandratest.Table("visitors_by_city")).Do(unavailable)
	defer away.End()
	_, err := s.w.Write(tb.Context(), "change", change)
	_ = failedWrite(tb, err)
}

func rename[M any](tb testing.TB, s *service, set *tables.Set[M], key M) {
	tb.Helper()
	if _, err := writer.Modify(tb.Context(), s.w, "rename", set, key, func(m M) (M, error) {
		switch row := any(&m).(type) {
		case *visitor:
			row.Name = "b"
		case *visitorToday:
			row.Name = "b"
		}
		return m, nil
	}); err != nil {
		tb.Fatal(err)
	}
}

func remove[M any](tb testing.TB, s *service, set *tables.Set[M], key M) {
	tb.Helper()
	row, err := writer.Load(tb.Context(), s.w, "load", set, key)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.w.Write(tb.Context(), "remove", set.Delete(row)); err != nil {
		tb.Fatal(err)
	}
}

// agree says whether both tables have so many rows, with this note.
func (s *service) agree(tb testing.TB, rows int, note string) {
	tb.Helper()
	for _, table := range []string{"visitors", "visitors_by_city"} {
		got, err := s.reads.Query("SELECT name, note FROM " + table).Consistency(gocql.Quorum).Iter().SliceMap()
		if err != nil {
			tb.Fatal(err)
		}
		n := 0
		for _, row := range got {
			if row["name"] != "" || row["note"] != "" {
				n++
				if row["name"] != "b" || row["note"] != note {
					tb.Errorf("%s: %v", table, row)
				}
			}
		}
		if n != rows {
			tb.Errorf("%s: %d rows, want %d", table, n, rows)
		}
	}
}

// So an expiry that a process of before sets ends the entity in all tables.
func TestExpiryInTwoReleases(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		former, today := passes[pass](), passes[passToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(today))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		if _, err := s.w.Write(t.Context(), "issue", today.Insert(passToday{PassID: "p", Holder: "h"})); err != nil {
			t.Fatal(err)
		}
		ends := time.Now().Add(time.Minute)
		if _, err := writer.Modify(t.Context(), s.w, "end", former, pass{PassID: "p"}, func(p pass) (pass, error) {
			p.Ends = &ends
			return p, nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := writer.Load(t.Context(), s.w, "load", today, passToday{PassID: "p"}); !errors.Is(err, writer.ErrNotFound) {
			t.Errorf("ended, and there: %v", err)
		}
		if n := s.count(t, "SELECT count(*) FROM passes_by_holder"); n != 0 {
			t.Errorf("%d rows by holder", n)
		}
	})
}
