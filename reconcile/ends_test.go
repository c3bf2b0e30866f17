package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type lodging struct {
	ID, Room, Guest string
	Nights          int32
	Note            *string
	Stamp           int64
	Until           time.Time
}

// staySet has tables of hotel stays that other code wrote, many of them USING TTL.
func staySet(options ...tables.Option) *tables.Set[lodging] {
	return tables.Must(tables.New[lodging]("stay", append([]tables.Option{
		tables.Table{Name: "stays", PartKey: []string{"id"}},
		tables.Table{Name: "stays_by_room", PartKey: []string{"room"}, SortKey: []string{"id"}},
		tables.Stamp("stamp"),
	}, options...)...))
}

// checkIn writes a row of a stay by hand.
func checkIn(t *testing.T, s *session.Session, table, id, using string) {
	t.Helper()
	if err := s.Writes().Query("INSERT INTO "+table+" (id, room, guest, nights) VALUES (?, '1', 'ann', 2) USING TIMESTAMP ?"+using,
		id, time.Now().UnixMicro()).DefaultTimestamp(false).Exec(); err != nil {
		t.Fatal(err)
	}
}

// ends are when the rows of stays end by the TTL of the guest, and by the column until, in minutes since began; "-"
// for never.
func ends(t *testing.T, s *session.Session, table string, began time.Time) map[string]string {
	t.Helper()
	out := make(map[string]string)
	iter := s.Reads().Query("SELECT id, TTL(guest), until FROM " + table).Iter()
	in := func(at time.Time) string { return fmt.Sprint(at.Sub(began).Round(time.Minute).Minutes()) }
	for id, ttl, until := "", (*int32)(nil), (*time.Time)(nil); iter.Scan(&id, &ttl, &until); ttl, until = nil, nil {
		text := []string{"-", "-"}
		if ttl != nil {
			text[0] = in(time.Now().Add(time.Duration(*ttl) * time.Second))
		}
		if until != nil {
			text[1] = in(*until)
		}
		out[id] = strings.Join(text, " ")
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Rows that end other than by default_time_to_live would stay once they are changed. Verify and Adopt count them, and
// say what to declare.
func TestRowsThatEndAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ttl  int // default_time_to_live
		want int
	}{"no default": {0, 4}, "a default": {36_000, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				stays := staySet()
				s, w, r := openSet(t, c, stays)
				for _, table := range []string{"stays", "stays_by_room"} {
					c.Create(fmt.Sprintf("ALTER TABLE shop.%s WITH default_time_to_live = %d", table, test.ttl))
					for id, using := range map[string]string{
						"shorter": " AND TTL 7200", "longer": " AND TTL 90000", "as the default": " AND TTL 36000", "about as the default": " AND TTL 35900",
						"never": " AND TTL 0",
					} {
						checkIn(t, s, table, id, using)
					}
				}
				if _, err := w.Write(t.Context(), "check in", stays.Insert(lodging{ID: "by the library", Room: "1"})); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				verified, failed := r.Verify(t.Context(), stays)
				looked, wrong := r.Verify(t.Context(), stays, reconcile.Lookup())
				adopted, err := r.Adopt(t.Context(), stays, reconcile.Writers(time.Now()))
				for _, report := range []*reconcile.Report{verified, looked, adopted} {
					for _, table := range report.Tables {
						if table.Ending != test.want || table.Rows != 6 {
							t.Errorf("%d rows of %s end, want %d\n%v", table.Ending, table.Table, test.want, report)
						}
					}
				}
				for _, err := range []error{failed, wrong, err} {
					text := fmt.Sprint(err)
					if !errors.Is(err, reconcile.ErrUnsafe) || errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrIncomplete) ||
						!strings.Contains(text, "ALTER TABLE shop.stays ADD expires_at timestamp; and declare tables.ExpiresAt") {
						t.Error(err)
					}
				}
			})
		})
	}
}

