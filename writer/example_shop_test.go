package writer_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// openSales starts a cluster with the tables of sales. A service opens a session to its own: session.Open.
func openSales() (w *writer.Writer, cluster *cassandratest.Cluster, end func()) {
	w, _, cluster, end = openTables(sales)
	return w, cluster, end
}

func openTables(set tables.Described) (w *writer.Writer, s *session.Session, cluster *cassandratest.Cluster,
	end func(),
) {
	cluster = cassandratest.New(3)
	cluster.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		panic(err)
	}
	w, err = writer.New(s)
	if err != nil {
		panic(err)
	}
	return w, s, cluster, func() {
		s.Close()
		cluster.Close()
	}
}

// One call writes the sale to both tables, at one timestamp.
func ExampleWriter_Write() {
	w, _, end := openSales()
	defer end()

	ticket := sale{SaleID: "t1", UserID: "bob", Seat: "12A"}
	result, err := w.Write(context.Background(), "sellTicket", sales.Insert(ticket))
	fmt.Println(result.Timestamp > 0, err)
	// Output: true <nil>
}

// The answer of one table is lost, and the writer has no time left to ask again: the error says what is known of each
// table. Resume sends what is still missing, with the same values at the same timestamp.
func ExampleWriter_Resume() {
	w, cluster, end := openSales()
	defer end()
	timeout := cassandratest.Fail(cassandratest.WriteTimeout("SIMPLE", 0, 2))
	outage := cluster.When(cassandratest.Table("sales_by_user")).Do(timeout)

	_, err := w.With(writer.Timeout(200*time.Millisecond)).Write(context.Background(), "sellTicket",
		sales.Insert(sale{SaleID: "t1", UserID: "bob", Seat: "12A"}))
	var failed *writer.Error
	if errors.As(err, &failed) {
		for _, table := range failed.Tables {
			fmt.Println(table.Table, table.Outcome)
		}
	}

	outage.End()
	_, err = w.Resume(context.Background(), failed)
	fmt.Println("resumed:", err)
	// Output:
	// sales_by_id applied
	// sales_by_user unknown
	// resumed: <nil>
}

// Modify reads a row by its key, changes it and writes it to all tables.
func ExampleModify() {
	w, _, end := openSales()
	defer end()
	ctx := context.Background()
	if _, err := w.Write(ctx, "sellTicket", sales.Insert(sale{SaleID: "t1", UserID: "bob", Seat: "12A"})); err != nil {
		panic(err)
	}

	moved, err := writer.Modify(ctx, w, "changeSeat", sales, sale{SaleID: "t1"}, func(s sale) (sale, error) {
		s.Seat = "3F"
		return s, nil
	})
	fmt.Println(moved, err)

	_, err = writer.Modify(ctx, w, "changeSeat", sales, sale{SaleID: "t2"}, func(s sale) (sale, error) { return s, nil })
	fmt.Println(errors.Is(err, writer.ErrNotFound))
	// Output:
	// {t1 bob 3F} <nil>
	// true
}

// Load reads a row by its key.
func ExampleLoad() {
	w, _, end := openSales()
	defer end()
	ctx := context.Background()
	if _, err := w.Write(ctx, "sellTicket", sales.Insert(sale{SaleID: "t1", UserID: "bob", Seat: "12A"})); err != nil {
		panic(err)
	}

	fmt.Println(writer.Load(ctx, w, "showTicket", sales, sale{SaleID: "t1"}))
	// Output: {t1 bob 12A} <nil>
}

// A client repeats a request with the timestamp of the first try. At makes all repeats the same write.
func ExampleWriter_With() {
	w, _, end := openSales()
	defer end()
	created := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC).UnixMicro() // of the message that a queue delivers twice

	for range 2 {
		result, err := w.With(writer.At(created), writer.Logged()).Write(context.Background(), "sellTicket",
			sales.Insert(sale{SaleID: "t1", UserID: "bob", Seat: "12A"}))
		fmt.Println(result.Timestamp, err)
	}
	// Output:
	// 1714564800000000 <nil>
	// 1714564800000000 <nil>
}
