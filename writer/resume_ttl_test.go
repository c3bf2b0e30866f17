package writer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Resume does not restart a default_time_to_live: a row that is put late ends with the base row, and is not put at all after that. Maps and sets
// that a patch has written end as other columns do.
func TestResumeInTablesWithADefaultTTL(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID, Kind, Name string
		Tags           []string
	}
	set := tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "things_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}, Columns: []string{"name", "tags"}},
		tables.Table{Name: "things_keys", PartKey: []string{"kind"}, SortKey: []string{"id"}, Columns: []string{}},
		tables.Type("tags", "set<text>"),
	))
	patch := set.Patch(thing{ID: "a", Kind: "k", Name: "n", Tags: []string{"x"}}, tables.Column("name"), tables.Elements("tags"))
	for name, change := range map[string]tables.Change{"insert": set.Insert(thing{ID: "a", Kind: "k", Name: "n", Tags: []string{"x"}}), "patch": patch} {
		for _, late := range []time.Duration{30 * time.Minute, 61 * time.Minute} {
			t.Run(fmt.Sprint(name, late), func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					create(c, set)
					all := []string{"things", "things_by_kind", "things_keys"}
					for _, table := range all {
						c.Create("ALTER TABLE shop." + table + " WITH default_time_to_live = 3600")
					}
					w, reads := open(t, c)
					rows := func() (out [3]int) {
						for i, table := range all {
							if err := reads.Query("SELECT count(*) FROM " + table).Consistency(gocql.Quorum).Scan(&out[i]); err != nil {
								t.Fatal(err)
							}
						}
						return out
					}
					began := time.Now()
					lost, too := c.When(cassandratest.Table("things_by_kind")).Do(cassandratest.Drop), c.When(cassandratest.Table("things_keys")).Do(cassandratest.Drop)
					_, err := w.Write(t.Context(), "create", change)
					var failed *writer.Error
					if !errors.As(err, &failed) {
						t.Fatal(err)
					}
					lost.End()
					too.End()
					<-time.After(time.Until(began.Add(late)))
					if _, err := w.Resume(t.Context(), failed); err != nil {
						t.Fatal(err)
					}
					want := [3]int{1, 1, 1}
					if late > time.Hour {
						want = [3]int{}
					}
					if got := rows(); got != want {
						t.Errorf("after %v: %v rows, want %v", late, got, want)
					}
					<-time.After(time.Until(began.Add(61 * time.Minute)))
					if got := rows(); got != [3]int{} {
						t.Errorf("the base row has ended, and the tables have %v rows", got)
					}
				})
			})
		}
	}
}
