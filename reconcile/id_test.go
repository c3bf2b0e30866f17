package reconcile_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// jobRun is an entity whose base table has it by its end, and whose other table has it by its kind.
type jobRun struct {
	Site, Kind string
	Ended      time.Time
	ID         int32
	Note       *string
	UpdatedAt  int64
}

var jobRuns = tables.Must(tables.New[jobRun]("job_run",
	tables.Table{Name: "job_runs", PartKey: []string{"site"}, SortKey: []string{"ended", "id"}},
	tables.Table{Name: "job_runs_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
	tables.Table{
		Name: "job_runs_by_end", PartKey: []string{"ended"}, SortKey: []string{"id"}, Columns: []string{"site", "updated_at"},
	},
	tables.ID("id"), tables.SingleWriter("kind"), tables.Stamp("updated_at")))

var hour = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

func insertRun(t *testing.T, w *writer.Writer, r jobRun) jobRun {
	t.Helper()
	res, err := w.Write(t.Context(), "insert", jobRuns.Insert(r))
	if err != nil {
		t.Fatal(err)
	}
	r.UpdatedAt = res.Timestamp
	return r
}

func exec(t *testing.T, s *session.Session, text string, values ...any) {
	t.Helper()
	if err := s.Writes().Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// Two base rows with one ID are reported, where they want the row of a query table, and where they do not. No repair
// touches them. Once one of them is deleted, the other is written again.
func TestTwoBaseRowsOfOneID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kinds   [2]string
		options []reconcile.Option
		found   int
	}{
		"one row":            {[2]string{"a", "a"}, nil, 3},
		"two rows":           {[2]string{"a", "b"}, nil, 3},
		"one row, looked up": {[2]string{"a", "a"}, []reconcile.Option{reconcile.Lookup()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				options := append(slices.Clip(tt.options), reconcile.Settle(30*time.Second), reconcile.MaxRemovals(10), handed)
				s, w, r := openSet(t, c, jobRuns, options...)
				note, later := "n", "later"
				first := insertRun(t, w, jobRun{Site: "x", Kind: tt.kinds[0], Ended: hour, ID: 7, Note: &note})
				second := jobRun{Site: "x", Kind: tt.kinds[1], Ended: hour.Add(time.Hour), ID: 7, Note: &later}
				second = insertRun(t, w, second)
				insertRun(t, w, jobRun{Site: "x", Kind: "a", Ended: hour, ID: 8})
				exec(t, s, "DELETE FROM job_runs_by_end WHERE ended = ? AND id = 7", hour)
				<-time.After(time.Hour)
				rows := func() (n int) {
					if err := s.Reads().Query("SELECT count(*) FROM job_runs_by_kind").Scan(&n); err != nil {
						t.Fatal(err)
					}
					return n
				}
				before := rows()
				for name, run := range map[string]func() (*reconcile.Report, error){
					"verify": func() (*reconcile.Report, error) { return r.Verify(t.Context(), jobRuns) },
					"repair": func() (*reconcile.Report, error) {
						return r.Repair(t.Context(), jobRuns, reconcile.Rewrite())
					},
				} {
					report, err := run()
					found, after := slices.Collect(report.Findings()), rows()
					if !errors.Is(err, reconcile.ErrDrift) || len(found) != tt.found || after != before {
						t.Errorf("%s: %v, %d findings, %d rows, before %d\n%v", name, err, len(found), after, before, report)
					}
					for _, f := range found {
						other := strings.Contains(f.Other(), "id = 7") && f.Entity() != f.Other()
						shared := f.Class == reconcile.Shared && other && strings.Contains(f.Reason, "delete one")
						lost := f.Class == reconcile.Missing && strings.HasSuffix(f.Table, "by_end")
						if !shared && !lost || f.Outcome != reconcile.Found {
							t.Errorf("%s: %v, of %s and %s", name, f, f.Entity(), f.Other())
						}
					}
				}
				if _, err := w.Write(t.Context(), "delete", jobRuns.Delete(second)); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				if report, err := r.Repair(t.Context(), jobRuns, reconcile.Rewrite()); err != nil {
					t.Errorf("%v\n%v", err, report)
				}
				if report, err := r.Verify(t.Context(), jobRuns); err != nil || rows() != 2 {
					t.Errorf("one is deleted: %v, %d rows\n%v", err, rows(), report)
				}
				row, err := writer.Load(t.Context(), w, "load", jobRuns, first)
				if err != nil || *row.Note != note {
					t.Errorf("%+v, %v", row, err)
				}
			})
		})
	}
}

