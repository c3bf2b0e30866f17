package writer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// paper has three columns that are clustering columns together.
type paper struct {
	ID, Owner, Path, Title string
}

var papers = tables.Must(tables.New[paper]("paper",
	tables.Table{Name: "papers", PartKey: []string{"id"}},
	tables.Table{Name: "papers_by_path", PartKey: []string{"owner"}, SortKey: []string{"path", "title", "id"}},
	tables.SingleWriter("path"), tables.SingleWriter("title")))

// long is a value of n bytes.
func long(n int) string { return strings.Repeat("x", n) }

// wantTooLong expects the error of a row whose clustering columns in papers_by_path are too long together.
func wantTooLong(t *testing.T, err error, outcome writer.Outcome, columns string) {
	t.Helper()
	var invalid *tables.InvalidError
	if !errors.As(err, &invalid) || invalid.Table != "papers_by_path" || writer.OutcomeOf(err) != outcome ||
		!strings.Contains(err.Error(), "the clustering columns "+columns+" hold at most 65535 bytes together, in this row 65536") {
		t.Errorf("%v: %v", writer.OutcomeOf(err), err)
	}
}

// A row whose clustering columns are too long together for one of its tables, each of them within the limit, is in none of the tables.
func TestClusteringTooLongTogether(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, papers)
		w, reads := open(t, c)
		rows := func() (n int) {
			t.Helper()
			for _, table := range []string{"papers", "papers_by_path"} {
				var in int
				if err := reads.Query("SELECT count(*) FROM " + table).Scan(&in); err != nil {
					t.Fatal(err)
				}
				n += in
			}
			return n
		}
		_, err := w.Write(t.Context(), "file", papers.Insert(paper{"1", "ann", long(40_000), long(25_535)}))
		wantTooLong(t, err, writer.Invalid, "path, title, id")
		if n := rows(); n != 0 {
			t.Errorf("%d rows of a change that is rejected", n)
		}
		longest := paper{"1", "ann", long(40_000), long(25_534)}
		if _, err := w.Write(t.Context(), "file", papers.Insert(longest)); err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(t.Context(), "move", papers.Update(longest, paper{"1", "ann", long(40_000), long(25_535)}))
		wantTooLong(t, err, writer.Invalid, "path, title, id")
		if n := rows(); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
	})
}

// A row that is in the base table alone, as Cassandra has rejected it in the query table, can be changed and deleted.
func TestClusteringTooLongBefore(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, papers)
		w, reads := open(t, c)
		before := paper{"1", "ann", long(40_000), long(40_000)}
		insert := reads.Query("INSERT INTO papers (id, owner, path, title) VALUES (?, ?, ?, ?)", before.ID, before.Owner, before.Path, before.Title)
		if err := insert.Exec(); err != nil {
			t.Fatal(err)
		}
		after := paper{"1", "ann", "p", "t"}
		if _, err := w.Write(t.Context(), "move", papers.Update(before, after)); err != nil {
			t.Fatal(err)
		}
		if rows := c.Journal(cassandratest.Table("papers_by_path")); len(rows) == 0 {
			t.Error("the row is not written to the query table")
		}
		for _, row := range []paper{after, before} {
			if _, err := w.Write(t.Context(), "remove", papers.Delete(row)); err != nil {
				t.Error(err)
			}
		}
	})
}

// A move removes no row under a value of OneOf with which the clustering columns are too long together: Cassandra would reject that.
func TestClusteringTooLongForOneValue(t *testing.T) {
	t.Parallel()
	type page struct {
		ID, Path, State string
		UpdatedAt       int64
	}
	set := tables.Must(tables.New[page]("page",
		tables.Table{Name: "pages", PartKey: []string{"id"}},
		tables.Table{Name: "pages_by_state", PartKey: []string{"id"}, SortKey: []string{"path", "state"}},
		tables.OneOf("state", "new", "read", "forgotten"), tables.SingleWriter("path"), tables.Stamp("updated_at")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, reads := open(t, c)
		before := page{ID: "1", Path: long(65_535 - len("read")), State: "new"}
		res, err := w.Write(t.Context(), "open", set.Insert(before))
		if err != nil {
			t.Fatal(err)
		}
		before.UpdatedAt = res.Timestamp
		after := before
		after.State = "read"
		if _, err := w.Write(t.Context(), "read", set.Update(before, after)); err != nil {
			t.Fatal(err)
		}
		var state string
		if err := reads.Query("SELECT state FROM pages_by_state WHERE id = '1'").Scan(&state); err != nil || state != "read" {
			t.Errorf("%q: %v", state, err)
		}
	})
}

// In a Versioned set the base row would have the change, and its query table never: no write of the entity could come after it.
func TestClusteringTooLongOfVersioned(t *testing.T) {
	t.Parallel()
	type paper struct {
		ID, Path, Title string
		Version         gocql.UUID
	}
	set := tables.Must(tables.New[paper]("paper",
		tables.Table{Name: "papers", PartKey: []string{"id"}},
		tables.Table{Name: "papers_by_path", PartKey: []string{"id"}, SortKey: []string{"path", "title"}}, tables.Versioned("version")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		p := paper{ID: "1", Path: "p", Title: "t"}
		if _, err := w.Write(t.Context(), "file", set.Insert(p)); err != nil {
			t.Fatal(err)
		}
		move := func(path, title string) error {
			_, err := writer.Modify(t.Context(), w, "move", set, p, func(p paper) (paper, error) {
				p.Path, p.Title = path, title
				return p, nil
			})
			return err
		}
		wantTooLong(t, move(long(40_000), long(25_536)), writer.Invalid, "path, title")
		for _, path := range []string{long(40_000), "q"} {
			if err := move(path, long(25_535)); err != nil {
				t.Error(err)
			}
		}
		now, err := writer.Load(t.Context(), w, "load", set, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(t.Context(), "remove", set.Delete(now)); err != nil {
			t.Error(err)
		}
	})
}

// What a process without the query table has left unfinished cannot be finished there, and the error says why.
func TestClusteringTooLongLeftUnfinished(t *testing.T) {
	t.Parallel()
	type paper struct {
		ID, Path, Title string
		Version         gocql.UUID
	}
	common := []tables.Option{
		tables.Table{Name: "papers", PartKey: []string{"id"}},
		tables.Table{Name: "papers_by_title", PartKey: []string{"title"}, SortKey: []string{"id"}},
		tables.Versioned("version"),
	}
	byPath := tables.Table{Name: "papers_by_path", PartKey: []string{"id"}, SortKey: []string{"path", "title"}}
	before, after := tables.Must(tables.New[paper]("paper", common...)), tables.Must(tables.New[paper]("paper", append(common, byPath)...))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, after)
		w, _ := open(t, c)
		p := paper{ID: "1", Path: long(40_000), Title: long(25_536)}
		rule := c.When(cassandratest.Table("papers_by_title")).Do(cassandratest.Drop)
		if _, err := w.Write(t.Context(), "file", before.Insert(p)); err == nil {
			t.Fatal("acknowledged")
		}
		rule.End()
		move := func(p paper) (paper, error) { p.Path = "q"; return p, nil }
		_, err := writer.Modify(t.Context(), w, "move", after, p, move)
		wantTooLong(t, err, writer.NotApplied, "path, title")
		if _, err := writer.Modify(t.Context(), w, "move", before, p, move); err != nil {
			t.Error(err)
		}
		if _, err := writer.Modify(t.Context(), w, "move", after, p, move); err != nil {
			t.Error(err)
		}
	})
}
