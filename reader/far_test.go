package reader

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// A bound beyond what a timeuuid can say leaves out all rows or none, and not what the sum of an overflow says.
func TestFarBounds(t *testing.T) {
	t.Parallel()
	type event struct {
		User string
		TS   gocql.UUID
	}
	set, err := tables.New[event]("event", tables.Table{
		Name: "events", PartKey: []string{"user"},
		SortKey: []string{"ts"},
	}, tables.Type("ts", "timeuuid"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(describe.Of(set.Internal()))
	for i := range 3 {
		f.write(t, set.Insert(event{"a", gocql.UUIDFromTime(midnight.Add(time.Duration(i) * time.Hour))}))
	}
	r := newReader(f, "shop")
	for _, far := range []time.Time{
		time.Date(1583, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-30_000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(-1<<60, 0), time.Date(5300, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(31_198, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(40_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0),
	} {
		above, below := 3, 0
		if far.After(midnight) {
			above, below = 0, 3
		}
		q := From(set, "events").Eq("user", "a")
		for name, test := range map[string]struct {
			query Query[event]
			want  int
		}{
			"Gt": {q.Gt("ts", far), above}, "GtOrEq": {q.GtOrEq("ts", far), above}, "Lt": {q.Lt("ts", far), below},
			"LtOrEq": {q.LtOrEq("ts", far), below},
		} {
			rows, _, err := List(t.Context(), r, "list", test.query)
			if err != nil || len(rows) != test.want {
				t.Errorf("%s %v: %d rows, %v, want %d", name, far, len(rows), err, test.want)
			}
		}
	}
}
