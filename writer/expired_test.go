package writer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A row that has expired before it is written is an error, and what is in the tables stays: the writes of such a row would remove it
// and say nil. It can be deleted, and be given a later expiry.
func TestRowThatHasExpiredIsRefused(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		<-time.After(time.Hour) // virtual time begins with the first timestamp that At takes
		now := time.Now()
		lives := visit{gocql.MustRandomUUID(), "joe", "Joe", "home", map[string]int32{"tea": 1}, now.Add(time.Hour)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(lives)); err != nil {
			t.Fatal(err)
		}
		stored := rows(t, reads, "visits", "id, login, name, page, cart, ends")
		for name, ends := range map[string]time.Time{
			"a second ago": now.Add(-time.Second), "now": now.Truncate(time.Millisecond), "at the epoch": time.UnixMilli(0),
		} {
			expired := lives
			expired.Page, expired.Ends = "cart", ends
			fresh := expired
			fresh.ID = gocql.MustRandomUUID()
			for verb, change := range map[string]tables.Change{
				"insert": visits.Insert(fresh), "update": visits.Update(lives, expired), "upsert": visits.Upsert(expired),
				"patch": visits.Patch(expired, tables.Column("page")), "patch of elements": visits.Patch(expired, tables.Elements("cart")),
			} {
				for _, w := range []*writer.Writer{w, w.With(writer.At(now.Add(-time.Minute).UnixMicro()))} {
					result, err := w.Write(t.Context(), "visit", change)
					wantExpired(t, verb+" of a row that ended "+name, err)
					if result != (writer.Result{}) {
						t.Errorf("%+v", result)
					}
				}
			}
			_, err := w.Explain("visit", visits.Insert(fresh))
			wantExpired(t, "explain", err)
		}
		if got := rows(t, reads, "visits", "id, login, name, page, cart, ends"); !slices.Equal(got, stored) {
			t.Errorf("%v, want %v", got, stored)
		}
		if n := len(rows(t, reads, "visits_by_login", "id")); n != 1 {
			t.Errorf("%d rows by login", n)
		}
	})
}

func wantExpired(t *testing.T, what string, err error) {
	t.Helper()
	var e *writer.Error
	if !errors.Is(err, writer.ErrInvalid) || !errors.As(err, &e) || !e.NotApplied() || e.Resumable() || !strings.Contains(err.Error(), "has expired already") {
		t.Errorf("%s: %v", what, err)
	}
}

// Whoever modifies a row into one that has expired is told the same. What has expired can still be deleted, and brought back.
func TestRowThatHasExpiredIsDeletedOrExtended(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		seen := visit{ID: gocql.MustRandomUUID(), Login: "joe", Ends: time.Now().Add(5 * time.Second)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(seen)); err != nil {
			t.Fatal(err)
		}
		_, err := writer.Modify(t.Context(), w, "logout", visits, seen, func(v visit) (visit, error) {
			v.Ends = time.Now().Add(-time.Second)
			return v, nil
		})
		wantExpired(t, "modify", err)
		<-time.After(6 * time.Second)
		longer := seen
		longer.Ends = time.Now().Add(time.Hour)
		if _, err := w.Write(t.Context(), "extend", visits.Update(seen, longer)); err != nil {
			t.Error(err)
		}
		if n := len(rows(t, reads, "visits", "id")); n != 1 {
			t.Errorf("%d rows", n)
		}
		if _, err := w.Write(t.Context(), "logout", visits.Delete(seen)); err != nil {
			t.Error(err)
		}
		if n := len(rows(t, reads, "visits", "id")); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}
