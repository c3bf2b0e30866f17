package tables_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// views is a row of counters: views and likes of a page, by page, and by page and day.
type views struct {
	PageID gocql.UUID
	At     time.Time
	Region *string
	Views  int64
	Likes  int64
}

func viewSet(tb testing.TB) *tables.Set[views] {
	tb.Helper()
	s, err := tables.New[views]("views",
		tables.Table{Name: "views", PartKey: []string{"page_id"}},
		tables.Table{Name: "views_by_day", Keyspace: "stats", PartKey: []string{"page_id"}, SortKey: []string{"day DESC"}},
		tables.Table{Name: "likes_by_region", PartKey: []string{"region"}, Columns: []string{"likes"}},
		tables.Derive("day", tables.Day("at")),
		tables.Type("views", "counter"), tables.Type("likes", "counter"),
	)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func aView() views {
	return views{PageID: uuid4, At: time.UnixMicro(now), Region: ptr("eu"), Views: 1, Likes: -2}
}

// A table has its own key and the counters, nothing of the other tables' keys and of what a bucket follows from. Zeros
// are left out, and what is left of a row.
func TestCounterGolden(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]views{
		"counter":           aView(),
		"counter_one_zero":  with(aView(), func(v *views) { v.Likes = 0 }),
		"counter_no_region": with(aView(), func(v *views) { v.Region, v.Views = nil, 0 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := viewSet(t).Add(row).Internal().Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".golden", dump(r))
		})
	}
}

func TestCounterRefusals(t *testing.T) {
	t.Parallel()
	counting, v := viewSet(t), aView()
	o := Order{OrderID: uuid1, UserID: uuid4, Status: Paid}
	const only = ": Add is their only verb, as a counter cannot be set, and once deleted it cannot safely be used again"
	for name, test := range map[string]struct {
		change         tables.Change
		entity, column string
		reason         string
	}{
		"insert": {counting.Insert(v), "views", "", "insert of counters" + only},
		"update": {counting.Update(v, v), "views", "", "update of counters" + only},
		"upsert": {counting.Upsert(v), "views", "", "upsert of counters" + only},
		"delete": {counting.Delete(v), "views", "", "delete of counters" + only},
		"all zero": {
			counting.Add(with(v, func(v *views) { v.Views, v.Likes = 0, 0 })), "views", "",
			"every counter of the row is zero: there is nothing to add",
		},
		"no counters": {orders(t).Add(o), "order", "", "Add is for sets of counters, and this set has none"},
		"no key": {
			counting.Add(with(v, func(v *views) { v.PageID = gocql.UUID{} })), "views", "page_id",
			"a key column must not be the zero UUID",
		},
		"no time": {
			counting.Add(with(v, func(v *views) { v.At = time.Time{} })), "views", "at",
			"a key column must not be the zero time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.change.Internal().Render(now, nil)
			invalidAs(t, err, tables.InvalidError{Entity: test.entity, Column: test.column, Reason: test.reason})
		})
	}
}

