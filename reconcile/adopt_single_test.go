package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type card struct {
	ID        int
	Text      string
	UpdatedAt int64
}

type versionedCard struct {
	ID      int
	Text    string
	Version gocql.UUID
}

type comparedCard struct {
	ID     int
	Text   string
	Holder *string
	Count  int
}

var (
	cardTable      = tables.Table{Name: "cards", PartKey: []string{"id"}}
	stampedCards   = tables.Must(tables.New[card]("card", cardTable, tables.Stamp("updated_at")))
	versionedCards = tables.Must(tables.New[versionedCard]("card", cardTable, tables.Versioned("version")))
	comparedCards  = tables.Must(tables.New[comparedCard]("card", cardTable, tables.Compare("holder", "count")))
)

// A set with one table is adopted, verified and repaired like others: a row of it that was written by hand can be
// changed afterwards.
func TestOneTableIsAdopted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set       tables.Described
		insert    string
		unadopted int
		before    error // of Verify
		rejected  bool  // a change, until the row is adopted
		change    func(context.Context, *writer.Writer) error
		entity    func(context.Context, *reconcile.Reconciler) error
	}{
		"Stamp": {
			set: stampedCards, insert: "INSERT INTO cards (id, text) VALUES (?, 'by hand')", unadopted: 40,
			change: func(ctx context.Context, w *writer.Writer) error {
				_, err := writer.Modify(ctx, w, "change", stampedCards, card{ID: 7}, func(i card) (card, error) { i.Text = "changed"; return i, nil })
				return err
			},
			entity: func(ctx context.Context, r *reconcile.Reconciler) error {
				_, err := reconcile.Entity(ctx, r, stampedCards, card{ID: 7})
				return err
			},
		},
		"Versioned": {
			set: versionedCards, insert: "INSERT INTO cards (id, text) VALUES (?, 'by hand')", unadopted: 40, before: reconcile.ErrIncomplete, rejected: true,
			change: func(ctx context.Context, w *writer.Writer) error {
				_, err := writer.Modify(ctx, w, "change", versionedCards, versionedCard{ID: 7},
					func(i versionedCard) (versionedCard, error) { i.Text = "changed"; return i, nil })
				return err
			},
			entity: func(ctx context.Context, r *reconcile.Reconciler) error {
				_, err := reconcile.Entity(ctx, r, versionedCards, versionedCard{ID: 7})
				return err
			},
		},
		"Compare": {
			set: comparedCards, insert: "INSERT INTO cards (id, text, count) VALUES (?, 'by hand', 1)",
			change: func(ctx context.Context, w *writer.Writer) error {
				_, err := writer.Modify(ctx, w, "change", comparedCards, comparedCard{ID: 7}, func(i comparedCard) (comparedCard, error) {
					i.Text, i.Count = "changed", i.Count+1
					return i, nil
				})
				return err
			},
			entity: func(ctx context.Context, r *reconcile.Reconciler) error {
				_, err := reconcile.Entity(ctx, r, comparedCards, comparedCard{ID: 7})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, test.set)
				for id := range 40 {
					if err := s.Writes().Query(test.insert, id).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour)
				for name, method := range methods {
					report, err := r.Verify(t.Context(), test.set, method...)
					if !errors.Is(err, test.before) || report.Unadopted != test.unadopted || report.Tables[0].Rows != 40 || len(report.Tables) != 1 ||
						err != nil && !strings.Contains(err.Error(), "has no version: Adopt") {
						t.Errorf("%s: %v\n%v", name, err, report)
					}
				}
				if err := test.change(t.Context(), w); test.rejected && !errors.Is(err, writer.ErrInvalid) || !test.rejected && err != nil {
					t.Error(err)
				}
				stamped := test.unadopted
				if stamped > 0 && !test.rejected {
					stamped-- // the change has stamped its row
				}
				ended := reconcile.Writers(time.Now())
				for _, options := range [][]reconcile.Option{{ended, reconcile.DryRun()}, {ended}} {
					if report, err := r.Adopt(t.Context(), test.set, options...); err != nil || report.Stamped != stamped || len(report.NotCompared) > 0 {
						t.Errorf("%v\n%v", err, report)
					}
				}
				if err := test.change(t.Context(), w); err != nil {
					t.Error(err)
				}
				for name, run := range map[string]func() (*reconcile.Report, error){
					"verify": func() (*reconcile.Report, error) { return r.Verify(t.Context(), test.set) },
					"repair": func() (*reconcile.Report, error) { return r.Repair(t.Context(), test.set, handed) },
					"adopt": func() (*reconcile.Report, error) {
						return r.Adopt(t.Context(), test.set, reconcile.Writers(time.Now()))
					},
				} {
					if report, err := run(); err != nil || report.Unadopted != 0 || report.Stamped != 0 || report.Tables[0].Rows != 40 {
						t.Errorf("%s: %v\n%v", name, err, report)
					}
				}
				if err := test.entity(t.Context(), r); err != nil {
					t.Error(err)
				}
				texts := make(map[string]int)
				iter := s.Reads().Query("SELECT text FROM cards").Iter()
				for text := ""; iter.Scan(&text); {
					texts[text]++
				}
				if err := iter.Close(); err != nil || texts["changed"] != 1 || texts["by hand"] != 39 {
					t.Errorf("%v, %v", texts, err)
				}
			})
		})
	}
}

