package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// dayVisit has a day that follows from its time, in a column of its base row too.
type dayVisit struct {
	ID, Kind  string
	At        time.Time
	Day       string
	UpdatedAt int64
}

type versionedVisit struct {
	ID, Kind string
	At       time.Time
	Day      string
	Version  gocql.UUID
}

// keyedVisit has the day in keys alone.
type keyedVisit struct {
	ID, Kind  string
	At        time.Time
	UpdatedAt int64
}

type versionedKeyedVisit struct {
	ID, Kind string
	At       time.Time
	Version  gocql.UUID
}

var (
	visitDay    = tables.Derive("day", tables.Day("at"))
	visitsByID  = tables.Table{Name: "visits", PartKey: []string{"id"}}
	visitsByDay = tables.Table{Name: "visits_by_day", PartKey: []string{"day"}, SortKey: []string{"at", "id"}}
)

// A base row by hand whose derived column has another value than tables.Derive gives is named by Validate, Adopt,
// Verify and Repair, and neither it nor a row of its entity is touched. When it is corrected, it is adopted.
func TestBaseRowsThatDeriveDoesNotGive(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set     tables.Described
		inserts []string // of a visit: its id, day and time
		correct []string
	}{
		"a column": {
			tables.Must(tables.New[dayVisit]("visit", visitsByID, visitsByDay, visitDay, tables.Stamp("updated_at"))),
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES (?, ?, ?, 'web')",
				"INSERT INTO visits_by_day (id, day, at, kind) VALUES (?, ?, ?, 'web')",
			},
			[]string{
				"UPDATE visits SET day = '2000-01-01' WHERE id = 'v3'",
				"DELETE FROM visits_by_day WHERE day = '1999-12-31'", // rows of this set never move
			},
		},
		"a column, with versions": {
			tables.Must(tables.New[versionedVisit]("visit", visitsByID, visitsByDay, visitDay, tables.Versioned("version"))),
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES (?, ?, ?, 'web')",
				"INSERT INTO visits_by_day (id, day, at, kind) VALUES (?, ?, ?, 'web')",
			},
			[]string{"UPDATE visits SET day = '2000-01-01' WHERE id = 'v3'"},
		},
		"the base key": {
			tables.Must(tables.New[keyedVisit]("visit",
				tables.Table{Name: "visits", PartKey: []string{"day"}, SortKey: []string{"at", "id"}},
				tables.Table{Name: "visits_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
				visitDay, tables.ID("id"), tables.Stamp("updated_at"))),
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES (?, ?, ?, 'web')",
				"INSERT INTO visits_by_kind (id, kind, at) VALUES (?, 'web', ?)",
			},
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES ('v3', '2000-01-01', '2000-01-01 00:00:00+0000', 'web')",
				"DELETE FROM visits WHERE day = '1999-12-31' AND at = '2000-01-01 00:00:00+0000' AND id = 'v3'",
			},
		},
		"the base key, with versions": {
			tables.Must(tables.New[versionedKeyedVisit]("visit",
				tables.Table{Name: "visits", PartKey: []string{"day"}, SortKey: []string{"at", "id"}},
				tables.Table{Name: "visits_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
				visitDay, tables.ID("id"), tables.Versioned("version"))),
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES (?, ?, ?, 'web')",
				"INSERT INTO visits_by_kind (id, kind, at) VALUES (?, 'web', ?)",
			},
			[]string{
				"INSERT INTO visits (id, day, at, kind) VALUES ('v3', '2000-01-01', '2000-01-01 00:00:00+0000', 'web')",
				"DELETE FROM visits WHERE day = '1999-12-31' AND at = '2000-01-01 00:00:00+0000' AND id = 'v3'",
			},
		},
	} {
		for how, method := range methods {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					s, _, r := openSet(t, c, test.set, append(slices.Clone(method), handed)...)
					exec := func(text string, values ...any) {
						if err := s.Writes().Query(text, values...).Exec(); err != nil {
							t.Fatal(text, err)
						}
					}
					at := time.Now().UTC().Truncate(24 * time.Hour) // 2000-01-01
					wrong := []string{"v3", "v4"}
					for n := range 10 {
						id := "v" + string(rune('0'+n))
						for i, text := range test.inserts {
							day := at.Format(time.DateOnly)
							if slices.Contains(wrong, id) && (i == 0 || id == "v3") { // the query table's day of v4 is right
								day = "1999-12-31" // as in another time zone
							}
							if id == "v4" && strings.Contains(text, "visits_by_day") {
								text = strings.Replace(text, "'web'", "'app'", 1) // so that the entity is looked at
							}
							if strings.Count(text, "?") == 3 {
								exec(text, id, day, at)
							} else {
								exec(text, id, at)
							}
						}
					}
					<-time.After(time.Hour)
					rows := func() (out []string) {
						for _, table := range test.set.Internal().Tables {
							iter := s.Reads().Query("SELECT * FROM " + table.Name).Iter()
							for row := map[string]any{}; iter.MapScan(row); row = map[string]any{} {
								if id, _ := row["id"].(string); slices.Contains(wrong, id) {
									out = append(out, fmt.Sprint(table.Name, " ", id, " ", row["day"]))
								}
							}
							if err := iter.Close(); err != nil {
								t.Fatal(err)
							}
						}
						return out
					}
					before := rows()
					const want = "has another day than tables.Derive gives: correct it by CQL"
					ended := reconcile.Writers(time.Now())
					runs := map[string]func() (*reconcile.Report, error){
						"dry run": func() (*reconcile.Report, error) { return r.Adopt(t.Context(), test.set, ended, reconcile.DryRun()) },
						"adopt":   func() (*reconcile.Report, error) { return r.Adopt(t.Context(), test.set, ended) },
						"verify":  func() (*reconcile.Report, error) { return r.Verify(t.Context(), test.set) },
						"repair":  func() (*reconcile.Report, error) { return r.Repair(t.Context(), test.set) },
					}
					declared := schema.Must(schema.Declare(schema.Sets(test.set)))
					inKey := strings.HasPrefix(name, "the base key") // no write finds such a row; others are corrected by the next change
					differ, err := schema.Differences(t.Context(), s, declared)
					if !slices.ContainsFunc(differ, func(d schema.Difference) bool {
						return d.Column == "day" && d.Note != inKey && strings.Contains(d.Reason, "another value than tables.Derive gives")
					}) {
						t.Errorf("Differences: %v, %v", differ, err)
					}
					for _, name := range []string{"dry run", "adopt", "verify", "repair", "adopt"} {
						report, err := runs[name]()
						if !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "has no version") {
							t.Errorf("%s: %v\n%v", name, err, report)
						}
						if name == "adopt" && report.Stamped != 0 && report.Stamped != 8 {
							t.Errorf("%d rows were adopted", report.Stamped)
						}
						if after := rows(); !slices.Equal(before, after) {
							t.Errorf("%s: rows are now %q, and were %q", name, after, before)
						}
					}
					if name == "a column" {
						if report, err := r.Backfill(t.Context(), test.set, "visits_by_day", ended); err == nil || !strings.Contains(err.Error(), want) ||
							!slices.Equal(before, rows()) {
							t.Errorf("Backfill: %v\n%v", err, report)
						}
					}
					for _, text := range test.correct {
						for _, id := range wrong {
							exec(strings.ReplaceAll(text, "v3", id))
						}
					}
					<-time.After(time.Hour)
					if report, err := r.Adopt(t.Context(), test.set, reconcile.Writers(time.Now())); err != nil || report.Stamped != 2 {
						t.Errorf("corrected: %v\n%v", err, report)
					}
					for _, name := range []string{"verify", "repair"} {
						if report, err := runs[name](); err != nil {
							t.Errorf("corrected, %s: %v\n%v", name, err, report)
						}
					}
					for _, row := range rows() {
						if strings.Contains(row, "1999") {
							t.Errorf("there is still %s", row)
						}
					}
				})
			})
		}
	}
}

