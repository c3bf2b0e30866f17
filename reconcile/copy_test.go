package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// copying is an adoption that copies the lists first.
func copying(more ...reconcile.Option) []reconcile.Option {
	return append([]reconcile.Option{reconcile.Copy("notes", "pages"), reconcile.Copy("notes", "words"), reconcile.Writers(time.Now())}, more...)
}

var copiedSets = map[string]tables.Option{"stamped": tables.Stamp("updated_at"), "versioned": tables.Versioned("version")}

// Lists are copied into other columns of all tables, at the time of the list in the base table. Another run copies
// nothing.
func TestCopy(t *testing.T) {
	t.Parallel()
	for name, option := range copiedSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				set := albums(option)
				s, _, r := openSet(t, c, set, handed)
				x := newShelf(t, s)
				x.put("one", "['b', 'a', 'b']")
				x.put("none", "")
				if report, err := r.Adopt(t.Context(), set, copying(reconcile.DryRun())...); err != nil || report.Copied != 2 || report.Kept != 0 {
					t.Errorf("a dry run: %v, %d copied, %d kept", err, report.Copied, report.Kept)
				}
				x.want("albums", "id, pages", "map[id:none pages:[]]", "map[id:one pages:[]]")
				for _, copied := range []int{2, 0} {
					report, err := r.Adopt(t.Context(), set, copying()...)
					if err != nil || report.Copied != copied || report.Kept != 0 || copied > 0 && report.Stamped != 2 {
						t.Errorf("%v, %d copied, %d kept, %d stamped\n%v", err, report.Copied, report.Kept, report.Stamped, report)
					}
					for _, table := range []string{"albums", "albums_by_owner"} {
						x.want(table, "id, pages, words, notes", "map[id:none notes:[] pages:[] words:[]]", "map[id:one notes:[b a b] pages:[b a b] words:[a b]]")
					}
					if got := x.show("albums", "WRITETIME(pages) AS at"); name == "stamped" && !slices.Contains(got, fmt.Sprintf("map[at:%d]", x.at(2))) {
						t.Errorf("written at %q, want %d", got, x.at(2))
					}
				}
			})
		})
	}
}

// What was written to the column later stays, whether it is a value or none, and the report counts it. A row that is
// deleted meanwhile stays deleted.
func TestCopyLosesToLaterWrites(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := albums(tables.Stamp("updated_at"))
		s, w, r := openSet(t, c, set, handed)
		x := newShelf(t, s)
		for _, id := range []string{"value", "none", "deleted"} {
			x.put(id, "['a']")
		}
		later := func(id string, edit func(album) (album, error)) {
			t.Helper()
			if _, err := writer.Modify(t.Context(), w, "write", set, album{ID: id}, edit); err != nil {
				t.Error(err)
			}
		}
		later("value", func(a album) (album, error) { a.Pages = []string{"later"}; return a, nil })
		later("none", func(a album) (album, error) { return a, nil })
		read := c.When(cassandratest.Text("MAXWRITETIME(notes)")).Do(cassandratest.Apply, cassandratest.Delay(time.Minute))
		deleted := make(chan struct{})
		go func() {
			defer close(deleted)
			for read.Handled() == 0 {
				<-time.After(time.Second)
			}
			x.run(3000, "DELETE FROM albums @ WHERE id = 'deleted'")
			x.run(3000, "DELETE FROM albums_by_owner @ WHERE owner = 'ann' AND id = 'deleted'")
			read.End()
		}()
		report, err := r.Adopt(t.Context(), set, reconcile.Copy("notes", "pages"), reconcile.Writers(time.Now()))
		<-deleted
		if err != nil || report.Copied != 0 || report.Kept != 2 {
			t.Errorf("%v, %d copied, %d kept\n%v", err, report.Copied, report.Kept, report)
		}
		for _, table := range []string{"albums", "albums_by_owner"} {
			x.want(table, "id, pages", "map[id:none pages:[]]", "map[id:value pages:[later]]")
		}
	})
}

