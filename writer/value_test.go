package writer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
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
		!strings.Contains(err.Error(), "the clustering columns "+columns+
			" hold at most 65535 bytes together, in this row 65536") {
		t.Errorf("%v: %v", writer.OutcomeOf(err), err)
	}
}

// A row whose clustering columns are too long together for one of its tables, each of them within the limit, is in none
// of the tables.
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
		insert := reads.Query("INSERT INTO papers (id, owner, path, title) VALUES (?, ?, ?, ?)", before.ID, before.Owner,
			before.Path, before.Title)
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

// A move removes no row under a value of OneOf with which the clustering columns are too long together: Cassandra would
// reject that.
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

// In a Versioned set the base row would have the change, and its query table never: no write of the entity could come
// after it.
func TestClusteringTooLongOfVersioned(t *testing.T) {
	t.Parallel()
	type paper struct {
		ID, Path, Title string
		Version         gocql.UUID
	}
	set := tables.Must(tables.New[paper]("paper",
		tables.Table{Name: "papers", PartKey: []string{"id"}},
		tables.Table{Name: "papers_by_path", PartKey: []string{"id"}, SortKey: []string{"path", "title"}},
		tables.Versioned("version")))
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
	before, after := tables.Must(tables.New[paper]("paper", common...)),
		tables.Must(tables.New[paper]("paper", append(common, byPath)...))
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

type lease struct {
	ID, UserID string
	Term       gocql.Duration
	Notice     []gocql.Duration
}

// The server rejects a duration of mixed signs. Sent to it, the row would be in the table that lacks the column, and
// not in the base table.
func TestWireDurationOfMixedSigns(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[lease]("lease",
		tables.Table{Name: "leases", PartKey: []string{"id"}},
		tables.Table{Name: "leases_by_user", PartKey: []string{"user_id"}, SortKey: []string{"id"}, Columns: []string{}},
		tables.Type("notice", "frozen<list<duration>>")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, reads := open(t, c)
		monthAndDays := gocql.Duration{Months: 1, Days: -3}
		for _, row := range []lease{
			{ID: "1", UserID: "ann", Term: monthAndDays},
			{ID: "1", UserID: "ann", Term: gocql.Duration{Months: -1, Nanoseconds: 1}},
			{ID: "1", UserID: "ann", Notice: []gocql.Duration{{Days: 1}, monthAndDays}},
		} {
			if _, err := w.Write(t.Context(), "insert", set.Insert(row)); !errors.Is(err, writer.ErrInvalid) {
				t.Errorf("%v: %v", row, err)
			}
		}
		var n int
		if err := reads.Query("SELECT count(*) FROM leases_by_user").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows in the query table: %v", n, err)
		}
		for _, d := range []gocql.Duration{
			{},
			{Months: 1<<31 - 1, Days: 1<<31 - 1, Nanoseconds: 1<<63 - 1},
			{Months: -1 << 31, Days: -1 << 31, Nanoseconds: -1 << 63},
			{Days: -3},
		} {
			if _, err := w.Write(t.Context(), "insert", set.Insert(lease{ID: "2", UserID: "ann", Term: d})); err != nil {
				t.Errorf("%v: %v", d, err)
			}
		}
	})
}

// grade decodes nothing, and says so with the value, as the errors of such types do.
type grade string

func (g grade) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	return nil, fmt.Errorf("no such grade: %q", string(g))
}

func (*grade) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	return fmt.Errorf("no such grade: %q", data)
}

// What a type of the service says of a value that it cannot decode or encode is in no error, and the value is not read
// again.
func TestErrorsOfOwnTypesShowNoValues(t *testing.T) {
	t.Parallel()
	type student struct {
		ID    string
		Grade grade
		N     int32
	}
	const secret = "Kreuzspinne4711"
	options := []tables.Option{tables.Table{Name: "students", PartKey: []string{"id"}}, tables.Type("grade", "text")}
	plain, compared := tables.Must(tables.New[student]("student", options...)),
		tables.Must(tables.New[student]("student", append(options, tables.Compare("n"))...))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, plain)
		w, s := open(t, c)
		if err := s.Query("INSERT INTO students (id, grade, n) VALUES ('a', ?, 1)", secret).Exec(); err != nil {
			t.Fatal(err)
		}
		r, err := reader.New(testsession.New(t, nil, s))
		if err != nil {
			t.Fatal(err)
		}
		key := student{ID: "a"}
		same := func(s student) (student, error) { return s, nil }
		_, _, read := reader.List(t.Context(), r, "list", reader.From(plain, "students").Eq("id", "a"))
		_, load := writer.Load(t.Context(), w, "load", plain, key)
		_, modify := writer.Modify(t.Context(), w, "modify", plain, key, same)
		_, conditional := writer.Load(t.Context(), w, "load", compared, key)
		_, write := w.Write(t.Context(), "write", plain.Insert(student{ID: "a", Grade: secret}))
		for name, err := range map[string]error{
			"read": read, "Load": load, "Modify": modify,
			"Load of a conditional set": conditional, "Write": write,
		} {
			if err == nil || strings.Contains(fmt.Sprintf("%+v %v", err, err), secret) ||
				!strings.Contains(err.Error(), "column grade") {
				t.Errorf("%s: %v", name, err)
			}
			var failed *writer.Error
			if errors.As(err, &failed) && len(failed.Tables) > 0 && failed.Tables[0].Attempts > 1 {
				t.Errorf("%s: %d attempts", name, failed.Tables[0].Attempts)
			}
		}
	})
}

// A transaction of several rows that is not applied is a conflict, also if the server shows columns that this process
// does not declare, of types for which gocql makes no Go value. It would panic in a goroutine of the library, and end
// the process.
func TestConflictOfRowsWithUndecodableColumns(t *testing.T) {
	t.Parallel()
	for _, column := range []string{
		"map<blob, text>", "map<frozen<list<int>>, text>",
		"frozen<tuple<int, map<blob, text>>>",
	} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, nights)
				c.Create("ALTER TABLE shop.nights ADD later " + column)
				s := start(t, c)
				h := &hotel{service: s}
				one, two := night{Room: "1", Night: 1, Guest: "ann"}, night{Room: "1", Night: 2, Guest: "bob"}
				if _, err := s.w.Write(t.Context(), "book", nights.Insert(one)); err != nil {
					t.Fatal(err)
				}
				taken := one
				taken.Guest = "bob"
				_, err := s.w.Write(t.Context(), "book", nights.Insert(two), nights.Insert(taken))
				if !errors.Is(err, writer.ErrConflict) || writer.OutcomeOf(err) != writer.Conflict ||
					!strings.Contains(err.Error(), "change 2 of the 2") {
					t.Errorf("%v: %v", writer.OutcomeOf(err), err)
				}
				if got := h.guests(t); got != "1ann" {
					t.Errorf("after a conflict: %s", got)
				}
				_, err = s.w.Write(t.Context(), "book", append(book(nights, "eve", one), nights.Insert(two))...)
				if got := h.guests(t); err != nil || got != "1eve 2bob" {
					t.Errorf("%s: %v", got, err)
				}
			})
		})
	}
}
