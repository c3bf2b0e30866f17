package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// branch has a unique key, and is itself under a key, of a type that gets a field.
type branch[P any] struct {
	Chain   string
	Place   P
	Phone   string
	Area    string
	Spot    P
	Version gocql.UUID
}

func branches[P any]() *tables.Set[branch[P]] {
	return tables.Must(tables.New[branch[P]]("branch",
		tables.UserType[P]("place"),
		tables.Table{Name: "branches", PartKey: []string{"chain"}, SortKey: []string{"place"}},
		tables.Table{Name: "branches_by_phone", PartKey: []string{"phone"}, Unique: true},
		tables.Table{Name: "branches_by_spot", PartKey: []string{"area"}, SortKey: []string{"spot"}, Unique: true},
		tables.Versioned("version"),
	))
}

// Where the type of a key gets a field, owners and their unique keys are the same with the old declaration and the new
// one: claims that are lost are missed, and claimed again, and no others.
func TestTypeOfAUniqueKeyGrows(t *testing.T) {
	t.Parallel()
	for name, declared := range map[string]func() tables.Described{
		"before": func() tables.Described { return branches[place]() }, "today": func() tables.Described { return branches[placeToday]() },
	} {
		for _, lost := range []string{"branches_by_phone", "branches_by_spot"} {
			t.Run(name+", lost "+lost, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
					old, today, set := branches[place](), branches[placeToday](), declared()
					c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
					open := func() (*writer.Writer, *reconcile.Reconciler) {
						config := c.Config()
						config.Keyspace = "shop"
						s := tables.Must(session.Open(config))
						t.Cleanup(s.Close)
						return tables.Must(writer.New(s, writer.WithClock(writer.NewClock(time.Now)))), tables.Must(reconcile.New(s, reconcile.Settle(time.Second), reconcile.Ranges(4)))
					}
					w, _ := open()
					before := branch[place]{Chain: "c", Place: place{"high", "oslo"}, Phone: "1", Area: "a", Spot: place{"high", "oslo"}}
					if _, err := w.Write(t.Context(), "open", old.Insert(before)); err != nil {
						t.Fatal(err)
					}
					c.Create("ALTER TYPE shop.place ADD country text")
					w, r := open()
					since := branch[placeToday]{Chain: "c", Place: placeToday{"low", "oslo", nil}, Phone: "2", Area: "a", Spot: placeToday{"low", "oslo", nil}}
					if _, err := w.Write(t.Context(), "open", today.Insert(since)); err != nil {
						t.Fatal(err)
					}
					c.Create("TRUNCATE shop." + lost)
					<-time.After(time.Hour)
					report, err := r.Repair(t.Context(), set)
					if err != nil {
						t.Error(err)
					}
					found := slices.Collect(report.Findings())
					for _, f := range found {
						if f.Table != "shop."+lost || f.Class != reconcile.Unclaimed || f.Outcome != reconcile.Repaired {
							t.Error(f)
						}
					}
					if len(found) != 2 {
						t.Errorf("%d findings", len(found))
					}
					<-time.After(time.Hour)
					entity := func(report *reconcile.Report, err error) {
						t.Helper()
						if err != nil || len(slices.Collect(report.Findings())) > 0 || report.Tables[1].Unheld+report.Tables[2].Unheld > 0 {
							t.Errorf("%v\n%v", err, report)
						}
					}
					entity(reconcile.Entity(t.Context(), r, old, before))
					before.Place.Street, before.Spot.Street = "low", "low"
					entity(reconcile.Entity(t.Context(), r, old, before))
					entity(reconcile.Entity(t.Context(), r, today, since))
					since.Place.Street, since.Spot.Street = "high", "high"
					entity(reconcile.Entity(t.Context(), r, today, since))
					for _, set := range []tables.Described{old, today} {
						if report, err := r.Verify(t.Context(), set); err != nil || report.Tables[0].Rows != 2 || report.Tables[1].Rows != 2 || report.Tables[2].Rows != 2 {
							t.Errorf("%v\n%v", err, report)
						}
					}
				})
			})
		}
	}
}