// A process that dies in the middle leaves what the next one completes: the tables are as if it had not died.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	for name, option := range copiedSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			for died := range 8 { // after so many writes of the column; 0: not at all
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					set := albums(option)
					s, _, r := openSet(t, c, set, handed)
					x := newShelf(t, s)
					for id := range 4 {
						x.put(fmt.Sprint(id), "['a', 'b']")
					}
					options := []reconcile.Option{reconcile.Copy("notes", "pages"), reconcile.Writers(time.Now())}
					if died > 0 {
						ctx, cancel := context.WithCancel(t.Context())
						var sent atomic.Int32
						rule := c.When(cassandratest.Text("SET pages"), cassandratest.Where(func(cassandratest.Request) bool {
							if int(sent.Add(1)) == died {
								cancel()
							}
							return true
						})).Do(cassandratest.Apply)
						if _, err := r.Adopt(ctx, set, options...); err == nil {
							t.Errorf("it did not die after %d", died)
						}
						rule.End()
						<-time.After(time.Minute)
					}
					if report, err := r.Adopt(t.Context(), set, options...); err != nil || report.Kept != 0 {
						t.Errorf("died after %d: %v, %d kept", died, err, report.Kept)
					}
					columns := "id, pages, WRITETIME(pages) AS at"
					if name == "versioned" { // its base rows were written when they got their versions
						columns = "id, pages"
					}
					got := slices.Concat(x.show("albums", columns), x.show("albums_by_owner", columns))
					if died == 0 {
						want = got
					}
					if !slices.Equal(got, want) || len(want) != 8 {
						t.Errorf("died after %d: the tables have\n%s\nwant\n%s", died, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				})
			}
		})
	}
}

// Cassandra 4.1 does not tell the time of a list. It is then copied at the earliest time of the row, so that it covers
// nothing either.
func TestCopyWithoutTimes(t *testing.T) {
	t.Parallel()
	for name, option := range copiedSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				set := albums(option)
				s, w, r := openSet(t, c, set, handed)
				x := newShelf(t, s)
				x.put("one", "['a']")
				c.When(cassandratest.Text("MAXWRITETIME")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
				adopt := func(copied, kept int, pages string) {
					t.Helper()
					report, err := r.Adopt(t.Context(), set, reconcile.Copy("notes", "pages"), reconcile.Writers(time.Now()))
					if err != nil || report.Copied != copied || report.Kept != kept {
						t.Errorf("%v, %d copied, %d kept", err, report.Copied, report.Kept)
					}
					x.want("albums", "pages", "map[pages:["+pages+"]]")
				}
				adopt(1, 0, "a")
				if got := x.show("albums", "WRITETIME(pages) AS at"); name == "stamped" && !slices.Contains(got, fmt.Sprintf("map[at:%d]", x.at(0))) {
					t.Errorf("written at %q", got)
				}
				if _, err := writer.Modify(t.Context(), w, "write", set, album{ID: "one"}, func(a album) (album, error) {
					a.Pages = []string{"b"}
					return a, nil
				}); err != nil {
					t.Error(err)
				}
				adopt(0, 1, "b")
			})
		})
	}
}

// A list that ends is copied into a value that ends with the last element.
func TestCopyEndsWithTheList(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := albums(tables.Stamp("updated_at"))
		s, _, r := openSet(t, c, set, handed)
		x := newShelf(t, s)
		x.put("one", "")
		for _, table := range []string{"albums", "albums_by_owner"} {
			for n, ttl := range []int{20_000, 30_000} {
				x.note(2+n, "one", table+fmt.Sprintf(" USING TTL %d AND TIMESTAMP %d", ttl, x.at(2+n)), "notes = notes + ['a']")
			}
		}
		report, _ := r.Adopt(t.Context(), set, reconcile.Copy("notes", "pages"), reconcile.Writers(time.Now())) // rows that end are an error of their own
		if report.Copied != 1 {
			t.Errorf("%d copied", report.Copied)
		}
		var ttl int
		if err := s.Reads().Query("SELECT TTL(pages) FROM albums").Scan(&ttl); err != nil || ttl <= 29_000 || ttl > 30_000 {
			t.Errorf("it ends in %d s, %v", ttl, err)
		}
	})
}

// A copy that cannot be meant is rejected before anything is read.
func TestCopyRejected(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := albums(tables.Stamp("updated_at"))
		_, _, r := openSet(t, c, set)
		for says, options := range map[string][]reconcile.Option{
			"no column pages of ReadOnly":      {reconcile.Copy("pages", "words")},
			"no column nots of ReadOnly":       {reconcile.Copy("nots", "pages")},
			"column notes of set album cannot": {reconcile.Copy("notes", "notes")},
			"column owner of set album cannot": {reconcile.Copy("notes", "owner")},
			"does not fit list<text>":          {reconcile.Copy("notes", "title")},
			"column updated_at of set album":   {reconcile.Copy("notes", "updated_at")},
			"column pages is named twice":      {reconcile.Copy("notes", "pages"), reconcile.Copy("notes", "pages")},
		} {
			report, err := r.Adopt(t.Context(), set, append(options, reconcile.Writers(time.Now()))...)
			if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(fmt.Sprint(err), says) || report != nil {
				t.Errorf("%s: %v", says, err)
			}
		}
	})
}
