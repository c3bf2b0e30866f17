package reconcile_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
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
