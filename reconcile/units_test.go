package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// Rows that were written by hand at times in another unit are named. A repair neither promotes nor removes them by
// the age that they pretend, and Adopt compares their values.
func TestTimesInOtherUnits(t *testing.T) {
	t.Parallel()
	for unit, of := range map[string]func(time.Time) int64{
		"seconds": time.Time.Unix, "milliseconds": time.Time.UnixMilli, "nanoseconds": time.Time.UnixNano,
	} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				set := staySet(tables.SingleWriter("room"))
				s, w, r := openSet(t, c, set)
				c.Create("ALTER TABLE shop.stays WITH gc_grace_seconds = 7200", "ALTER TABLE shop.stays_by_room WITH gc_grace_seconds = 7200")
				put := func(table, id, guest string, at int64) {
					t.Helper()
					if err := s.Writes().Query("INSERT INTO "+table+" (id, room, guest, nights) VALUES (?, '1', ?, 1) USING TIMESTAMP ?", id, guest, at).
						DefaultTimestamp(false).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				for _, table := range []string{"stays", "stays_by_room"} {
					put(table, "agrees", "ann", of(began))
				}
				put("stays", "differs", "ann", of(began))
				put("stays_by_room", "differs", "bob", of(began.Add(-time.Hour))) // in microseconds the newer one would win
				put("stays", "mixed", "ann", of(began))
				put("stays_by_room", "mixed", "bob", began.Add(-time.Hour).UnixMicro())
				put("stays_by_room", "orphan", "bob", of(began))
				<-time.After(3 * time.Hour) // beyond gc_grace_seconds
				before := ends(t, s, "stays_by_room", began)
				named := func(report *reconcile.Report, findings int) {
					t.Helper()
					found := slices.Collect(report.Findings())
					if len(found) != findings {
						t.Errorf("%d findings\n%v", len(found), report)
					}
					for _, f := range found {
						if f.Outcome != reconcile.Found || !strings.Contains(f.Reason, "write times are in "+unit) {
							t.Error(f)
						}
					}
					if report.Tables[0].Units[unit] != 3 || report.Tables[1].Units[unit] < 3 ||
						!strings.Contains(report.String(), "write times of 3 rows in "+unit) {
						t.Error(report)
					}
				}
				report, err := r.Verify(t.Context(), set)
				named(report, 3)
				if errors.Is(err, reconcile.ErrUnsafe) != (unit == "nanoseconds") {
					t.Error(err)
				}
				keep := reconcile.OnRemoval(func(reconcile.Removal) error { return nil })
				for _, ahead := range []reconcile.Option{reconcile.MaxRemovals(100), reconcile.KeepAhead(), reconcile.RemoveAhead()} {
					report, _ = r.Repair(t.Context(), set, keep, reconcile.MaxRemovals(100), ahead)
					named(report, 3)
				}
				if after := ends(t, s, "stays_by_room", began); len(after) != len(before) {
					t.Errorf("%v, was %v", after, before)
				}
				report, err = r.Adopt(t.Context(), set, reconcile.Writers(time.Now()), keep)
				if unit == "nanoseconds" {
					if !errors.Is(err, reconcile.ErrUnsafe) || !strings.Contains(fmt.Sprint(err), "copy") || report.Stamped != 0 {
						t.Errorf("%v\n%v", err, report)
					}
					return
				}
				if err != nil || report.Stamped == 0 {
					t.Errorf("%v\n%v", err, report)
				}
				if report, err := r.Verify(t.Context(), set); err != nil || report.Tables[0].Rows != 3 || report.Tables[1].Rows != 3 {
					t.Errorf("%v\n%v", err, report)
				}
				if _, err := w.Write(t.Context(), "delete", set.Delete(lodging{ID: "agrees", Room: "1"})); err != nil {
					t.Error(err)
				}
				if after := ends(t, s, "stays_by_room", began); len(after) != 2 {
					t.Errorf("%v", after)
				}
			})
		})
	}
}

// A row by hand at a time in milliseconds was written after the last such process was said to have ended: its age is
// right.
func TestAdoptFindsWritersByHandInMilliseconds(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := staySet(tables.SingleWriter("room"))
		s, _, r := openSet(t, c, set)
		ended := time.Now()
		<-time.After(time.Hour)
		for _, table := range []string{"stays", "stays_by_room"} {
			if err := s.Writes().Query("INSERT INTO "+table+" (id, room) VALUES ('a', '1') USING TIMESTAMP ?", time.Now().UnixMilli()).
				DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		report, err := r.Adopt(t.Context(), set, reconcile.Writers(ended))
		if !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(err.Error(), "after the time of Writers") || report.Stamped != 0 {
			t.Errorf("%v\n%v", err, report)
		}
	})
}
