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
)

// Rows of a query table that end before those of the base table are not missing there: a repair would bring them back.
func TestTableOfAnotherTTL(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, listings, handed)
		if err := s.Writes().Query("ALTER TABLE listings_by_depot WITH default_time_to_live = 3600").Exec(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(t.Context(), "list", listings.Insert(listing{"a", "north", "x"})); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		for name, run := range map[string]func() (*reconcile.Report, error){
			"Verify": func() (*reconcile.Report, error) { return r.Verify(t.Context(), listings) },
			"Repair": func() (*reconcile.Report, error) { return r.Repair(t.Context(), listings) },
			"Entity": func() (*reconcile.Report, error) {
				return reconcile.Entity(t.Context(), r, listings, listing{ID: "a"})
			},
			"Watch": func() (*reconcile.Report, error) { return nil, r.Watch(t.Context(), listings) },
			"Adopt": func() (*reconcile.Report, error) {
				return r.Adopt(t.Context(), listings, reconcile.Writers(time.Now()))
			},
			"Backfill": func() (*reconcile.Report, error) {
				return r.Backfill(t.Context(), listings, "listings_by_depot", reconcile.Writers(time.Now()))
			},
		} {
			report, err := run()
			if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "default_time_to_live 1h0m0s") || report != nil ||
				!strings.Contains(err.Error(), "leave this table out (Tables, --tables; Adopt, Backfill: of the set)") {
				t.Errorf("%s: %v\n%v", name, err, report)
			}
		}
		if n := count(t, s, "listings_by_depot"); n != 0 {
			t.Errorf("%d rows are back", n)
		}
	})
}

// A run to adopt that found a process which still writes by hand cannot be continued with the time at which that one
// ended: ranges that are done may have rows of it.
func TestAdoptResumedWithLaterWriters(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE runs WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		c.Create(reconcile.StateSchema("runs"))
		s, _, r := openSet(t, c, newTickets, handed, reconcile.State("runs"))
		byHand := func(note string) {
			t.Helper()
			for _, table := range []string{"tickets", "tickets_by_state", "tickets_by_owner"} {
				if err := s.Writes().Query("INSERT INTO "+table+" (ticket_id, owner, state, note) VALUES (?, 'o', 'new', ?)", gocql.UUID{1}, note).Exec(); err != nil {
					t.Fatal(err)
				}
			}
		}
		byHand("first")
		<-time.After(time.Hour)
		ended := time.Now()
		<-time.After(10 * time.Minute)
		byHand("again")
		first, err := r.Adopt(t.Context(), newTickets, reconcile.Writers(ended))
		if !errors.Is(err, reconcile.ErrIncomplete) {
			t.Fatalf("%v\n%v", err, first)
		}
		<-time.After(time.Hour)
		report, err := r.Adopt(t.Context(), newTickets, reconcile.Writers(time.Now()), reconcile.Resume(first.Run))
		if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "begin a new run") || report != nil {
			t.Errorf("%v\n%v", err, report)
		}
		report, err = r.Adopt(t.Context(), newTickets, reconcile.Writers(time.Now()))
		if err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

func count(t *testing.T, s *session.Session, table string) (n int) {
	t.Helper()
	if err := s.Reads().Query("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Error(err)
	}
	return n
}

// A column of a key cannot be added to a table that is there.
func TestTableOfAnotherKey(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, listings, handed)
		c.Create("DROP TABLE shop.listings_by_depot", "CREATE TABLE shop.listings_by_depot (id text PRIMARY KEY, note text)")
		_, err := r.Verify(t.Context(), listings)
		if !errors.Is(err, reconcile.ErrInvalid) ||
			!strings.Contains(err.Error(), "table shop.listings_by_depot has another key, without column depot: create it anew") {
			t.Error(err)
		}
	})
}
