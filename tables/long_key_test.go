package tables_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/tables"
)

// Cassandra bounds the clustering columns of a row together. Of a before-image those of a query table may be too long,
// as other code can have written the base row: there is no row to remove then.
func TestClusteringLimit(t *testing.T) {
	t.Parallel()
	type file struct {
		Disk, Dir, Name string
		Tag             *string
	}
	s := tables.Must(tables.New[file]("file", tables.Table{
		Name: "files", PartKey: []string{"disk"},
		SortKey: []string{"dir", "name"},
	},
		tables.Table{Name: "files_by_tag", PartKey: []string{"disk"}, SortKey: []string{"tag", "dir", "name"}},
		tables.SingleWriter("tag")))
	long := func(n int) *string { return ptr(strings.Repeat("x", n)) }
	const reason = " hold at most 65535 bytes together, in this row 65536: make the values shorter, or take a column " +
		"out of the SortKey"
	base := tables.InvalidError{Entity: "file", Table: "files", Reason: "the clustering columns dir, name" + reason}
	byTag := tables.InvalidError{Entity: "file", Table: "files_by_tag", Reason: "the clustering columns tag, dir, name" +
		reason}
	short := file{"1", "d", "n", nil}
	longest, tooLong := file{"1", "d", "n", long(65_533)}, file{"1", "d", "n", long(65_534)}
	longestKey, tooLongKey := file{"1", *long(40_000), *long(25_535), nil}, file{"1", *long(40_000), *long(25_536), nil}
	for name, test := range map[string]struct {
		change tables.Change
		want   tables.InvalidError
		rows   int
	}{
		"longest":                 {s.Insert(longest), tables.InvalidError{}, 2},
		"too long":                {s.Insert(tooLong), byTag, 0},
		"to one that is too long": {s.Update(short, tooLong), byTag, 0},
		"from one":                {s.Update(tooLong, longest), tables.InvalidError{}, 2},
		"delete of the longest":   {s.Delete(longest), tables.InvalidError{}, 2},
		"delete":                  {s.Delete(tooLong), tables.InvalidError{}, 1},
		"longest key, in no row of the other table": {s.Insert(longestKey), tables.InvalidError{}, 1},
		"key that is too long":                      {s.Insert(tooLongKey), base, 0},
		"delete of that":                            {s.Delete(tooLongKey), base, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := test.change.Internal().Render(1, nil)
			if len(r.Mutations) != test.rows {
				t.Errorf("%d mutations, want %d: %v", len(r.Mutations), test.rows, err)
			}
			if test.want.Reason != "" {
				invalidAs(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
