package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type crate struct {
	ItemID int
	Status string
	Stamp  int64
}

func inBuckets(functions ...tables.Bucket) *tables.Set[crate] {
	var later []tables.Since
	for _, b := range functions[1:] {
		later = append(later, tables.Since{Bucket: b})
	}
	return tables.Must(tables.New[crate]("item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_status", PartKey: []string{"status", "bucket"}, SortKey: []string{"item_id"}},
		tables.Derive("bucket", functions[0], later...),
		tables.OneOf("status", "a", "b", "c"), tables.Stamp("stamp")))
}

// Rows that are where an earlier bucket function has put them are found and left there, where readers ask for them: a
// process with that function last may have deleted them under the new one at the time at which they would be put. What
// is missing or differs is repaired.
func TestStaleBuckets(t *testing.T) {
	t.Parallel()
	few, many := tables.Hash(2, "item_id"), tables.Hash(5, "item_id")
	for name, before := range map[string]*tables.Set[crate]{"the list ends with the old one": inBuckets(many, few), "there was no list": inBuckets(few)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				after := inBuckets(few, many)
				s, w, r := openSet(t, c, before, reconcile.Settle(30*time.Second), handed)
				const entities = 40
				for id := range entities {
					if _, err := w.Write(t.Context(), "create", before.Insert(crate{ItemID: id, Status: "a"})); err != nil {
						t.Fatal(err)
					}
				}
				rows := func() (n int) {
					t.Helper()
					iter := s.Reads().Query("SELECT item_id FROM items_by_status").Iter()
					n = iter.NumRows()
					if err := iter.Close(); err != nil {
						t.Fatal(err)
					}
					return n
				}
				<-time.After(time.Hour)
				report, err := r.Repair(t.Context(), after)
				if n := rows(); n != entities || !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%d of %d rows are left: %v\n%v", n, entities, err, report)
				}
				stale := 0
				for f := range report.Findings() {
					if f.Class == reconcile.Ghost {
						stale++
					}
					if f.Outcome != reconcile.Found || !strings.Contains(f.Reason, "an earlier bucket function") {
						t.Error(f)
					}
				}
				if stale < entities/4 {
					t.Errorf("%d rows are in stale buckets", stale)
				}
				for id := range entities {
					if _, err := writer.Modify(t.Context(), w, "move", after, crate{ItemID: id}, func(o crate) (crate, error) { return o, nil }); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour)
				if report, err := r.Verify(t.Context(), after); err != nil || rows() != entities {
					t.Errorf("after Modify: %v, %d rows\n%v", err, rows(), report)
				}
				if err := s.Writes().Query("TRUNCATE items_by_status").Exec(); err != nil {
					t.Fatal(err)
				}
				if report, err := r.Repair(t.Context(), after); err != nil || rows() != entities {
					t.Errorf("after TRUNCATE: %v, %d rows\n%v", err, rows(), report)
				}
			})
		})
	}
}
