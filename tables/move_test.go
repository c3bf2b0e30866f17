package tables_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Two columns that a single writer moves stood in one key. A change of both deleted, alongside the former row, two that
// cannot exist: one with each column old and the other new.
func TestSingleWriterMovesAsAWhole(t *testing.T) {
	t.Parallel()
	type parcel struct {
		ParcelID     gocql.UUID
		Depot, Shelf string
	}
	s := tables.Must(tables.New[parcel]("parcel",
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Table{Name: "parcels_by_place", PartKey: []string{"depot", "shelf"}, SortKey: []string{"parcel_id"}},
		tables.SingleWriter("depot"), tables.SingleWriter("shelf"),
	))
	before := parcel{gocql.MustRandomUUID(), "north", "a1"}
	for name, c := range map[string]struct {
		after   parcel
		removes int
	}{
		"both":    {parcel{before.ParcelID, "south", "b2"}, 1},
		"one":     {parcel{before.ParcelID, "south", "a1"}, 1},
		"neither": {before, 0},
	} {
		r, err := s.Update(before, c.after).Internal().Render(1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		removes := 0
		for _, m := range r.Mutations {
			if m.Kind == statement.Remove {
				removes++
			}
		}
		if removes != c.removes {
			t.Errorf("%s: %d removes, want %d", name, removes, c.removes)
		}
	}
}

// A key held a column that a single writer moves and one that is swept. A move deletes the rows under the former place
// for every value of the domain, and those under the new place too, its own excepted: another writer may have moved
// there.
func TestSingleWriterMovesAcrossASweep(t *testing.T) {
	t.Parallel()
	type parcel struct {
		ParcelID  int32
		Depot     string
		State     string
		UpdatedAt int64
	}
	s := tables.Must(tables.New[parcel]("parcel",
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Table{Name: "parcels_in_depot", PartKey: []string{"depot"}, SortKey: []string{"state", "parcel_id"}},
		tables.SingleWriter("depot"), tables.OneOf("state", "a", "b", "c"), tables.Stamp("updated_at"),
	))
	before := parcel{ParcelID: 1, Depot: "north", State: "a", UpdatedAt: now - 5}
	for name, c := range map[string]struct {
		after parcel
		want  []string
	}{
		"both": {parcel{ParcelID: 1, Depot: "south", State: "b"}, []string{
			"put south b", "remove north a", "remove north b", "remove north c", "remove south a", "remove south c-1",
		}},
		"the single writer's": {parcel{ParcelID: 1, Depot: "south", State: "a"}, []string{
			"put south a", "remove north a", "remove north b", "remove north c", "remove south b-1", "remove south c-1",
		}},
		"the swept one": {parcel{ParcelID: 1, Depot: "north", State: "b"}, []string{
			"put north b", "remove north a",
			"remove north c-1",
		}},
		"neither": {before, []string{"put north a", "remove north b-1", "remove north c-1"}},
	} {
		var got []string
		for _, m := range rendered(t, s.Update(before, c.after)) {
			if m.Table != "parcels_in_depot" {
				continue
			}
			text := func(name string) string { return string(m.Args[slices.Index(m.Names, name)].(*cqltype.Value).Data) }
			what := fmt.Sprintf("%s %s %s", m.Kind, text("depot"), text("state"))
			if m.Timestamp != now {
				what += fmt.Sprint(m.Timestamp - now)
			}
			got = append(got, what)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestUnsignedIntegersNeedAWiderType(t *testing.T) {
	t.Parallel()
	type row struct {
		ID    string
		Count uint32
	}
	declare := func(cql string) error {
		_, err := tables.New[row]("row", tables.Table{Name: "rows_by_id", PartKey: []string{"id"}}, tables.Type("count", cql))
		return err
	}
	if err := declare("int"); err == nil {
		t.Error("uint32 as int is accepted: 3,000,000,000 would be stored as -1,294,967,296")
	}
	if err := declare("bigint"); err != nil {
		t.Error(err)
	}
}
