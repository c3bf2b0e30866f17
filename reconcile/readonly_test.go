package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// album has a list that other code has written, and columns into which it may be copied.
type album struct {
	ID, Owner, Title string
	Notes            []string // ReadOnly
	Pages            []string
	Words            map[string]struct{}
	UpdatedAt        int64
	Version          gocql.UUID
}

func albums(options ...tables.Option) *tables.Set[album] {
	return tables.Must(tables.New[album]("album", append([]tables.Option{
		tables.Table{Name: "albums", PartKey: []string{"id"}},
		tables.Table{Name: "albums_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
		tables.ReadOnly("notes"), tables.Type("pages", "frozen<list<text>>"),
	}, options...)...))
}

// frozenWords is for sets whose rows can be patched: these are not repaired where elements have times of their own.
var frozenWords = tables.Type("words", "frozen<set<text>>")

// shelf is tables of albums that are written by hand, too.
type shelf struct {
	t   *testing.T
	s   *session.Session
	ago time.Time // the time 0 of what is written by hand
}

func newShelf(t *testing.T, s *session.Session) *shelf {
	t.Helper()
	<-time.After(2 * time.Hour)
	return &shelf{t, s, time.Now().Add(-time.Hour)}
}

// run executes a statement, at so many seconds after the time 0 where it says @.
func (x *shelf) run(at int, text string) {
	x.t.Helper()
	text = strings.Replace(text, "@", fmt.Sprintf("USING TIMESTAMP %d", x.at(at)), 1)
	if err := x.s.Writes().Query(text).DefaultTimestamp(false).Exec(); err != nil {
		x.t.Fatalf("%s: %v", text, err)
	}
}

func (x *shelf) at(seconds int) int64 {
	return x.ago.Add(time.Duration(seconds) * time.Second).UnixMicro()
}

// put writes an album by hand in both tables, with a list or none.
func (x *shelf) put(id, notes string) {
	x.t.Helper()
	x.run(0, "INSERT INTO albums (id, owner, title) VALUES ('"+id+"', 'ann', 'old') @")
	x.run(1, "INSERT INTO albums_by_owner (id, owner, title) VALUES ('"+id+"', 'ann', 'old') @")
	if notes != "" {
		x.note(2, id, "albums", "notes = "+notes)
		x.note(3, id, "albums_by_owner", "notes = "+notes)
	}
}

// create writes an album through its set.
func (x *shelf) create(w *writer.Writer, set *tables.Set[album], id string) {
	x.t.Helper()
	if _, err := w.Write(x.t.Context(), "create", set.Insert(album{ID: id, Owner: "ann", Title: "t"})); err != nil {
		x.t.Fatal(err)
	}
}

// note changes a row by hand.
func (x *shelf) note(at int, id, table, set string) {
	x.t.Helper()
	where := " WHERE id = '" + id + "'"
	if strings.HasPrefix(table, "albums_by_owner") {
		where += " AND owner = 'ann'"
	}
	if !strings.Contains(table, "USING") {
		table += " @"
	}
	x.run(at, "UPDATE "+table+" SET "+set+where)
}

// show is what a table has of the columns, a line each row.
func (x *shelf) show(table, columns string) (out []string) {
	x.t.Helper()
	iter := x.s.Reads().Query("SELECT " + columns + " FROM " + table).Prefetch(0).Iter()
	for row := make(map[string]any); iter.MapScan(row); row = make(map[string]any) {
		out = append(out, fmt.Sprint(row))
	}
	if err := iter.Close(); err != nil {
		x.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func (x *shelf) want(table, columns string, want ...string) {
	x.t.Helper()
	if got := x.show(table, columns); !slices.Equal(got, want) {
		x.t.Errorf("%s has\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// reasons are the findings of a report that are left.
func reasons(r *reconcile.Report) (out []string) {
	for f := range r.Findings() {
		if f.Outcome != reconcile.Repaired {
			out = append(out, fmt.Sprintf("%s %s.%s: %s", f.Class, f.Table, f.Column, f.Reason))
		}
	}
	slices.Sort(out)
	return out
}

// Lists of the base table and of a query table that differ are found and left, and what else differs is repaired. A row
// with a list is not put where it is missing, and one without a list is.
func TestRepairLeavesLists(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]tables.Option{
		"stamped":   {tables.Stamp("updated_at"), frozenWords},
		"patchable": {frozenWords},
		"versioned": {tables.Versioned("version")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				set := albums(options...)
				s, w, r := openSet(t, c, set, handed)
				x := newShelf(t, s)
				for _, id := range []string{"missing", "missing without"} {
					x.create(w, set, id)
				}
				if err := s.Writes().Query("TRUNCATE albums_by_owner").Exec(); err != nil {
					t.Fatal(err)
				}
				for _, id := range []string{"differs", "differs more", "equal"} {
					x.create(w, set, id)
					x.note(4000, id, "albums_by_owner", "notes = ['a', 'b']")
				}
				for _, id := range []string{"differs", "differs more", "equal", "missing"} {
					x.note(4000, id, "albums", "notes = ['a', 'b']")
				}
				x.note(4001, "differs", "albums_by_owner", "notes = ['a', 'c']")
				x.note(4001, "differs more", "albums_by_owner", "notes = ['a']")
				before, err := writer.Load(t.Context(), w, "load", set, album{ID: "differs more"})
				if err != nil {
					t.Fatal(err)
				}
				after, lost := before, c.When(cassandratest.Table("albums_by_owner")).Do(cassandratest.Fail(cassandratest.Overloaded))
				after.Title = "later"
				if _, err := w.Write(t.Context(), "rename", set.Update(before, after)); err == nil {
					t.Error("nothing was lost")
				}
				lost.End()
				<-time.After(2 * time.Hour)
				if report, err := r.Verify(t.Context(), set); !errors.Is(err, reconcile.ErrDrift) || len(reasons(report)) != 4 {
					t.Errorf("verify: %v\n%v\n%q", err, report, reasons(report))
				}
				report, err := r.Repair(t.Context(), set)
				if !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("repair: %v", err)
				}
				want := []string{
					"differing shop.albums_by_owner.notes: the lists of column notes differ",
					"differing shop.albums_by_owner.title: the lists of column notes differ", // the title differed, too
					"missing shop.albums_by_owner.: the row would be without the list of column notes",
				}
				if left := reasons(report); !slices.EqualFunc(left, want, strings.HasPrefix) {
					t.Errorf("left are\n%s", strings.Join(left, "\n"))
				}
				x.want("albums_by_owner", "id, title, notes", "map[id:differs more notes:[a] title:later]", "map[id:differs notes:[a c] title:t]",
					"map[id:equal notes:[a b] title:t]", "map[id:missing without notes:[] title:t]")
			})
		})
	}
}

// Backfill puts the rows that have no list into a new table with the column, and says of the others why it does not.
func TestBackfillLeavesLists(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := albums(tables.Stamp("updated_at"), frozenWords)
		s, w, r := openSet(t, c, set)
		x := newShelf(t, s)
		for _, id := range []string{"with", "without"} {
			x.create(w, set, id)
		}
		x.note(4000, "with", "albums", "notes = ['a']")
		x.run(0, "TRUNCATE albums_by_owner")
		report, err := r.Backfill(t.Context(), set, "albums_by_owner", reconcile.Writers(time.Now()))
		if !errors.Is(err, reconcile.ErrIncomplete) || report.Put != 1 || !strings.Contains(fmt.Sprint(err), "the row would be without the list of column notes") {
			t.Errorf("%v\n%v", err, report)
		}
		x.want("albums_by_owner", "id", "map[id:without]")
	})
}

