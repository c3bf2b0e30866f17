package reconcile_test

import (
	"errors"
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

type member struct {
	ID, Team, Name string
	Stamp          int64
}

func memberSet(options ...tables.Option) *tables.Set[member] {
	return tables.Must(tables.New[member]("member", append([]tables.Option{
		tables.Table{Name: "members", PartKey: []string{"id"}},
		tables.Table{Name: "members_by_team", PartKey: []string{"team"}, SortKey: []string{"id"}},
		tables.Stamp("stamp"),
	}, options...)...))
}

// Both tables get a default_time_to_live when rows exist: old rows are to stay, and new rows to expire. What repair and
// backfill put must stay as the base row does.
func TestRowsFromBeforeADefaultTTL(t *testing.T) {
	t.Parallel()
	by := tables.Table{Name: "members_by_name", PartKey: []string{"name"}, SortKey: []string{"id"}, Hidden: true}
	for name, options := range map[string][]tables.Option{
		"rows": {tables.OneOf("team", "red", "blue")}, "cells": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, grown := memberSet(options...), memberSet(append([]tables.Option{by}, options...)...)
			if options == nil { // a name that is in a key cannot change, so the set still takes patches
				before, grown = memberSet(), memberSet(tables.Table{Name: by.Name, PartKey: []string{"team", "id"}, Hidden: true})
			}
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, before, handed)
				m := member{ID: "a", Team: "red", Name: "ann"}
				lost := c.When(cassandratest.Table("members_by_team")).Do(cassandratest.Drop)
				if _, err := w.Write(t.Context(), "join", before.Insert(m)); err == nil {
					t.Fatal("the write is complete")
				}
				lost.End()
				<-time.After(10 * time.Minute)
				create := "name text, id text, team text, stamp bigint, PRIMARY KEY (name, id)"
				if options == nil {
					create = "team text, id text, name text, stamp bigint, PRIMARY KEY ((team, id))"
				}
				c.Create(`ALTER TABLE shop.members WITH default_time_to_live = 3600`, `ALTER TABLE shop.members_by_team WITH default_time_to_live = 3600`,
					`CREATE TABLE shop.members_by_name (`+create+`) WITH default_time_to_live = 3600`)
				if report, err := r.Repair(t.Context(), grown, reconcile.Tables("members_by_team")); err != nil {
					t.Fatal(err, report)
				}
				if report, err := r.Backfill(t.Context(), grown, "members_by_name", reconcile.Writers(time.Now())); err != nil {
					t.Fatal(err, report)
				}
				<-time.After(61 * time.Minute)
				if _, err := writer.Load(t.Context(), w, "load", grown, m); err != nil {
					t.Fatalf("the base row: %v", err)
				}
				for _, table := range []string{"members_by_team", "members_by_name"} {
					var rows int
					if err := s.Reads().Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 1 {
						t.Errorf("%s has %d rows after an hour, %v", table, rows, err)
					}
				}
			})
		})
	}
}

// A row that does not expire keeps the stamp that Adopt has given it.
func TestAdoptOfRowsFromBeforeADefaultTTL(t *testing.T) {
	t.Parallel()
	set, before := memberSet(tables.OneOf("team", "red", "blue")), memberSet(tables.OneOf("team", "red", "blue"), tables.UnstampedRows())
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, set)
		for _, table := range []string{"members", "members_by_team"} {
			if err := s.Reads().Query("INSERT INTO " + table + " (id, team, name) VALUES ('a', 'red', 'ann')").Exec(); err != nil {
				t.Fatal(err)
			}
			c.Create("ALTER TABLE shop." + table + " WITH default_time_to_live = 3600")
		}
		<-time.After(10 * time.Minute)
		if report, err := r.Adopt(t.Context(), before, reconcile.Writers(time.Now().Add(-time.Minute))); err != nil {
			t.Fatal(err, report)
		}
		<-time.After(61 * time.Minute)
		if _, err := writer.Modify(t.Context(), w, "move", set, member{ID: "a"}, func(m member) (member, error) {
			m.Team = "blue"
			return m, nil
		}); err != nil {
			t.Errorf("a row that was adopted an hour ago cannot be written: %v", err)
		}
	})
}

// staleCopy makes, by hand, a member whose base row has the newer name, and whose query row is newer, with the former
// name: the team was changed later, by a DELETE and an INSERT of what had been read before.
func staleCopy(t *testing.T, c *cassandratest.Cluster, s *session.Session, ttl, using string) {
	t.Helper()
	for _, table := range []string{"members", "members_by_team"} {
		c.Create("ALTER TABLE shop." + table + " WITH default_time_to_live = " + ttl)
		exec(t, s, "INSERT INTO "+table+" (id, team, name) VALUES ('a', 'red', 'ann')")
	}
	for _, statement := range []string{
		"UPDATE members" + using + " SET name = 'anna' WHERE id = 'a'", "UPDATE members SET team = 'blue' WHERE id = 'a'",
		"DELETE FROM members_by_team WHERE id = 'a' AND team = 'red'", "INSERT INTO members_by_team (id, team, name) VALUES ('a', 'blue', 'ann')",
	} {
		<-time.After(time.Minute)
		exec(t, s, statement)
	}
	<-time.After(10 * time.Minute)
}

