package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

type follow struct {
	Follower, Followed string
	Note               *string
	Stamp              int64
}

// A row that is written again ends as it did: by the default if all of it ends so, also if its stamp is its only value,
// and never if its stamp stays, though other code has given a column a TTL.
func TestRewriteKeepsTheEndOfARow(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[follow]("follow",
		tables.Table{Name: "follows", PartKey: []string{"follower"}, SortKey: []string{"followed"}},
		tables.Table{Name: "followers", PartKey: []string{"followed"}, SortKey: []string{"follower"}},
		tables.Stamp("stamp")))
	for name, test := range map[string]struct {
		ttl, hand string
		rows      int // that are left a day later
	}{
		"a stamp alone, by the default": {"36000", "", 0},
		"a stamp that stays":            {"0", "UPDATE follows USING TTL 36000 SET note = 'n' WHERE follower = 'a' AND followed = 'b'", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, set, handed)
				for _, table := range []string{"follows", "followers"} {
					c.Create("ALTER TABLE shop." + table + " WITH default_time_to_live = " + test.ttl)
				}
				if _, err := w.Write(t.Context(), "follow", set.Insert(follow{Follower: "a", Followed: "b"})); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				exec(t, s, "DELETE FROM followers WHERE followed = 'b' AND follower = 'a'")
				if test.hand != "" {
					exec(t, s, test.hand)
				}
				<-time.After(10 * time.Minute)
				report, err := r.Repair(t.Context(), set, reconcile.Rewrite())
				if errors.Is(err, reconcile.ErrDrift) || report.Tables[1].Found[reconcile.Missing] != 1 {
					t.Errorf("%v\n%v", err, report)
				}
				<-time.After(24 * time.Hour)
				for _, table := range []string{"follows", "followers"} {
					var rows int
					if err := s.Reads().Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != test.rows {
						t.Errorf("%s has %d rows, want %d; %v", table, rows, test.rows, err)
					}
				}
			})
		})
	}
}

// Other code has written a query table without the stamp. While the base row has none, a repair does not take that for
// right, also where one batch has put the same into a table with the stamp.
func TestRepairLeavesRowsByHandWithoutTheStamp(t *testing.T) {
	t.Parallel()
	base := tables.Table{Name: "members", PartKey: []string{"id"}}
	narrow := tables.Table{Name: "members_a", PartKey: []string{"team"}, SortKey: []string{"id"}, Columns: []string{"name"}}
	whole := tables.Table{Name: "members_b", PartKey: []string{"team"}, SortKey: []string{"id"}}
	stamp := tables.Stamp("stamp")
	for name, set := range map[string]*tables.Set[member]{
		"rows":  tables.Must(tables.New[member]("member", base, narrow, whole, stamp, tables.OneOf("team", "red", "blue"), tables.UnstampedRows())),
		"cells": tables.Must(tables.New[member]("member", base, narrow, stamp)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, set, handed)
				exec(t, s, "INSERT INTO members (id, team, name) VALUES ('a', 'red', 'anna')")
				<-time.After(time.Minute)
				batch, want := "BEGIN BATCH INSERT INTO members_a (id, team, name) VALUES ('a', 'red', 'ann'); ", 1
				if name == "rows" {
					batch, want = batch+"INSERT INTO members_b (id, team, name) VALUES ('a', 'red', 'ann'); ", 2
				}
				exec(t, s, batch+"APPLY BATCH")
				<-time.After(10 * time.Minute)
				down := c.When(cassandratest.Where(func(r cassandratest.Request) bool { return r.Consistency == gocql.All })).
					Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnavailable)))
				if report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now().Add(-time.Minute))); !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v\n%v", err, report)
				}
				down.End()
				report, err := r.Repair(t.Context(), set)
				var is string
				if failed := s.Reads().Query("SELECT name FROM members").Scan(&is); failed != nil || is != "anna" ||
					!errors.Is(err, reconcile.ErrDrift) || strings.Count(strings.Join(reasons(report), "; "), "adopt the set") != want {
					t.Errorf("the base row has %q, %v\n%v\n%v", is, failed, report, reasons(report))
				}
			})
		})
	}
}
