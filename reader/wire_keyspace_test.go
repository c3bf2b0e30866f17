package reader_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type page struct {
	Name string
	Text string
}

// With StrictKeyspaces neither a forgotten With nor a misspelt name writes to or reads from the session's keyspace,
// which may be another tenant's: the call is rejected, and nothing is sent.
func TestStrictKeyspaces(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		l := open(t, c)
		pages := tables.Must(tables.New[page]("page", tables.Table{Name: "pages", PartKey: []string{"name"}}))
		c.Create("CREATE TABLE shop.pages (name text PRIMARY KEY, text text)")
		strict := testsession.New(t, l.writes, l.reads, session.StrictKeyspaces())
		w, err := writer.New(strict, writer.WithClock(writer.NewClock(time.Now)))
		if err != nil {
			t.Fatal(err)
		}
		r := l.r.With(reader.Session(strict))
		ctx := t.Context()
		time.Sleep(10 * time.Second) // the driver has read the new table by then
		sent := len(c.Journal(cassandratest.Execute)) + len(c.Journal(cassandratest.Batch)) + len(
			c.Journal(cassandratest.Prepare))
		for name, mapped := range map[string]map[string]string{"forgotten": nil, "misspelt": {"tenant": "shop"}} {
			of := strict.With(session.Keyspaces(mapped))
			w, r := w.With(writer.Session(of)), r.With(reader.Session(of))
			calls := map[string]func() error{
				"plain":     func() error { _, err := w.Write(ctx, "op", pages.Insert(page{"a", "x"})); return err },
				"versioned": func() error { _, err := w.Write(ctx, "op", l.set.Insert(doc{Tenant: "a", Title: "x"})); return err },
				"modify": func() error {
					_, err := writer.Modify(ctx, w, "op", pages, page{Name: "a"}, func(p page) (page, error) { return p, nil })
					return err
				},
				"modify versioned": func() error {
					_, err := writer.Modify(ctx, w, "op", l.set, doc{Tenant: "a"}, func(d doc) (doc, error) { return d, nil })
					return err
				},
				"load":           func() error { _, err := writer.Load(ctx, w, "op", pages, page{Name: "a"}); return err },
				"load versioned": func() error { _, err := writer.Load(ctx, w, "op", l.set, doc{Tenant: "a"}); return err },
			}
			for call, do := range calls {
				if err := do(); !errors.Is(err, writer.ErrInvalid) {
					t.Errorf("%s, %s: %v", name, call, err)
				}
			}
			if _, _, err := reader.List(ctx, r, "op", reader.From(pages, "pages").Eq("name", "a")); !errors.Is(err,
				reader.ErrInvalid) {
				t.Errorf("%s, list: %v", name, err)
			}
		}
		if now := len(c.Journal(cassandratest.Execute)) + len(c.Journal(cassandratest.Batch)) + len(
			c.Journal(cassandratest.Prepare)); now != sent {
			t.Errorf("%d requests were sent", now-sent)
		}
		shop := strict.With(session.Keyspaces(map[string]string{"": "shop"}))
		if _, err := w.With(writer.Session(shop)).Write(ctx, "op", pages.Insert(page{"a", "x"})); err != nil {
			t.Error(err)
		}
		rows, _, err := reader.List(ctx, r.With(reader.Session(shop)), "op", reader.From(pages, "pages").Eq("name", "a"))
		if err != nil || len(rows) != 1 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
}
