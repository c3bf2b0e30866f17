package writer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// These tests show rules of sets on a cluster: what a set promises, written and read.

// rows gives what a table holds in the columns, a text a row.
func rows(t *testing.T, session *gocql.Session, table, columns string) []string {
	t.Helper()
	iter := session.Query("SELECT " + columns + " FROM shop." + table).Iter()
	var out []string
	for row := map[string]any{}; iter.MapScan(row); row = map[string]any{} {
		out = append(out, fmt.Sprint(row))
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

type chore struct {
	ChoreID gocql.UUID
	Status  *string
	Bucket  *int32 // derived
	Prio    string
	Version gocql.UUID
}

var chores = tables.Must(tables.New[chore]("chore",
	tables.Table{Name: "chores", PartKey: []string{"chore_id"}},
	tables.Table{Name: "chores_by_status", PartKey: []string{"status", "bucket"}, SortKey: []string{"chore_id"}},
	tables.Table{Name: "chores_by_prio", PartKey: []string{"prio"}, SortKey: []string{"chore_id"}},
	tables.Derive("bucket", tables.Hash(4, "status")),
	tables.Versioned("version"),
))

// A derived column that is a field goes with what it follows from, in all tables of a Versioned set.
func TestDerivedColumnGoesWithItsSource(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, chores)
		w, reads := open(t, c)
		status := "open"
		before := chore{ChoreID: gocql.MustRandomUUID(), Status: &status, Prio: "high"}
		res, err := w.Write(t.Context(), "begin", chores.Insert(before))
		if err != nil {
			t.Fatal(err)
		}
		before.Version = res.Version
		after := before
		after.Status = nil
		if _, err := w.Write(t.Context(), "rest", chores.Update(before, after)); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"chores", "chores_by_prio"} {
			var status *string
			var bucket *int32
			if err := reads.Query("SELECT status, bucket FROM shop."+table).Scan(&status, &bucket); err != nil ||
				status != nil || bucket != nil {
				t.Errorf("%s: status %v, bucket %v, %v", table, status, bucket, err)
			}
		}
	})
}

// An insert that follows a delete by a process with a faster clock is acknowledged and never seen, as the documentation
// of Insert says; a Versioned set has the row, or says that it has not.
func TestInsertAfterADeleteByAFasterClock(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits, chores)
		s := connect(t, c)
		reads, w := s.Reads(), openOn(t, s)
		ahead := openOn(t, s, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(5 * time.Second) })))
		plain := visit{ID: gocql.MustRandomUUID(), Login: "joe"}
		status := "open"
		versioned := chore{ChoreID: gocql.MustRandomUUID(), Status: &status, Prio: "high"}
		res, err := w.Write(t.Context(), "create", chores.Insert(versioned))
		if err != nil {
			t.Fatal(err)
		}
		versioned.Version = res.Version
		for _, step := range []struct {
			w      *writer.Writer
			change tables.Change
		}{
			{w, visits.Insert(plain)},
			{ahead, visits.Delete(plain)},
			{w, visits.Insert(plain)},
			{ahead, chores.Delete(versioned)},
		} {
			if _, err := step.w.Write(t.Context(), "change", step.change); err != nil {
				t.Fatal(err)
			}
		}
		if got := rows(t, reads, "visits", "id"); len(got) != 0 {
			t.Errorf("the documentation says that the row is not seen: %v", got)
		}
		versioned.Version = gocql.UUID{}
		_, err = w.Write(t.Context(), "create", chores.Insert(versioned))
		if got := rows(t, reads, "chores_by_prio", "chore_id"); (err == nil) != (len(got) == 1) {
			t.Errorf("%v, and the tables hold %v", err, got)
		}
		t.Logf("versioned: %v", err)
	})
}
