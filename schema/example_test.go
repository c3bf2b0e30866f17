package schema_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type booking struct{ BookingID, Guest, Room string }

var bookings = tables.Must(tables.New[booking]("booking",
	tables.Table{Name: "bookings", PartKey: []string{"booking_id"}},
	tables.Table{Name: "bookings_by_guest", PartKey: []string{"guest"}, SortKey: []string{"booking_id"}},
))

var hotel = schema.Must(schema.Declare(
	schema.Keyspaces(schema.Keyspace{Replication: schema.Replication(map[string]int{"dc1": 3})}),
	schema.Sets(bookings),
	schema.With("bookings_by_guest", schema.Options{Compaction: map[string]string{"class": "LeveledCompactionStrategy"}}),
)).In(map[string]string{"": "hotel"})

// The CQL follows from the sets that the service writes.
func ExampleDeclare() {
	for _, statement := range hotel.Statements() {
		fmt.Println(statement)
	}
	// Output:
	// CREATE KEYSPACE hotel WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '3'}
	// CREATE TABLE hotel.bookings (
	//     booking_id text,
	//     guest text,
	//     room text,
	//     PRIMARY KEY (booking_id)
	// ) WITH comment = '[denorm:1]'
	// CREATE TABLE hotel.bookings_by_guest (
	//     guest text,
	//     booking_id text,
	//     room text,
	//     PRIMARY KEY (guest, booking_id)
	// ) WITH comment = '[denorm:1]'
	//     AND compaction = {'class': 'LeveledCompactionStrategy'}
}

// At its start a service compares what it declares with what there is. In development and tests, Ensure creates what is
// missing.
func ExampleValidate() {
	cluster := cassandratest.New(3)
	defer cluster.Close()
	config := cluster.Config()
	s, err := session.Open(config)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	ctx := context.Background()
	if err := schema.Ensure(ctx, s, hotel); err != nil {
		panic(err)
	}
	fmt.Println(schema.Validate(ctx, s, hotel))

	cluster.Create("ALTER TABLE hotel.bookings_by_guest DROP room")
	var differ *schema.DifferenceError
	if errors.As(schema.Validate(ctx, s, hotel), &differ) {
		for _, d := range differ.Differences {
			fmt.Println(d)
		}
	}
	// Output:
	// <nil>
	// hotel.bookings_by_guest: column room: does not exist
	// 		fix: ALTER TABLE hotel.bookings_by_guest ADD room text;
}

// A migration is text for review: nothing runs it.
func ExampleMigration() {
	live := schema.Must(schema.Parse("live.cql", `
		CREATE KEYSPACE hotel WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
		CREATE TABLE hotel.bookings (booking_id text PRIMARY KEY, guest text, room text)`))
	declared := schema.Must(schema.Parse("hotel.cql", `
		CREATE KEYSPACE hotel WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
		CREATE TABLE hotel.bookings (booking_id text PRIMARY KEY, guest text, room text, nights int);`))
	fmt.Print(schema.Migration(schema.Compare(declared, live)))
	// Output:
	// -- hotel.bookings, column nights: does not exist.
	// ALTER TABLE hotel.bookings ADD nights int;
}

// In development and tests, Ensure creates the keyspaces and tables that are missing. It may be called again.
func ExampleEnsure() {
	cluster := cassandratest.New(3)
	defer cluster.Close()
	s, err := session.Open(cluster.Config())
	if err != nil {
		panic(err)
	}
	defer s.Close()
	for range 2 {
		fmt.Println(schema.Ensure(context.Background(), s, hotel))
	}
	// Output:
	// <nil>
	// <nil>
}
