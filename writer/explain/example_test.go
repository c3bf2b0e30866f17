package explain_test

import (
	"fmt"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/explain"
)

type sale struct{ SaleID, UserID, Seat string }

var sales = tables.Must(tables.New[sale]("sale",
	tables.Table{Name: "sales_by_id", PartKey: []string{"sale_id"}},
	tables.Table{Name: "sales_by_user", PartKey: []string{"user_id"}, SortKey: []string{"sale_id"}},
))

// openSales starts a cluster with the tables of sales. A service opens a session to its own: session.Open.
func openSales() (w *writer.Writer, end func()) {
	cluster := cassandratest.New(3)
	cluster.Create(schema.Must(schema.Declare(schema.Sets(sales))).In(map[string]string{"": "shop"}).Statements()...)
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
	return w, func() {
		s.Close()
		cluster.Close()
	}
}

// Write says what a write would send, and what that guarantees. It sends nothing.
func ExampleWrite() {
	w, end := openSales()
	defer end()

	text, err := explain.Write(w, "sellTicket", sales.Insert(sale{SaleID: "t1", UserID: "bob", Seat: "12A"}))
	if err != nil {
		panic(err)
	}
	fmt.Print(text)
	// Output:
	// write           sellTicket
	// mode            fan-out: one entity, without deletes
	// requests        2, all at the same time; one timestamp for all statements
	//   1. 1 statement
	//       1 x put     INSERT INTO shop.sales_by_id (sale_id,user_id,seat) VALUES (?,?,?) USING TIMESTAMP ?
	//   2. 1 statement
	//       1 x put     INSERT INTO shop.sales_by_user (user_id,sale_id,seat) VALUES (?,?,?) USING TIMESTAMP ?
	// acknowledged    by LOCAL_QUORUM of the replicas of every partition; until then the write is not reported as done
	// atomic          each request by itself, not all of them together
	// a reader sees   some tables with the write and others still without, while it is under way, and after an error until Resume has returned nil
	// client dies     some tables have the write and others do not, until the entity is written again
	// request fails   it alone is sent again, in all up to 4 times, each for 2.5s at most, none begun after 5s; then Write says what is known of each table, and Resume finishes
	// time limit      5s for all of it, or the deadline of the call's context if that is earlier
	// size limit      none for the write; max_mutation_size of the server for each request
}
