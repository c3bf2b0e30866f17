package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type sighted struct {
	ID        string
	CreatedAt time.Time
	Text      string
}

var sights = tables.Must(tables.New[sighted]("sight",
	tables.Table{Name: "sights", PartKey: []string{"id"}},
	tables.Table{Name: "sights_by_day", PartKey: []string{"day"}, SortKey: []string{"created_at", "id"}},
	tables.Derive("day", tables.Day("created_at")),
))

type versionedSight struct {
	ID        string
	CreatedAt time.Time
	Text      string
	Version   gocql.UUID
}

// The driver sends a zero time.Time as an empty value, which is neither null nor a time. A row that was written by hand
// with one has no day: a run says so, and a read with Confirm leaves it out.
func TestEmptyTimestamp(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, sights, handed)
		now := time.Now()
		for _, id := range []string{"a", "b"} {
			if _, err := w.Write(t.Context(), "sight", sights.Insert(sighted{id, now, "x"})); err != nil {
				t.Fatal(err)
			}
		}
		byHand := func() {
			t.Helper()
			if err := s.Writes().Query("INSERT INTO sights (id, created_at, text) VALUES ('b', ?, 'y')", time.Time{}).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Second)
		byHand()
		rd, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		day := reader.From(sights, "sights_by_day").GtOrEq("created_at", now.Add(-time.Hour)).Lt("created_at", now.Add(time.Hour))
		rows, _, err := reader.List(t.Context(), rd, "sights", day.Confirm())
		if err != nil || len(rows) != 1 || rows[0].ID != "a" {
			t.Errorf("%v, %v: want the row whose base row says the same", rows, err)
		}
		<-time.After(time.Hour)
		for _, option := range [][]reconcile.Option{nil, {reconcile.Lookup()}} {
			report, err := r.Verify(t.Context(), sights, option...)
			if !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(err.Error(), "column created_at") {
				t.Errorf("%v\n%v: want to be told of the row", err, report)
			}
		}
	})
}

// Adopt rejects such a row where a key follows from it, and says so; elsewhere it is a zero time, as the driver reads
// it.
func TestAdoptEmptyTimestamp(t *testing.T) {
	t.Parallel()
	for name, byDay := range map[string]bool{"in a key": true, "not in a key": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				options := []tables.Option{
					tables.Table{Name: "sights", PartKey: []string{"id"}},
					tables.Table{Name: "sights_by_text", PartKey: []string{"text"}, SortKey: []string{"id"}},
					tables.Versioned("version"),
				}
				if byDay {
					options = append(options, tables.Derive("day", tables.Day("created_at")),
						tables.Table{Name: "sights_by_day", PartKey: []string{"day"}, SortKey: []string{"created_at", "id"}})
				}
				set := tables.Must(tables.New[versionedSight]("sight", options...))
				s, w, r := openSet(t, c, set, handed)
				for _, table := range []string{"sights", "sights_by_text"} {
					if err := s.Writes().Query("INSERT INTO "+table+" (id, created_at, text) VALUES ('b', ?, 'x')", time.Time{}).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour)
				report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
				if byDay {
					if err == nil {
						t.Errorf("adopted a row with an empty value in a key:\n%v", report)
					}
					t.Log(err, report)
					return
				}
				if err != nil {
					t.Fatal(err, report)
				}
				row, err := writer.Modify(t.Context(), w, "edit", set, versionedSight{ID: "b"}, func(v versionedSight) (versionedSight, error) {
					if !v.CreatedAt.IsZero() {
						t.Errorf("an empty timestamp is %v", v.CreatedAt)
					}
					v.Text = "z"
					return v, nil
				})
				if err != nil || row.Text != "z" {
					t.Error(row, err)
				}
			})
		})
	}
}
