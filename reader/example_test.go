package reader_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type reading struct {
	Sensor string
	Ts     time.Time
	Value  int
}

// The readings of a sensor are split into one partition per day.
var readings = tables.Must(tables.New[reading]("reading",
	tables.Table{Name: "readings", PartKey: []string{"sensor", "day"}, SortKey: []string{"ts DESC"}},
	tables.Derive("day", tables.Day("ts")),
))

// openReadings starts a cluster with five readings of two days. A service opens a session to its own: session.Open.
func openReadings() (r *reader.Reader, noon time.Time, end func()) {
	cluster := cassandratest.New(3)
	cluster.Create(schema.Must(schema.Declare(schema.Sets(readings))).In(map[string]string{"": "plant"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "plant"
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		panic(err)
	}
	w, err := writer.New(s)
	if err != nil {
		panic(err)
	}
	if r, err = reader.New(s); err != nil {
		panic(err)
	}
	noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		row := reading{"boiler", noon.Add(time.Duration(6*i) * time.Hour), i}
		if _, err := w.Write(context.Background(), "measure", readings.Insert(row)); err != nil {
			panic(err)
		}
	}
	return r, noon, func() {
		s.Close()
		cluster.Close()
	}
}

// Two pages of a list, the newest first. The bounds of the time say which partitions can hold its rows. The token is
// for the link to the next page.
func ExampleList() {
	r, noon, end := openReadings()
	defer end()
	newest := reader.From(readings, "readings").Eq("sensor", "boiler").
		GtOrEq("ts", noon).Lt("ts", noon.Add(48*time.Hour)).OrderBy("ts DESC").Limit(3)

	page, token, err := reader.List(context.Background(), r, "newestReadings", newest)
	for _, row := range page {
		fmt.Println(row.Ts.UTC().Format("02 15:04"), row.Value)
	}
	fmt.Println("more:", token != "", err)

	page, token, err = reader.List(context.Background(), r, "newestReadings", newest.After(token))
	for _, row := range page {
		fmt.Println(row.Ts.UTC().Format("02 15:04"), row.Value)
	}
	fmt.Println("more:", token != "", err)
	// Output:
	// 02 12:00 4
	// 02 06:00 3
	// 02 00:00 2
	// more: true <nil>
	// 01 18:00 1
	// 01 12:00 0
	// more: false <nil>
}

// Rows as a stream: pages are fetched as they are needed, and a loop that ends early leaves nothing behind.
func ExampleRead() {
	r, noon, end := openReadings()
	defer end()
	today := reader.From(readings, "readings").Eq("sensor", "boiler").GtOrEq("ts", noon).Lt("ts", noon.Add(12*time.Hour))

	for row, err := range reader.Read(context.Background(), r, "readingsOfToday", today).All() {
		if err != nil {
			fmt.Println(err) // the rows before it are right, and not all
			return
		}
		fmt.Println(row.Value)
	}
	// Output:
	// 1
	// 0
}

// Two rows of an order, as they are at one moment. It needs nodes of Cassandra 6.
func ExampleTransaction() {
	type order struct {
		ID, Customer, Status string
		Version              gocql.UUID
	}
	orders := tables.Must(tables.New[order]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"id"}},
		tables.Table{Name: "orders_by_customer", PartKey: []string{"customer"}, SortKey: []string{"id"}},
		tables.Versioned("version"), tables.Transactional()))
	show := func(ctx context.Context, r *reader.Reader, id, customer string) error {
		rows, err := reader.Transaction(ctx, r, "showOrder",
			reader.From(orders, "orders_by_id").Eq("id", id),
			reader.From(orders, "orders_by_customer").Eq("customer", customer).Eq("id", id))
		if err != nil {
			return err
		}
		if rows[0] == nil {
			return errors.New("no such order")
		}
		fmt.Println(rows[0].Status, rows[1] != nil) // true, or it is another customer's
		return nil
	}
	_ = show
}

// The error names what a query lacks, before anything is sent.
func ExampleList_invalid() {
	r, _, end := openReadings()
	defer end()

	all := reader.From(readings, "readings").Eq("sensor", "boiler")
	_, _, err := reader.List(context.Background(), r, "allReadings", all)
	fmt.Println(err)
	// Output:
	// denorm: allReadings: invalid query: table readings: column ts: a lower bound is missing: which buckets hold the rows follows from it
}

type parcel struct {
	ID    int
	State string
	City  string
}

// One process moves the parcels, by agreement: nothing sweeps the states that a parcel is not in.
var parcels = tables.Must(tables.New[parcel]("parcel",
	tables.Table{Name: "parcels", PartKey: []string{"id"}},
	tables.Table{Name: "parcels_by_state", PartKey: []string{"state"}, SortKey: []string{"id"}},
	tables.SingleWriter("state"),
))

// Two processes moved one parcel from what both had read, so it has a row under two states. A confirmed query returns
// it under the state that its base row has, and passes the other row to the function.
func ExampleQuery_Confirm() {
	s, w, end := openParcels()
	defer end()
	r, err := reader.New(s)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	was := parcel{7, "packed", "Oslo"}
	for _, change := range []tables.Change{
		parcels.Insert(was),
		parcels.Update(was, parcel{7, "lost", "Oslo"}),
		parcels.Update(was, parcel{7, "sent", "Oslo"}),
	} {
		if _, err := w.Write(ctx, "move", change); err != nil {
			panic(err)
		}
	}
	for _, state := range []string{"lost", "sent"} {
		query := reader.From(parcels, "parcels_by_state").Eq("state", state)
		plain, _, err := reader.List(ctx, r, "parcels", query)
		confirmed, _, errConfirmed := reader.List(ctx, r, "parcels", query.Confirm(func(ghost parcel) {
			fmt.Println("ghost:", ghost)
		}))
		fmt.Println(state, plain, err, "confirmed:", confirmed, errConfirmed)
	}
	// Output:
	// ghost: {7 lost Oslo}
	// lost [{7 lost Oslo}] <nil> confirmed: [] <nil>
	// sent [{7 sent Oslo}] <nil> confirmed: [{7 sent Oslo}] <nil>
}

func openParcels() (s *session.Session, w *writer.Writer, end func()) {
	cluster := cassandratest.New(3)
	cluster.Create(schema.Must(schema.Declare(schema.Sets(parcels))).In(map[string]string{"": "post"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "post"
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		panic(err)
	}
	if w, err = writer.New(s); err != nil {
		panic(err)
	}
	return s, w, func() {
		s.Close()
		cluster.Close()
	}
}

// Every page is the same query after the token of the page before. An empty token means: no more rows.
func ExampleQuery_After() {
	r, noon, end := openReadings()
	defer end()
	all := reader.From(readings, "readings").Eq("sensor", "boiler").GtOrEq("ts", noon).Lt("ts", noon.Add(48*time.Hour))

	token := reader.Token("") // of the request
	for {
		page, next, err := reader.List(context.Background(), r, "readings", all.Limit(2).After(token))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page))
		if token = next; token == "" {
			break
		}
	}
	// Output:
	// 2
	// 2
	// 1
}