// A run that is continued reads ranges with rows that end again, so its report has all of them.
func TestContinuedRunCountsRowsThatEnd(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		const count = 40
		set := staySet(tables.SingleWriter("room"))
		s, _, r := openSet(t, c, set, reconcile.State("shop"), reconcile.Lookup())
		c.Create(reconcile.StateSchema("shop"))
		at := time.Now().UnixMicro() // in both tables, so that nothing differs and ranges are done at once
		for n := range count {
			for _, table := range []string{"stays", "stays_by_room"} {
				if err := s.Writes().Query("INSERT INTO "+table+" (id, room, nights) VALUES (?, '1', 2) USING TIMESTAMP ? AND TTL 864000",
					fmt.Sprint(n), at).DefaultTimestamp(false).Exec(); err != nil {
					t.Fatal(err)
				}
			}
		}
		<-time.After(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		first, err := r.Verify(ctx, set, reconcile.Rate(20))
		if err == nil || first.Tables[0].Rows == 0 || first.Tables[0].Rows == count {
			t.Fatalf("%v\n%v", err, first)
		}
		second, err := r.Verify(t.Context(), set, reconcile.Resume(first.Run))
		if !errors.Is(err, reconcile.ErrUnsafe) || second.Tables[0].Ending != count {
			t.Errorf("%v\n%v", err, second)
		}
	})
}

// Adopt gives rows that end their expiry, and the same end in all tables. After that a Modify keeps it.
func TestAdoptFillsTheExpiry(t *testing.T) {
	t.Parallel()
	for name, set := range endingSets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, set)
				began := time.Now()
				for _, row := range [][3]string{ // with the TTL in each table
					{"alike", "10800", "10800"},
					{"never", "0", "0"},
					{"base first", "9000", "18000"},
					{"query first", "18000", "9000"},
					{"base alone", "10800", "0"},
					{"query alone", "0", "10800"},
					{"mixed", "18000", "18000"},
				} {
					checkIn(t, s, "stays", row[0], " AND TTL "+row[1])
					<-time.After(time.Second)
					checkIn(t, s, "stays_by_room", row[0], " AND TTL "+row[2])
				}
				for _, update := range []string{"stays USING TTL 10800 SET nights = 3 WHERE", "stays_by_room USING TTL 10800 SET nights = 3 WHERE room = '1' AND"} {
					if err := s.Writes().Query("UPDATE " + update + " id = 'mixed'").Exec(); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour)
				report, err := r.Verify(t.Context(), set)
				if errors.Is(err, reconcile.ErrUnsafe) || report.Tables[0].Ending != 5 ||
					!strings.Contains(report.String(), "(5 rows with a TTL and no expiry, which adopt fills)") {
					t.Errorf("%v\n%v", err, report)
				}
				keep := reconcile.OnRemoval(func(reconcile.Removal) error { return nil })
				if report, err = r.Adopt(t.Context(), set, reconcile.Writers(time.Now()), keep); err != nil || report.Stamped == 0 {
					t.Fatalf("%v\n%v", err, report)
				}
				want := map[string]string{
					"alike": "180 180", "never": "- -", "base first": "150 150", "query first": "300 300", "base alone": "180 180",
					"query alone": "- -", "mixed": "300 180",
				}
				check := func(what string) {
					t.Helper()
					for _, table := range []string{"stays", "stays_by_room"} {
						if got := ends(t, s, table, began); !maps.Equal(got, want) {
							t.Errorf("%s: %s has %v, want %v", what, table, got, want)
						}
					}
					if report, err := r.Verify(t.Context(), set); err != nil {
						t.Errorf("%v\n%v", err, report)
					}
				}
				check("adopted")
				for id := range want {
					if _, err := writer.Modify(t.Context(), w, "stay longer", set, lodging{ID: id}, func(o lodging) (lodging, error) {
						o.Nights++
						return o, nil
					}); err != nil {
						t.Error(err)
					}
				}
				want["mixed"] = "180 180"
				check("modified")
			})
		})
	}
}

// endingSets keep the expiry of stays: rows as a whole, and cell by cell.
func endingSets() map[string]*tables.Set[lodging] {
	until := tables.ExpiresAt("until")
	return map[string]*tables.Set[lodging]{"rows": staySet(until, tables.SingleWriter("room")), "cells": staySet(until)}
}