// Delete and Insert of one ID are two writes, and the second one is ordered after the first.
func TestAnotherBaseKey(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		_, w, r := openSet(t, c, jobRuns, reconcile.Settle(30*time.Second))
		ahead := w.With(writer.At(time.Now().Add(5 * time.Second).UnixMicro()))
		was := insertRun(t, ahead, jobRun{Site: "x", Kind: "a", Ended: hour, ID: 7})
		is := was
		is.Ended = hour.Add(time.Hour)
		for says, changes := range map[string][]tables.Change{
			"changed twice in one write": {jobRuns.Delete(was), jobRuns.Insert(is)},
			"cannot change: Delete the":  {jobRuns.Update(was, is)},
		} {
			_, err := w.Write(t.Context(), "move", changes...)
			if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
		if _, err := w.Write(t.Context(), "move", jobRuns.Delete(was)); err != nil {
			t.Fatal(err)
		}
		insertRun(t, w, is)
		<-time.After(time.Hour)
		if report, err := r.Verify(t.Context(), jobRuns); err != nil || report.Tables[1].Rows != 1 {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// Rows by hand whose base key was in no column until now are adopted in one run: the base row gives it to them. A row
// that leads nowhere, and that no base row has, is an orphan, and is named. A dry run counts what gets a stamp.
func TestAdoptWithoutBaseKeys(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, jobRuns, reconcile.Settle(30*time.Second), handed)
		for id := range int32(20) { // before the tables got the columns
			exec(t, s, "INSERT INTO job_runs_by_kind (kind, id, note) VALUES ('a', ?, 'n')", id)
			exec(t, s, "INSERT INTO job_runs_by_end (ended, id) VALUES (?, ?)", hour, id)
			exec(t, s, "INSERT INTO job_runs (site, ended, id, kind, note) VALUES ('x', ?, ?, 'a', 'n')", hour, id)
		}
		exec(t, s, "INSERT INTO job_runs_by_kind (kind, id, note) VALUES ('a', 99, 'n')")
		<-time.After(time.Hour)
		writers := reconcile.Writers(time.Now().Add(-time.Minute))
		for _, run := range []struct {
			name string
			call func() (*reconcile.Report, error)
			gets int // entities a stamp
		}{
			{"dry run", func() (*reconcile.Report, error) { return r.Adopt(t.Context(), jobRuns, writers, reconcile.DryRun()) }, 20},
			{"adopt", func() (*reconcile.Report, error) { return r.Adopt(t.Context(), jobRuns, writers) }, 20},
			{"adopt again", func() (*reconcile.Report, error) { return r.Adopt(t.Context(), jobRuns, writers) }, 0},
			{"verify", func() (*reconcile.Report, error) { return r.Verify(t.Context(), jobRuns) }, 0},
			{"verify, looked up", func() (*reconcile.Report, error) { return r.Verify(t.Context(), jobRuns, reconcile.Lookup()) }, 0},
			{"repair", func() (*reconcile.Report, error) { return r.Repair(t.Context(), jobRuns, reconcile.Rewrite()) }, 0},
		} {
			report, err := run.call()
			if !errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrIncomplete) || report.Stamped != run.gets {
				t.Errorf("%s: %v, %d stamps, want %d\n%v", run.name, err, report.Stamped, run.gets, report)
			}
			var orphans []string
			for f := range report.Findings() {
				if f.Class == reconcile.Orphan {
					orphans = append(orphans, f.Key()+f.Entity()+f.Other())
				}
			}
			if want := []string{"kind = 'a' AND id = 99"}; !slices.Equal(orphans, want) {
				t.Errorf("%s: the rows that lead nowhere, and that no base row has: %q, want %q\n%v", run.name, orphans, want, report)
			}
		}
		exec(t, s, "DELETE FROM job_runs_by_kind WHERE kind = 'a' AND id = 99")
		if report, err := r.Adopt(t.Context(), jobRuns, writers); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err := r.Verify(t.Context(), jobRuns); err != nil || report.Tables[1].Rows != 20 {
			t.Errorf("%v\n%v", err, report)
		}
		third := jobRun{Site: "x", Ended: hour, ID: 3}
		row, err := writer.Modify(t.Context(), w, "correct", jobRuns, third, func(r jobRun) (jobRun, error) {
			r.Kind = "b"
			return r, nil
		})
		if err != nil || row.Kind != "b" {
			t.Errorf("%+v, %v", row, err)
		}
	})
}

