package reader_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type doc struct {
	Tenant  string
	N       int
	Title   string
	Note    *string
	Version gocql.UUID
}

// docs is a Versioned set whose base table has many entities in a partition.
func docs(tb testing.TB) *tables.Set[doc] {
	tb.Helper()
	set, err := tables.New[doc]("doc",
		tables.Table{Name: "docs", PartKey: []string{"tenant"}, SortKey: []string{"n"}},
		tables.Table{Name: "docs_by_title", PartKey: []string{"title"}, SortKey: []string{"tenant", "n"}},
		tables.Versioned("version"))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// library is a cluster with the tables of docs.
type library struct {
	*cassandratest.Cluster

	t             *testing.T
	set           *tables.Set[doc]
	writes, reads *gocql.Session
	s             *session.Session
	w             *writer.Writer
	r             *reader.Reader
}

func open(t *testing.T, c *cassandratest.Cluster) *library {
	t.Helper()
	set := docs(t)
	c.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	connect := func() *gocql.Session {
		config := session.Configure(c.Config(), "dc1")
		config.Keyspace = "shop"
		s, err := session.Connect(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	l := &library{Cluster: c, t: t, set: set, writes: connect(), reads: connect()}
	l.s = testsession.New(t, l.writes, l.reads)
	var err error
	if l.w, err = writer.New(l.s, writer.WithClock(writer.NewClock(time.Now))); err != nil {
		t.Fatal(err)
	}
	if l.r, err = reader.New(l.s, reader.PageSize(7)); err != nil {
		t.Fatal(err)
	}
	return l
}

// write makes docs number 0 to n-1 of the tenant, and deletes those that gone says.
func (l *library) write(n int, gone func(n int) bool) {
	l.t.Helper()
	for i := range n {
		d := doc{Tenant: "a", N: i, Title: fmt.Sprint("title ", i%2)}
		result, err := l.w.Write(l.t.Context(), "create", l.set.Insert(d))
		if err != nil {
			l.t.Fatal(err)
		}
		if !gone(i) {
			continue
		}
		d.Version = result.Version
		if _, err := l.w.Write(l.t.Context(), "delete", l.set.Delete(d)); err != nil {
			l.t.Fatal(err)
		}
	}
}

func numbers(rows []doc) []int {
	out := []int{}
	for _, d := range rows {
		out = append(out, d.N)
	}
	return out
}

// A deleted entity of a Versioned set is no row, wherever in a page it stands, in any order, with any limit, and behind
// any token.
func TestDeletedEntitiesAreNoRows(t *testing.T) {
	t.Parallel()
	const all = 60
	for name, gone := range map[string]func(int) bool{
		"none":       func(int) bool { return false },
		"every":      func(int) bool { return true },
		"every 2nd":  func(n int) bool { return n%2 == 1 },
		"first half": func(n int) bool { return n < all/2 },
		"last half":  func(n int) bool { return n >= all/2 },
		"all but 1":  func(n int) bool { return n != 31 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				l := open(t, c)
				l.write(all, gone)
				var want []int
				for n := range all {
					if !gone(n) {
						want = append(want, n)
					}
				}
				for _, order := range []string{"n ASC", "n DESC"} {
					for _, limit := range []int{0, 1, 5, 10, len(want), len(want) + 1, 100} {
						l.pages(order, limit, want)
					}
					slices.Reverse(want)
				}
			})
		})
	}
}

// pages reads all of the tenant, limit rows at a time.
func (l *library) pages(order string, limit int, want []int) {
	l.t.Helper()
	var got []doc
	var token reader.Token
	for {
		rows, next, err := reader.List(l.t.Context(), l.r, "list",
			reader.From(l.set, "docs").Eq("tenant", "a").OrderBy(order).Limit(limit).After(token))
		if err != nil {
			l.t.Fatal(err)
		}
		if left := len(want) - len(got); limit > 0 && len(rows) != min(limit, left) {
			l.t.Errorf("%s, limit %d: a page of %d rows, where %d are left", order, limit, len(rows), left)
		}
		got, token = append(got, rows...), next
		if token == "" {
			break
		}
	}
	if !slices.Equal(numbers(got), append([]int{}, want...)) {
		l.t.Errorf("%s, limit %d: got %v, want %v", order, limit, numbers(got), want)
	}
}

// Rows that a query has to pass over cost pages that grow, and not a request for each row that is wanted.
func TestDeletedEntitiesArePassedInFewPages(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		l := open(t, c)
		l.write(130, func(n int) bool { return n < 128 })
		from := len(l.Journal())
		rows, _, err := reader.List(t.Context(), l.r.With(reader.PageSize(1000)), "first", reader.From(l.set, "docs").
			Eq("tenant", "a").Limit(1))
		if err != nil || !slices.Equal(numbers(rows), []int{128}) {
			t.Fatalf("%v, %v", numbers(rows), err)
		}
		pages := l.Journal(cassandratest.Execute, cassandratest.Table("docs"),
			cassandratest.Where(func(r cassandratest.Request) bool { return r.Number > from }))
		if len(pages) > 9 { // 1, 2, 4 and so on
			t.Errorf("%d pages for one row behind 128 that are gone", len(pages))
		}
	})
}

// What is empty but not null is a row; so is one in which one column alone is there; a row under its base key alone
// is none, pending or not, as writer.Load sees it too.
func TestWhatARowNeedsToBeOne(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		l := open(t, c)
		for _, text := range []string{
			"INSERT INTO shop.docs (tenant, n, title) VALUES ('a', 1, '')",
			"INSERT INTO shop.docs (tenant, n, note) VALUES ('a', 2, 'x')",
			"INSERT INTO shop.docs (tenant, n) VALUES ('a', 3)",
			"INSERT INTO shop.docs (tenant, n, version) VALUES ('a', 4, 50554d6e-29bb-11e5-b345-feff819cdc9f)",
			"UPDATE shop.docs SET pending = 0x0150554d6e29bb11e5b345feff819cdc9f WHERE tenant = 'a' AND n = 5",
		} {
			if err := l.reads.Query(text).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		rows, _, err := reader.List(t.Context(), l.r, "list", reader.From(l.set, "docs").Eq("tenant", "a"))
		if err != nil || !slices.Equal(numbers(rows), []int{1, 2}) {
			t.Errorf("rows %v, %v, want 1 and 2", numbers(rows), err)
		}
	})
}
