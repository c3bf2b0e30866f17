package layout_test

import (
	"math"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// A time that a timestamp or date cannot hold is rejected, where the driver would count on into another one.
func TestFarTimesAreRefused(t *testing.T) {
	t.Parallel()
	type row struct{ At, Day time.Time }
	set, err := tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"at"}, SortKey: []string{"day"}},
		tables.Type("day", "date"))
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		row  row
		good bool
	}{
		"near":                     {row{day, day}, true},
		"the year 5,000,000":       {row{day, time.Date(5_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}, true},
		"the year -5,000,000":      {row{day, time.Date(-5_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}, true},
		"a date too far":           {row{day, time.Date(6_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}, false},
		"a date too long ago":      {row{day, time.Date(-6_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}, false},
		"a far timestamp":          {row{time.Unix(1<<53, 0), day}, true},
		"the last timestamp":       {row{time.UnixMilli(math.MaxInt64), day}, true},
		"the first timestamp":      {row{time.UnixMilli(math.MinInt64), day}, true},
		"one more":                 {row{time.UnixMilli(math.MaxInt64).Add(time.Millisecond), day}, false},
		"one less":                 {row{time.UnixMilli(math.MinInt64).Add(-time.Millisecond), day}, false},
		"a timestamp too far":      {row{time.Unix(1<<62, 0), day}, false},
		"a timestamp too long ago": {row{time.Unix(-1<<60, 0), day}, false},
	} {
		_, err := set.Insert(test.row).Internal().Render(1, func(string) string { return "shop" })
		if (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
