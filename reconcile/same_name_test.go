package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type twin struct {
	ID, Status, Note string
	Stamp            int64
}

// Two tables of a set have one name, in two keyspaces. Verify counted the row that b.twins lacks as missing in a.twins,
// the base table, and said that b.twins agrees.
func TestTablesOfOneName(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[twin]("twin",
		tables.Table{Keyspace: "a", Name: "twins", PartKey: []string{"id"}},
		tables.Table{Keyspace: "b", Name: "twins", PartKey: []string{"status"}, SortKey: []string{"id"}},
		tables.OneOf("status", "open", "paid"), tables.Stamp("stamp")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"a": "a", "b": "b"}).Statements()...)
		s, err := session.Open(c.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
		if err != nil {
			t.Fatal(err)
		}
		lost := c.When(cassandratest.Text("b.twins")).Do(cassandratest.Fail(cassandratest.Overloaded))
		_, err = w.Write(t.Context(), "insert", set.Insert(twin{ID: "1", Status: "open", Note: "n"}))
		if err == nil || lost.Handled() == 0 {
			t.Fatal(err)
		}
		lost.End()
		if _, err := w.Write(t.Context(), "insert", set.Insert(twin{ID: "2", Status: "open", Note: "n"})); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		r, err := reconcile.New(s, reconcile.Settle(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		_, verified := r.Verify(t.Context(), set)
		_, repaired := r.Repair(t.Context(), set)
		_, filled := r.Backfill(t.Context(), set, "twins")
		for _, err := range []error{verified, repaired, filled} {
			if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), "two of its tables have the name twins") {
				t.Error(err)
			}
		}
	})
}
