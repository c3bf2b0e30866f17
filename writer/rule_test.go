package writer_test

import (
	"errors"
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

type visit struct {
	ID    gocql.UUID
	Login string
	Name  string
	Page  string
	Cart  map[string]int32
	Ends  time.Time
}

var visits = tables.Must(tables.New[visit]("visit",
	tables.Table{Name: "visits", PartKey: []string{"id"}},
	tables.Table{Name: "visits_by_login", PartKey: []string{"login"}, SortKey: []string{"id"}},
	tables.ExpiresAt("ends"),
))

// A Patch that one table gets before its expiry and the other after it ends the same in both: what it has written is gone, and
// what others have written stays.
func TestPatchAcrossItsExpiry(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		start := time.Now()
		seen := visit{gocql.MustRandomUUID(), "joe", "Joe", "home", map[string]int32{"tea": 1}, start.Add(4 * time.Second)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(seen)); err != nil {
			t.Fatal(err)
		}
		longer := seen
		longer.Ends = start.Add(time.Hour)
		if _, err := w.Write(t.Context(), "extend", visits.Update(seen, longer)); err != nil {
			t.Fatal(err)
		}
		// Another request has read the row before that, and reaches one table late.
		away := c.When(cassandratest.Table("visits_by_login")).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		seen.Page, seen.Cart = "cart", map[string]int32{"cup": 2}
		_, err := w.Write(t.Context(), "visit", visits.Patch(seen, tables.Column("page"), tables.Elements("cart")))
		var failed *writer.Error
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		away.End()
		<-time.After(6 * time.Second)
		stored, err := failed.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again := new(writer.Error)
		if err := again.UnmarshalBinary(stored); err != nil {
			t.Fatal(err)
		}
		if _, err = w.Resume(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		const columns = "id, login, name, page, cart, ends"
		want := []string{fmt.Sprintf("map[cart:map[tea:1] ends:%v id:%v login:joe name:Joe page:]", time.Time{}, seen.ID)}
		for _, table := range []string{"visits", "visits_by_login"} {
			if got := rows(t, reads, table, columns); !slices.Equal(got, want) {
				t.Errorf("%s holds %v, want %v", table, got, want)
			}
		}
	})
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
			if err := reads.Query("SELECT status, bucket FROM shop."+table).Scan(&status, &bucket); err != nil || status != nil || bucket != nil {
				t.Errorf("%s: status %v, bucket %v, %v", table, status, bucket, err)
			}
		}
	})
}

// An insert that follows a delete by a process with a faster clock is acknowledged and never seen, as the documentation of Insert
// says; a Versioned set has the row, or says that it has not.
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