// The row of a query table is newer by its time, and older by its value. It gets the base row's value, and both rows
// end as after any write: by the default, the time starts again, and a TTL of a writer goes on. A repair does not undo
// that.
func TestAdoptOfAStaleCopyThatEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ttl, using  string // default_time_to_live, and what the base row's name is written with
		name, stamp int    // what they have left, in minutes; 0: they stay
		unsafe      bool
	}{
		"never":                   {"0", "", 0, 0, false},
		"by the default":          {"36000", "", 600, 600, false},
		"by a TTL":                {"0", " USING TTL 36000", 287, 0, true},
		"by a TTL, not a default": {"72000", " USING TTL 36000", 287, 1200, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := memberSet(tables.OneOf("team", "red", "blue"), tables.UnstampedRows())
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, set, handed)
				staleCopy(t, c, s, test.ttl, test.using)
				<-time.After(5 * time.Hour)
				near := func(ttl *int32, want int) bool {
					if ttl == nil || want == 0 {
						return ttl == nil && want == 0
					}
					left := int(*ttl) / 60
					return left > want-10 && left <= want
				}
				check := func() {
					t.Helper()
					for _, table := range []string{"members", "members_by_team"} {
						var name string
						var ends, stamp *int32
						if err := s.Reads().Query("SELECT name, TTL(name), TTL(stamp) FROM "+table).Scan(&name, &ends, &stamp); err != nil || name != "anna" {
							t.Errorf("%s has the name %q, %v", table, name, err)
						}
						if !near(ends, test.name) || !near(stamp, test.stamp) {
							t.Errorf("in %s the name has %s left, and the stamp %s; want %d, %d minutes", table, seconds(ends), seconds(stamp), test.name, test.stamp)
						}
					}
				}
				report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now().Add(-time.Minute)))
				if errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrUnsafe) != test.unsafe {
					t.Errorf("%v\n%v", err, report)
				}
				check()
				if report, err = r.Repair(t.Context(), set); errors.Is(err, reconcile.ErrUnsafe) != test.unsafe || len(report.Tables[1].Found) > 0 {
					t.Errorf("%v\n%v", err, report)
				}
				check()
				same := func(m member) (member, error) { return m, nil }
				if _, err := writer.Modify(t.Context(), w, "same", set, member{ID: "a"}, same); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// seconds is a TTL as text.
func seconds(ttl *int32) string {
	if ttl == nil {
		return "no end"
	}
	return (time.Duration(*ttl) * time.Second).String()
}

// While a replica is down, an adoption cannot write the base row over a newer row. It gives the entity no stamp, and a
// repair does not take the newer row for right.
func TestRepairLeavesWhatAdoptLeft(t *testing.T) {
	t.Parallel()
	rows := []tables.Option{tables.OneOf("team", "red", "blue"), tables.UnstampedRows()}
	for name, options := range map[string][]tables.Option{"rows": rows, "rows that end": rows, "cells": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, ttl := memberSet(options...), "0"
			if name == "rows that end" {
				ttl = "36000"
			}
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, set, handed)
				staleCopy(t, c, s, ttl, "")
				exec(t, s, "INSERT INTO members_by_team (id, team, name) VALUES ('b', 'red', 'bob')") // its base row was deleted
				<-time.After(10 * time.Minute)
				names := func() (out string) {
					for _, table := range []string{"members", "members_by_team"} {
						iter := s.Reads().Query("SELECT name, stamp FROM " + table).Iter()
						for name, stamp := "", (*int64)(nil); iter.Scan(&name, &stamp); stamp = nil {
							if out += table + " " + name + " "; stamp != nil {
								out += "stamped "
							}
						}
						if err := iter.Close(); err != nil {
							t.Error(err)
						}
					}
					return out
				}
				adopt := func() (*reconcile.Report, error) {
					return r.Adopt(t.Context(), set, reconcile.Writers(time.Now().Add(-time.Minute)))
				}
				was := names()
				down := c.When(cassandratest.Where(func(r cassandratest.Request) bool { return r.Consistency == gocql.All })).
					Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnavailable)))
				if report, err := adopt(); !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v\n%v", err, report)
				}
				if got := names(); got != was {
					t.Errorf("adopt leaves %s, want %s", got, was)
				}
				down.End()
				report, err := r.Repair(t.Context(), set)
				if got := names(); !errors.Is(err, reconcile.ErrDrift) || got != was || strings.Count(strings.Join(reasons(report), "; "), "adopt the set") != 2 || down.Handled() == 0 {
					t.Errorf("repair leaves %s, want %s\n%v\n%v\n%v", got, was, err, report, reasons(report))
				}
				if report, err := adopt(); err != nil || strings.Contains(names(), "bob") || strings.Count(names(), "anna stamped") != 2 {
					t.Errorf("%v\n%v\n%s", err, report, names())
				}
			})
		})
	}
}