// A row that leads to no base row is no orphan while a base row was not compared: it may be its row.
func TestRowsOfBaseRowsThatWereNotCompared(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(*testing.T, *session.Session, *cassandratest.Cluster){
		"a column of the base row ends soon": func(t *testing.T, s *session.Session, _ *cassandratest.Cluster) {
			t.Helper()
			exec(t, s, "UPDATE job_runs USING TTL 25 SET note = 'n' WHERE site = 'x' AND ended = ? AND id = 1", hour)
		},
		"the base table cannot be read": func(_ *testing.T, _ *session.Session, c *cassandratest.Cluster) {
			c.When(cassandratest.Table("job_runs")).Do(cassandratest.Fail(cassandratest.Overloaded))
		},
	} {
		for _, option := range []reconcile.Option{reconcile.Settle(30 * time.Second), reconcile.Lookup()} {
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, jobRuns, reconcile.Settle(30*time.Second))
				exec(t, s, "INSERT INTO job_runs (site, ended, id, kind, note, updated_at) VALUES ('x', ?, 1, 'a', 'n', 1)", hour)
				exec(t, s, "INSERT INTO job_runs_by_kind (kind, id, note) VALUES ('a', 1, 'n')")
				<-time.After(time.Hour)
				hide(t, s, c)
				report, err := r.Verify(t.Context(), jobRuns, option)
				if found := slices.Collect(report.Findings()); !errors.Is(err, reconcile.ErrIncomplete) || len(found) > 0 {
					t.Errorf("%s: %v, %v\n%v", name, err, found, report)
				}
			})
		}
	}
}

// A row that leads nowhere is no orphan if a write that is under way leads it to its base row.
func TestRowsThatGetTheirBaseKeyMeanwhile(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, jobRuns, reconcile.Settle(30*time.Second))
		exec(t, s, "INSERT INTO job_runs_by_kind (kind, id, note) VALUES ('a', 2, 'n')")
		var rest sync.WaitGroup
		rest.Go(func() {
			<-time.After(20 * time.Second)
			exec(t, s, "INSERT INTO job_runs_by_kind (kind, id, site, ended) VALUES ('a', 2, 'x', ?)", hour)
		})
		report, err := r.Verify(t.Context(), jobRuns)
		rest.Wait()
		for f := range report.Findings() {
			if f.Class == reconcile.Orphan {
				t.Errorf("%v, %v\n%v", f, err, report)
			}
		}
	})
}

// Rows with ID are backfilled into a new table, and repaired in one.
func TestBackfillWithID(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, jobRuns, reconcile.Settle(30*time.Second))
		for id := range int32(20) {
			insertRun(t, w, jobRun{Site: "x", Kind: "a", Ended: hour, ID: id})
		}
		<-time.After(time.Hour)
		for _, fill := range []func() (*reconcile.Report, error){
			func() (*reconcile.Report, error) {
				return r.Backfill(t.Context(), jobRuns, "job_runs_by_kind", reconcile.Writers(time.Now()))
			},
			func() (*reconcile.Report, error) { return r.Repair(t.Context(), jobRuns) },
			func() (*reconcile.Report, error) {
				return reconcile.Entity(t.Context(), r, jobRuns, jobRun{Site: "x", Kind: "a", Ended: hour, ID: 3})
			},
		} {
			exec(t, s, "TRUNCATE job_runs_by_kind")
			if report, err := fill(); err != nil && !errors.Is(err, reconcile.ErrDrift) {
				t.Errorf("%v\n%v", err, report)
			}
			var base string
			var ended time.Time
			err := s.Reads().Query("SELECT site, ended FROM job_runs_by_kind WHERE kind = 'a' AND id = 3").Scan(&base, &ended)
			if err != nil || base != "x" || !ended.Equal(hour) {
				t.Errorf("%s %v, %v", base, ended, err)
			}
		}
	})
}
