package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// errand is an entity whose key columns that change have different rules, and whose base key has more than its id.
type errand struct {
	City, ID        string
	At              time.Time
	Status, Courier string
	Address         string
	UpdatedAt       int64
}

var errands = tables.Must(tables.New[errand]("errand",
	tables.Table{Name: "errands", PartKey: []string{"city", "day"}, SortKey: []string{"id"}},
	tables.Table{Name: "errands_by_id", PartKey: []string{"id"}},
	tables.Table{Name: "errands_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
	tables.Table{Name: "errands_by_courier", PartKey: []string{"courier"}, SortKey: []string{"id"}},
	tables.ID("id"), tables.Derive("day", tables.Day("at")),
	tables.OneOf("status", "placed", "cooking", "delivered"), tables.SingleWriter("courier"), tables.Stamp("updated_at")))

// A change under SingleWriter that begins with the row from before a move leaves a stale row, even if it moves nothing
// itself. Tables whose keys have only columns of OneOf agree. The entity is found by its id alone in a table keyed by
// it, whose row leads to the base row.
func TestUpdateNextToAMove(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, errands, reconcile.Settle(30*time.Second))
		created := errand{City: "Porto", ID: "7", At: hour, Status: "placed", Courier: "a"}
		if _, err := w.Write(t.Context(), "create", errands.Insert(created)); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Load(t.Context(), w, "load", errands, errand{ID: "7"}); writer.OutcomeOf(err) != writer.Invalid {
			t.Errorf("without the base key: %v", err)
		}
		read, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := reader.List(t.Context(), read, "byID", reader.From(errands, "errands_by_id").Eq("id", "7").Limit(1))
		if err != nil || len(list) != 1 {
			t.Fatalf("by id: %v, %v", list, err)
		}
		row, err := writer.Modify(t.Context(), w, "cook", errands, list[0], func(p errand) (errand, error) {
			p.Status = "cooking"
			return p, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		moved, delivered, edited := row, row, row
		moved.Courier, delivered.Status, edited.Address = "b", "delivered", "Rua 2"
		for _, after := range []errand{moved, delivered, edited} {
			if _, err := w.Write(t.Context(), "change", errands.Update(row, after)); err != nil {
				t.Fatal(err)
			}
		}
		report, err := r.Verify(t.Context(), errands)
		found := slices.Collect(report.Findings())
		if len(found) != 1 || found[0].Table != "shop.errands_by_courier" || found[0].Class != reconcile.Ghost {
			t.Errorf("%v\n%v", err, report)
		}
	})
}
