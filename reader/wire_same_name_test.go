package reader_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type twin struct {
	ID, Status string
	Stamp      int64
}

// Two tables of a set have one name, in two keyspaces: each is read by its name with the keyspace.
func TestWireTablesOfOneName(t *testing.T) {
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
		if _, err := w.Write(t.Context(), "insert", set.Insert(twin{ID: "1", Status: "open"})); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Modify(t.Context(), w, "pay", set, twin{ID: "1"}, func(x twin) (twin, error) {
			x.Status = "paid"
			return x, nil
		}); err != nil {
			t.Fatal(err)
		}
		r, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []reader.Query[twin]{
			reader.From(set, "a.twins").Eq("id", "1"), reader.From(set, "b.twins").Eq("status", "paid"),
		} {
			if rows, _, err := reader.List(t.Context(), r, "list", q); err != nil || len(rows) != 1 || rows[0].Status != "paid" {
				t.Errorf("%v: %v, %v", q, rows, err)
			}
		}
		if _, _, err := reader.List(t.Context(), r, "list", reader.From(set, "twins").Eq("id", "1")); !errors.Is(err,
			reader.ErrInvalid) {
			t.Errorf("two tables have the name: %v", err)
		}
	})
}