// call has keys that a row by hand may lack.
type call struct {
	ID, State string
	Customer  gocql.UUID
	At        time.Time
	Agent     *gocql.UUID
	UpdatedAt int64
}

var calls = tables.Must(tables.New[call]("call",
	tables.Table{Name: "calls", PartKey: []string{"id"}},
	tables.Table{Name: "calls_by_state", PartKey: []string{"state"}, SortKey: []string{"id"}},
	tables.Table{Name: "calls_by_customer", PartKey: []string{"customer"}, SortKey: []string{"id"}},
	tables.Table{Name: "calls_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}},
	tables.Table{Name: "calls_by_day", PartKey: []string{"day"}, SortKey: []string{"id"}},
	tables.Derive("day", tables.Day("at")), tables.OneOf("state", "open", "closed"), tables.SingleWriter("agent"),
	tables.Stamp("updated_at"), tables.UnstampedRows(),
))

// Adopt, and Validate by its sample, say of which rows no change is valid, as a column is null that is in a key, or that
// a bucket follows from. Null in a pointer is fine.
func TestRowsOfWhichNoChangeIsValid(t *testing.T) {
	t.Parallel()
	for how, method := range methods {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, calls, append(slices.Clone(method), handed)...)
				full := map[string]any{"state": "open", "customer": gocql.UUID{1}, "at": time.Now(), "agent": gocql.UUID{2}}
				for column := range full {
					row := maps.Clone(full)
					delete(row, column)
					text := "INSERT INTO calls (id, state, customer, at, agent) VALUES (?, ?, ?, ?, ?)"
					if err := s.Writes().Query(text, column, row["state"], row["customer"], row["at"], row["agent"]).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour)
				differ, err := schema.Differences(t.Context(), s, schema.Must(schema.Declare(schema.Sets(calls))))
				if err != nil {
					t.Fatal(err)
				}
				report, err := r.Adopt(t.Context(), calls, reconcile.Writers(time.Now()))
				for column := range full {
					_, failed := writer.Modify(t.Context(), w, "close", calls, call{ID: column}, func(o call) (call, error) {
						o.State = "closed"
						return o, nil
					})
					invalid := column != "agent"
					if errors.Is(failed, writer.ErrInvalid) != invalid || failed == nil == invalid {
						t.Errorf("%s: a change: %v", column, failed)
					}
					text := column + " is null in 1 row of shop.calls, which no change takes: UPDATE it by CQL, or make the field a pointer"
					if !errors.Is(err, reconcile.ErrUnsafe) || strings.Contains(err.Error(), text) != invalid {
						t.Errorf("%s: Adopt: %v\n%v", column, err, report)
					}
					if slices.ContainsFunc(differ, func(d schema.Difference) bool {
						return d.Column == column && d.Note && strings.Contains(d.Reason, "no change of these rows is valid")
					}) != invalid {
						t.Errorf("%s: %v", column, differ)
					}
				}
			})
		})
	}
}

