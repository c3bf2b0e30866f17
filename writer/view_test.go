package writer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// View counts in three tables. Two of them share their partition key.
type View struct {
	PageID gocql.UUID
	At     time.Time
	Region string
	Views  int64
	Likes  int64
}

func viewSet(tb testing.TB) *tables.Set[View] {
	tb.Helper()
	return mustSet[View](tb, "view",
		tables.Table{Name: "views", PartKey: []string{"page_id"}},
		tables.Table{Name: "views_by_day", PartKey: []string{"page_id"}, SortKey: []string{"day DESC"}},
		tables.Table{Name: "views_by_region", PartKey: []string{"region"}},
		tables.Derive("day", tables.Day("at")),
		tables.Type("views", "counter"), tables.Type("likes", "counter"),
	)
}

func newView() View {
	return View{
		PageID: mustUUID("44444444-5b1c-4c1e-9a51-0123456789ab"), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Region: "eu", Views: 1, Likes: -2,
	}
}

// viewTables are those of viewSet by request.
var viewTables = [][]string{{"views", "views_by_day"}, {"views_by_region"}}

// shown is what a request is of, and how it goes.
func shown(r fanout.Attempt) string {
	var names []string
	for _, m := range r.Mutations {
		names = append(names, fmt.Sprintf("%v %s", m.Kind, m.Table))
	}
	slices.Sort(names)
	return fmt.Sprintf("%v: %s", r.Kind, strings.Join(slices.Compact(names), ", "))
}

func shownAll(requests []fanout.Attempt) []string {
	var out []string
	for _, r := range requests {
		out = append(out, shown(r))
	}
	slices.Sort(out)
	return out
}
