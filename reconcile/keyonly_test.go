package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

type listing struct{ ID, Depot, Note string }

// listings have a query table of keys alone, and a row that is missing there has no cell whose time could be taken.
var listings = tables.Must(tables.New[listing]("listing",
	tables.Table{Name: "listings", PartKey: []string{"id"}},
	tables.Table{Name: "listings_by_depot", PartKey: []string{"depot"}, SortKey: []string{"id"}, Columns: []string{}},
))

// A row of a table of keys alone is put back as old as the key is in the base table, and ends with it. So a delete that
// the base table has not got yet still covers it, even if another column of the base row was written later.
func TestRepairTableOfKeysAlone(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, listings, handed)
		run := func(format string, args ...any) {
			t.Helper()
			if err := s.Writes().Query(fmt.Sprintf(format, args...)).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		ago := func(d time.Duration) int64 { return time.Now().Add(-d).UnixMicro() }
		run("INSERT INTO listings (id, depot) VALUES ('plain', 'north') USING TIMESTAMP %d", ago(time.Hour))
		run("INSERT INTO listings (id, depot, note) VALUES ('ends', 'north', 'n') USING TIMESTAMP %d AND TTL 7200", ago(time.Hour))
		run("INSERT INTO listings (id, depot) VALUES ('deleted', 'north') USING TIMESTAMP %d", ago(3*time.Hour))
		run("DELETE FROM listings_by_depot USING TIMESTAMP %d WHERE depot = 'north' AND id = 'deleted'", ago(2*time.Hour))
		run("UPDATE listings USING TIMESTAMP %d SET note = 'later' WHERE id = 'deleted'", ago(time.Hour))

		report, err := r.Repair(t.Context(), listings)
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Error(err)
		}
		outcomes := make(map[reconcile.Outcome]int)
		for f := range report.Findings() {
			outcomes[f.Outcome]++
		}
		if outcomes[reconcile.Repaired] != 2 || outcomes[reconcile.Shadowed] != 1 || len(outcomes) != 2 {
			t.Errorf("%v\n%v", outcomes, report)
		}
		ids := func() (out []string) {
			iter, id := s.Reads().Query("SELECT id FROM listings_by_depot").Iter(), ""
			for iter.Scan(&id) {
				out = append(out, id)
			}
			if err := iter.Close(); err != nil {
				t.Error(err)
			}
			return out
		}
		if got := ids(); !slices.Equal(got, []string{"ends", "plain"}) {
			t.Errorf("the table has %q", got)
		}
		<-time.After(2 * time.Hour)
		if got := ids(); !slices.Equal(got, []string{"plain"}) {
			t.Errorf("two hours later the table has %q", got)
		}
	})
}