// Rows whose expiry has passed, and which other code wrote without a TTL, stay: no run removes one, or says that it has
// put one.
func TestRowsBeyondTheirExpiryStay(t *testing.T) {
	t.Parallel()
	for name, set := range endingSets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, set, handed)
				past := time.Now().Add(-24 * time.Hour)
				put := func(table, id, guest string) {
					t.Helper()
					exec(t, s, "INSERT INTO "+table+" (id, room, guest, nights, until) VALUES (?, '1', ?, 2, ?)", id, guest, past)
					<-time.After(time.Second)
				}
				put("stays", "agrees", "ann")
				put("stays_by_room", "agrees", "ann")
				put("stays", "missing", "ann")
				put("stays_by_room", "older", "bob")
				put("stays", "older", "ann")
				put("stays", "newer", "ann")
				put("stays_by_room", "newer", "bob")
				<-time.After(3 * time.Hour)
				writers := reconcile.Writers(time.Now())
				for what, run := range map[string]func() (*reconcile.Report, error){
					"repair":   func() (*reconcile.Report, error) { return r.Repair(t.Context(), set) },
					"rewrite":  func() (*reconcile.Report, error) { return r.Repair(t.Context(), set, reconcile.Rewrite()) },
					"backfill": func() (*reconcile.Report, error) { return r.Backfill(t.Context(), set, "stays_by_room", writers) },
					"adopt":    func() (*reconcile.Report, error) { return r.Adopt(t.Context(), set, writers) },
				} {
					report, err := run()
					if name == "rows" && !strings.Contains(fmt.Sprint(err, reasons(report)), "the expiry of the row has passed") {
						t.Errorf("%s: %v\n%v", what, err, report)
					}
					if base := ends(t, s, "stays", past); len(base) != 4 {
						t.Errorf("%s: the base table has %v", what, base)
					}
					if rows := ends(t, s, "stays_by_room", past); len(rows) < 3 {
						t.Errorf("%s: the query table has %v", what, rows)
					}
				}
			})
		})
	}
}

// A row of which some columns end by a TTL, and others stay, gets no expiry, which would end it as a whole. It is
// named.
func TestRowsThatEndInPart(t *testing.T) {
	t.Parallel()
	sets := endingSets()
	sets["no expiry"] = staySet()
	for name, set := range sets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, set, handed)
				for _, table := range []string{"stays", "stays_by_room"} {
					for _, id := range []string{"agrees", "older"} {
						checkIn(t, s, table, id, "")
						<-time.After(time.Second)
					}
				}
				exec(t, s, "UPDATE stays SET guest = 'bob' WHERE id = 'older'") // it is written again
				<-time.After(time.Second)
				exec(t, s, "UPDATE stays_by_room SET guest = 'joe' WHERE id = 'older' AND room = '1'")
				for _, id := range []string{"agrees", "older"} {
					exec(t, s, "UPDATE stays USING TTL 20000 SET note = 'code' WHERE id = ?", id)
					exec(t, s, "UPDATE stays_by_room USING TTL 20000 SET note = 'code' WHERE room = '1' AND id = ?", id)
				}
				<-time.After(time.Hour)
				_, verified := r.Verify(t.Context(), set)
				_, adopted := r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
				for _, err := range []error{verified, adopted} {
					if !errors.Is(err, reconcile.ErrUnsafe) || !strings.Contains(fmt.Sprint(err), "shop.stays has 2 rows with a TTL on some columns") {
						t.Error(err)
					}
				}
				if name != "no expiry" {
					if _, err := writer.Modify(t.Context(), w, "stay longer", set, lodging{ID: "agrees"}, func(o lodging) (lodging, error) {
						o.Nights++
						return o, nil
					}); !errors.Is(err, writer.ErrInvalid) {
						t.Error(err)
					}
				}
				<-time.After(10 * time.Hour)
				for _, table := range []string{"stays", "stays_by_room"} {
					if rows := ends(t, s, table, time.Now()); fmt.Sprint(rows) != "map[agrees:- - older:- -]" {
						t.Errorf("%s has %v", table, rows)
					}
				}
			})
		})
	}
}

// Of a column that is null in rows by hand, and whose field is no pointer, Adopt says so, with the share of rows.
func TestAdoptNamesNulls(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := staySet(tables.SingleWriter("room"))
		s, _, r := openSet(t, c, set)
		for _, id := range []string{"a", "b", "c", "d"} {
			for _, table := range []string{"stays", "stays_by_room"} {
				checkIn(t, s, table, id, "")
			}
		}
		for _, key := range []string{"stays WHERE", "stays_by_room WHERE room = '1' AND"} {
			if err := s.Writes().Query("DELETE guest, nights FROM " + key + " id = 'b'").Exec(); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Hour)
		report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
		if want := map[string]int{"guest": 1, "nights": 1}; err != nil || !maps.Equal(report.Tables[0].Nulls, want) {
			t.Errorf("%v, nulls %v", err, report.Tables[0].Nulls)
		}
		if text := report.String(); !strings.Contains(text, "(guest is null in 1 (25 %), and its field is not a pointer; nights is null in") {
			t.Error(text)
		}
	})
}
