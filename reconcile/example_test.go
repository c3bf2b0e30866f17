package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type parcel struct{ ParcelID, Depot string }

var parcels = tables.Must(tables.New[parcel]("parcel",
	tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
	tables.Table{Name: "parcels_by_depot", PartKey: []string{"depot"}, SortKey: []string{"parcel_id"}},
))

// openParcels gives a cluster in which a parcel is in the base table and not in the query table: the write failed, and
// nobody has resumed it. A service opens a session to its own: session.Open.
func openParcels(ctx context.Context) (s *session.Session, end func()) {
	cluster := cassandratest.New(3)
	cluster.Create(schema.Must(schema.Declare(schema.Sets(parcels))).In(map[string]string{"": "post"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "post"
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		panic(err)
	}
	w, err := writer.New(s)
	if err != nil {
		panic(err)
	}
	lost := cluster.When(cassandratest.Table("parcels_by_depot")).Do(cassandratest.Drop)
	_, err = w.With(writer.Timeout(200*time.Millisecond)).Write(ctx, "register", parcels.Insert(parcel{"p1", "north"}))
	if !errors.Is(err, writer.ErrPartial) && !errors.Is(err, writer.ErrUnknown) {
		panic(err)
	}
	lost.End()
	return s, func() {
		s.Close()
		cluster.Close()
	}
}

// Verify compares the tables of a set while services write, and changes nothing. What differs for longer than Settle is
// a finding.
func ExampleReconciler_Verify() {
	ctx := context.Background()
	s, end := openParcels(ctx)
	defer end()
	r, err := reconcile.New(s, reconcile.Settle(100*time.Millisecond)) // the default of 90 s is longer than any write takes
	if err != nil {
		panic(err)
	}

	report, err := r.Verify(ctx, parcels)
	fmt.Println(errors.Is(err, reconcile.ErrDrift))
	for f := range report.Findings() {
		fmt.Println(f.Table, f.Class)
	}
	// Output:
	// true
	// post.parcels_by_depot missing
}

// Repair makes the query tables agree with the base table, each row at the timestamp of the write that it was a part
// of.
func ExampleReconciler_Repair() {
	ctx := context.Background()
	s, end := openParcels(ctx)
	defer end()
	r, err := reconcile.New(s, reconcile.Settle(100*time.Millisecond))
	if err != nil {
		panic(err)
	}

	report, err := r.Repair(ctx, parcels)
	for f := range report.Findings() {
		fmt.Println(f.Table, f.Class, f.Outcome)
	}
	fmt.Println(err)
	_, err = r.Verify(ctx, parcels)
	fmt.Println(err)
	// Output:
	// post.parcels_by_depot missing repaired
	// <nil>
	// <nil>
}

// Entity repairs one entity, for example the one that a support request is about.
func ExampleEntity() {
	ctx := context.Background()
	s, end := openParcels(ctx)
	defer end()
	r, err := reconcile.New(s, reconcile.Settle(100*time.Millisecond))
	if err != nil {
		panic(err)
	}

	report, err := reconcile.Entity(ctx, r, parcels, parcel{ParcelID: "p1"})
	for f := range report.Findings() {
		fmt.Println(f.Table, f.Class, f.Outcome)
	}
	fmt.Println(err)
	// Output:
	// post.parcels_by_depot missing repaired
	// <nil>
}
