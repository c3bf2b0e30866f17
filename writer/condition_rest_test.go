package writer_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type event struct {
	Day     string
	EventID gocql.UUID
	Kind    string
}

// A client that dies after the condition leaves the row of the condition alone with the write. The next write of the entity finishes its query
// tables, and no other entity; the same write again with At writes all of the rest.
func TestRestOfAWriteWithACondition(t *testing.T) {
	t.Parallel()
	set := patronSet()
	events := tables.Must(tables.New[event]("event", tables.Table{Name: "events", PartKey: []string{"day"}, SortKey: []string{"event_id"}}))
	for name, want := range map[string]int{"next write": 0, "same write": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set, events)
				first, s := open(t, c)
				second, _ := open(t, c)
				rows := func(table string) (n int) {
					if err := s.Query("SELECT count(*) FROM " + table).Scan(&n); err != nil {
						t.Fatal(err)
					}
					return n
				}
				p, at := newPatron(), writer.At(time.Now().UnixMicro())
				changes := []tables.Change{set.Insert(p), events.Insert(event{"2026-11-26", gocql.UUID{1}, "signed up"})}
				died := c.When(cassandratest.Table("events")).Do(cassandratest.Drop)
				if _, err := first.With(at).Write(t.Context(), "signUp", changes...); err == nil || failedWrite(t, err).NotApplied() {
					t.Fatalf("the rest was to be lost: %v", err)
				}
				died.End()
				if rows("patrons") != 1 || rows("patrons_by_city") != 0 || rows("events") != 0 {
					t.Fatal("the row of the condition is not alone with the write")
				}
				var err error
				if want == 1 {
					_, err = second.With(at).Write(t.Context(), "signUp", changes...)
				} else {
					_, err = writer.Modify(t.Context(), second, "tag", set, p, func(p patron) (patron, error) { p.Tags = nil; return p, nil })
				}
				if err != nil || rows("patrons_by_city") != 1 || rows("events") != want {
					t.Errorf("%v: %d rows in the query table, %d events, want %d", err, rows("patrons_by_city"), rows("events"), want)
				}
			})
		})
	}
}