// A row without a base row is put into the base table, unless that would leave its list out.
func TestPromoteLeavesLists(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := albums(tables.Stamp("updated_at"), frozenWords)
		s, w, r := openSet(t, c, set, handed)
		x := newShelf(t, s)
		for _, id := range []string{"with", "without"} {
			x.create(w, set, id)
		}
		x.note(4000, "with", "albums_by_owner", "notes = ['a']")
		x.run(0, "TRUNCATE albums")
		<-time.After(time.Hour)
		report, err := r.Repair(t.Context(), set)
		if left := reasons(report); !errors.Is(err, reconcile.ErrDrift) || len(left) != 1 || !strings.Contains(left[0], "the list of column notes") {
			t.Errorf("%v\n%q", err, left)
		}
		x.want("albums", "id", "map[id:without]")
	})
}

// Rows by hand that agree are adopted with their lists. A base row that would be put into a query table without its
// list gets no version.
func TestAdoptKeepsLists(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]tables.Option{"stamped": tables.Stamp("updated_at"), "versioned": tables.Versioned("version")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				set := albums(option)
				s, w, r := openSet(t, c, set, handed)
				x := newShelf(t, s)
				for _, id := range []string{"one", "two", "three"} {
					x.put(id, "['a', 'b', 'a']")
				}
				x.run(100, "DELETE FROM albums_by_owner @ WHERE owner = 'ann' AND id = 'two'")
				report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
				text := fmt.Sprint(err, reasons(report))
				if err == nil || report.Stamped != 2 || !strings.Contains(text, "the row would be without the list of column notes") {
					t.Errorf("%v\n%d stamped\n%s", err, report.Stamped, text)
				}
				x.want("albums_by_owner", "id, notes", "map[id:one notes:[a b a]]", "map[id:three notes:[a b a]]")
				_, err = writer.Modify(t.Context(), w, "rename", set, album{ID: "one"}, func(a album) (album, error) {
					a.Title = "new"
					return a, nil
				})
				if err != nil {
					t.Error(err)
				}
				x.want("albums_by_owner", "id, title, notes", "map[id:one notes:[a b a] title:new]", "map[id:three notes:[a b a] title:old]")
			})
		})
	}
}