// A row of a query table that leads to no base row is left where that may be under a key that Derive does not give: in a
// run that has not read all of the base table, and in one of an entity alone.
func TestRowsWhoseBaseRowMayBeElsewhere(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[keyedVisit]("visit",
		tables.Table{Name: "visits", PartKey: []string{"day"}, SortKey: []string{"at", "id"}},
		tables.Table{Name: "visits_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
		visitDay, tables.ID("id"), tables.Stamp("updated_at")))
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, run := range map[string]func(context.Context, *cassandratest.Cluster, *reconcile.Reconciler) (*reconcile.Report, error){
		"a part is not read": func(ctx context.Context, c *cassandratest.Cluster, r *reconcile.Reconciler) (*reconcile.Report, error) {
			c.When(cassandratest.Execute, cassandratest.Text("visits WHERE token")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
			return r.Adopt(ctx, set, reconcile.Writers(time.Now()))
		},
		"an entity": func(ctx context.Context, _ *cassandratest.Cluster, r *reconcile.Reconciler) (*reconcile.Report, error) {
			return reconcile.Entity(ctx, r, set, keyedVisit{ID: "v3", At: at, Kind: "web"}, reconcile.Rewrite())
		},
	} {
		for how, method := range methods {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					s, _, r := openSet(t, c, set, append(slices.Clone(method), handed)...)
					for _, text := range []string{
						"INSERT INTO visits (id, day, at, kind) VALUES ('v3', '1999-12-31', ?, 'web')",
						"INSERT INTO visits_by_kind (id, kind, at) VALUES ('v3', 'web', ?)",
					} {
						if err := s.Writes().Query(text, at).Exec(); err != nil {
							t.Fatal(err)
						}
					}
					<-time.After(time.Hour)
					report, err := run(t.Context(), c, r)
					for _, table := range []string{"visits", "visits_by_kind"} {
						n := 0
						if failed := s.Reads().Query("SELECT count(*) FROM " + table).Scan(&n); failed != nil || n != 1 || err == nil {
							t.Errorf("%s has %d rows, %v; %v\n%v", table, n, failed, err, report)
						}
					}
				})
			})
		}
	}
}

// An adoption that is continued still knows of rows that no change takes.
func TestAdoptContinuedKnowsStuckRows(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, calls, handed, reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"))
		if err := s.Writes().Query("INSERT INTO calls (id, state, at) VALUES ('c', 'open', ?)", time.Now()).Exec(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		unread := c.When(cassandratest.Execute, cassandratest.Text("calls_by_agent WHERE token")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
		writers := reconcile.Writers(time.Now())
		report, err := r.Adopt(t.Context(), calls, writers)
		if !errors.Is(err, reconcile.ErrUnsafe) || !errors.Is(err, reconcile.ErrIncomplete) {
			t.Errorf("%v\n%v", err, report)
		}
		unread.End()
		<-time.After(time.Minute)
		if report, err = r.Adopt(t.Context(), calls, writers, reconcile.Resume(report.Run)); !errors.Is(err, reconcile.ErrUnsafe) {
			t.Errorf("continued: %v\n%v", err, report)
		}
	})
}
