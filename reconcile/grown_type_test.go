package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type place struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// placeToday is a place after ALTER TYPE place ADD country text.
type placeToday struct {
	Street  string  `cql:"street"`
	City    string  `cql:"city"`
	Country *string `cql:"country"`
}

type located[P any] struct {
	ID    string
	Chain string
	Name  string
	Place P
}

func locatedSet[P any]() *tables.Set[located[P]] {
	return tables.Must(tables.New[located[P]]("located",
		tables.UserType[P]("place"),
		tables.Table{Name: "located", PartKey: []string{"id"}},
		tables.Table{Name: "located_by_place", PartKey: []string{"chain"}, SortKey: []string{"place", "id"}}))
}

// Where the type of a clustering key gets a field, rows from before are found under their keys with the new
// declaration, and with the old one those that are written since.
func TestTypeOfAClusteringKeyGrows(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		old, today := locatedSet[place](), locatedSet[placeToday]()
		_, w, r := openSet(t, c, old)
		const rows = 20
		for i := range rows {
			row := located[place]{string(rune('a' + i)), "c", "n", place{"high", "oslo"}}
			if _, err := w.Write(t.Context(), "open", old.Insert(row)); err != nil {
				t.Fatal(err)
			}
		}
		c.Create("ALTER TYPE shop.place ADD country text")
		// The next release writes some of them again. It has a session of its own: gocql keeps what it prepared, with the
		// type of then.
		config := c.Config()
		config.Keyspace = "shop"
		released := tables.Must(session.Open(config))
		defer released.Close()
		next := tables.Must(writer.New(released, writer.WithClock(writer.NewClock(time.Now))))
		for i := range rows / 2 {
			id := string(rune('a' + i))
			if _, err := next.Write(t.Context(), "rename", today.Insert(located[placeToday]{id, "c", "new", placeToday{"high", "oslo", nil}})); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Hour)
		for name, look := range map[string]func() (*reconcile.Report, error){
			"old set":      func() (*reconcile.Report, error) { return r.Verify(t.Context(), old) },
			"set of today": func() (*reconcile.Report, error) { return r.Verify(t.Context(), today) },
			"old entity": func() (*reconcile.Report, error) {
				return reconcile.Entity(t.Context(), r, old, located[place]{ID: "t"})
			},
			"entity of today": func() (*reconcile.Report, error) {
				return reconcile.Entity(t.Context(), r, today, located[placeToday]{ID: "t"})
			},
		} {
			report, err := look()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if found := slices.Collect(report.Findings()); len(found) > 0 {
				t.Errorf("%s: %d findings: %v", name, len(found), found[0])
			}
		}
		re := tables.Must(reader.New(released))
		got, _, err := reader.List(t.Context(), re, "list", reader.From(today, "located_by_place").Eq("chain", "c").Confirm())
		if len(got) != rows || err != nil {
			t.Errorf("%d rows confirmed: %v", len(got), err)
		}
	})
}