func TestCounterDeclarations(t *testing.T) {
	t.Parallel()
	type count struct {
		ID, Kind string
		N        int64
		M        int64
	}
	type alongside struct {
		ID    string
		N     int64
		Title string
	}
	type narrow struct {
		ID string
		N  int32
	}
	type optional struct {
		ID string
		N  *int64
	}
	type many struct {
		ID string
		N  map[string]int64
	}
	type timed struct {
		ID      string
		N       int64
		Stamp   int64
		Expires time.Time
	}
	byID := tables.Table{Name: "counts", PartKey: []string{"id", "kind"}}
	byOwnID := tables.Table{Name: "counts", PartKey: []string{"id"}}
	n, m := tables.Type("n", "counter"), tables.Type("m", "counter")
	const alone = "which Cassandra rejects: declare the counters as a set of their own, and write both in one Write"
	const moves = " in a set of counters: a row of counters cannot move, as what it has counted cannot be set elsewhere"
	runFaultCases(t, []faultCase{
		{"sound", declaring[count](byID, n, m), nil},
		{"sums over a part of the key", declaring[count](byID, tables.Table{Name: "by_kind", PartKey: []string{"kind"}}, n,
			m), nil},
		{"buckets", declaring[count](byID, tables.Table{Name: "by_kind", PartKey: []string{"kind", "bucket"}}, n, m,
			tables.Derive("bucket", tables.Hash(4, "id"))), nil},
		{"alongside a bigint", declaring[count](byID, n), []string{"column m: is in a table with counter n, " + alone}},
		{"alongside a text", declaring[alongside](byOwnID, n), []string{"column title: is in a table with counter n, " +
			alone}},
		{"in a key", declaring[count](tables.Table{Name: "counts", PartKey: []string{"id", "kind"}, SortKey: []string{"n"}},
			n, m), []string{
			"column n: a counter cannot be in a key, nor can a key follow from it: it changes with every write",
		}},
		{"under a bucket", declaring[count](byID, tables.Table{
			Name: "by_bucket", PartKey: []string{"bucket"},
			SortKey: []string{"id", "kind"},
		}, n, m,
			tables.Derive("bucket", tables.Hash(4, "n"))), []string{
			"column n: a counter cannot be in a key, nor can a key follow from it: it changes with every write",
		}},
		{"int32", declaring[narrow](byOwnID, n), []string{
			"column n: a counter wants a Go int64, which holds what to add, not int32",
		}},
		{
			"pointer", declaring[optional](byOwnID, n),
			[]string{"column n: a counter wants a Go int64, which holds what to add, not *int64"},
		},
		{"in a collection", declaring[many](byOwnID, tables.Type("n", "map<text, counter>")), []string{
			`column n: CQL type "map<text, counter>": ` +
				"map cannot hold counter: a counter is a column of its own, not in a collection and not frozen",
		}},
		{"frozen", declaring[count](byID, tables.Type("n", "frozen<counter>"), m), []string{
			`column n: CQL type "frozen<counter>": ` +
				"frozen applies to collections and user-defined types, not to counter: a counter is a column of its own, not in " +
				"a collection and not frozen",
			"column n: is in a table with counter m, " + alone,
		}},
		{"OneOf", declaring[count](byID, tables.Table{Name: "by_kind", PartKey: []string{"kind"}}, n, m,
			tables.OneOf("kind", "a", "b")), []string{
			"table counts: column kind: the base key identifies the entity and cannot change, so OneOf is rejected",
			"OneOf needs Stamp(column): without the stamp of the row that was read, a writer whose clock is behind loses its " +
				"update",
			"OneOf" + moves,
		}},
		{"SingleWriter", declaring[count](byOwnID, tables.Table{Name: "by_kind", PartKey: []string{"kind"}}, n, m,
			tables.SingleWriter("kind")), []string{
			"SingleWriter" + moves,
		}},
		{"Stamp and ExpiresAt", declaring[timed](byOwnID, n, tables.Stamp("stamp"), tables.ExpiresAt("expires")), []string{
			"Stamp in a set of counters: Cassandra gives counters their timestamps itself, and nothing orders additions",
			"ExpiresAt in a set of counters: Cassandra rejects a TTL on counters",
			"column stamp: is in a table with counter n, " + alone,
			"column expires: is in a table with counter n, " + alone,
		}},
		{"Atomic", declaring[count](byID, n, m, tables.Atomic()), []string{
			"Atomic in a set of counters: Cassandra rejects counters in a logged batch, whose replay would count twice",
		}},
		{"SweepInserts", declaring[count](byID, n, m, tables.SweepInserts()), []string{
			"SweepInserts without a OneOf column has nothing to sweep",
			"SweepInserts in a set of counters: counters are never inserted, only added to",
		}},
		{"a table without", declaring[count](byID, tables.Table{
			Name: "by_kind", PartKey: []string{"kind"},
			Columns: []string{"id"},
		}, n, m), []string{
			"table by_kind: has no counter in it, and all other tables of the set count",
			"table by_kind: column id: is not a counter: outside of its key a table of counters has counters only",
		}},
		{"several functions", declaring[count](byID, tables.Table{Name: "by_kind", PartKey: []string{"kind", "bucket"}}, n, m,
			tables.Derive("bucket", tables.Hash(4, "id"), tables.Since{Bucket: tables.Hash(8, "id")})), []string{
			"table by_kind: column bucket: has several functions without a time from which on they are valid: rows under " +
				"another function are deleted, and what they have counted would be lost",
		}},
	})
}

// Reading names the columns that a table has, and Check prepares the statement that is sent.
func TestCounterDescription(t *testing.T) {
	t.Parallel()
	s := viewSet(t)
	if stmt, _ := s.Select(); stmt != "SELECT page_id,views,likes FROM views WHERE page_id=?" {
		t.Error(stmt)
	}
	d := describe.Of(s.Internal())
	var columns []string
	for n, table := range d.Tables {
		for _, c := range table.Columns {
			columns = append(columns, fmt.Sprintf("%s.%s %s", table.Name, c.Name, c.Type))
		}
		if texts := s.Internal().Statements(n, "ks"); len(texts) != 1 || !strings.HasPrefix(texts[0], "UPDATE ks."+table.Name+
			" SET ") {
			t.Errorf("%s: %q", table.Name, texts)
		}
	}
	const want = "views.page_id uuid, views.views counter, views.likes counter, views_by_day.page_id uuid, " +
		"views_by_day.day text, " +
		"views_by_day.views counter, views_by_day.likes counter, likes_by_region.region text, likes_by_region.likes counter"
	if got := strings.Join(columns, ", "); got != want || !d.Counts {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Of an Increment nothing is stored that could be sent again.
func TestCounterBinary(t *testing.T) {
	t.Parallel()
	r, err := viewSet(t).Add(aView()).Internal().Render(now, func(string) string { return "shop" })
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.Mutations[0].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var m statement.Mutation
	if err := m.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if m.Kind != statement.Increment || m.Keyspace != "shop" || m.Table != "views" {
		t.Errorf("%v", m)
	}
	if m.Statement != "" || m.Args != nil || m.PartitionKey != nil || strings.Contains(string(data), "page_id") {
		t.Errorf("%q of %q", m.Statement, data)
	}
	if again, err := m.MarshalBinary(); err != nil || string(again) != string(data) {
		t.Errorf("stored again: %q, %v, want %q", again, err, data)
	}
}