// Adopt of a set with Compare names the rows that no change can change, and Verify those in which no condition can
// hold.
func TestCompareRowsThatNoChangeChanges(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, comparedCards)
		ahead := time.Now().Add(5 * time.Hour).UnixMicro()
		for _, statement := range []string{
			"INSERT INTO cards (id, text) VALUES (1, 'null')",
			"INSERT INTO cards (id, text, count) VALUES (2, 'expires', 1) USING TTL 864000",
			fmt.Sprintf("INSERT INTO cards (id, text, count) VALUES (3, 'ahead', 1) USING TIMESTAMP %d", ahead),
			"INSERT INTO cards (id, text, count) VALUES (4, 'fine', 1)",
		} {
			if err := s.Writes().Query(statement).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Hour)
		change := func(id int) error {
			_, err := writer.Modify(t.Context(), w, "change", comparedCards, comparedCard{ID: id}, func(i comparedCard) (comparedCard, error) {
				i.Count++
				return i, nil
			})
			return err
		}
		if err := change(1); !errors.Is(err, writer.ErrInvalid) {
			t.Errorf("a row with null: %v", err)
		}
		if err := change(4); err != nil {
			t.Error(err)
		}
		for name, test := range map[string]struct {
			run  func() (*reconcile.Report, error)
			want []string
		}{
			"verify": {func() (*reconcile.Report, error) { return r.Verify(t.Context(), comparedCards) }, []string{"has null in column count"}},
			"adopt": {
				func() (*reconcile.Report, error) {
					return r.Adopt(t.Context(), comparedCards, reconcile.Writers(time.Now()))
				},
				[]string{"has null in column count", "expires, and what Compare writes does not", "by a clock that was ahead"},
			},
		} {
			report, err := test.run()
			if !errors.Is(err, reconcile.ErrIncomplete) || report.Uncovered != len(test.want) ||
				slices.ContainsFunc(test.want, func(want string) bool { return !strings.Contains(err.Error(), want) }) {
				t.Errorf("%s: %v\n%v", name, err, report)
			}
		}
	})
}

// Rows of a Versioned set that were never adopted are counted, and not looked at one by one; rows that have a version
// are compared.
func TestUnadoptedRowsAreCounted(t *testing.T) {
	t.Parallel()
	for name, method := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, users, append(method, handed)...)
				x := usersWorld{t, s, w, r}
				for id := range 100 {
					x.exec("INSERT INTO users (id, name, email) VALUES (?, 'ada', 'shared')", id)
					x.exec("INSERT INTO users_by_name (id, name, email) VALUES (?, 'ada', 'other')", id)
				}
				x.insert(1000, "own")
				x.exec("UPDATE users_by_name SET email = 'drift' WHERE name = 'ada' AND id = 1000")
				<-time.After(10 * time.Minute)
				serial := c.When(cassandratest.Where(func(r cassandratest.Request) bool {
					return r.Consistency == gocql.Consistency(gocql.Serial)
				})).Do()
				for _, run := range []func() (*reconcile.Report, error){
					func() (*reconcile.Report, error) { return r.Verify(t.Context(), users) },
					func() (*reconcile.Report, error) { return r.Repair(t.Context(), users) },
				} {
					report, err := run()
					if !errors.Is(err, reconcile.ErrIncomplete) || report.Unadopted != 100 || !strings.Contains(err.Error(), "has no version: Adopt") {
						t.Errorf("%v\n%v", err, report)
					}
					for f := range report.Findings() {
						if f.Entity() != "id = 1000" {
							t.Error(f)
						}
					}
					if report.Tables[1].Found[reconcile.Differing]+report.Tables[1].Found[reconcile.Newer] != 1 {
						t.Errorf("the row with a version was not compared\n%v", report)
					}
				}
				if n := serial.Handled(); n > 20 {
					t.Errorf("%d reads at SERIAL", n)
				}
			})
		})
	}
}
