package bulk_test

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
	"github.com/denorm-go/denorm/writer/bulk"
)

type sale struct{ SaleID, UserID, Seat string }

var sales = tables.Must(tables.New[sale]("sale",
	tables.Table{Name: "sales_by_id", PartKey: []string{"sale_id"}},
	tables.Table{Name: "sales_by_user", PartKey: []string{"user_id"}, SortKey: []string{"sale_id"}},
))

// openSales starts a cluster with the tables of sales. A service opens a session to its own: session.Open.
func openSales() (w *writer.Writer, cluster *cassandratest.Cluster, end func()) {
	cluster = cassandratest.New(3)
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
	return w, cluster, func() {
		s.Close()
		cluster.Close()
	}
}

// WriteAll writes many changes at a time. The second change of a ticket comes after the first.
func ExampleWriteAll() {
	w, _, end := openSales()
	defer end()
	source := func(yield func(bulk.Item, error) bool) {
		for n := range 1000 {
			ticket := sale{SaleID: fmt.Sprint("t", n%500), UserID: "bob", Seat: fmt.Sprint(n)}
			if !yield(bulk.Item{Change: sales.Insert(ticket)}, nil) {
				return
			}
		}
	}

	written := 0
	run := bulk.WriteAll(context.Background(), w, "importTickets", source)
	for done := range run.All() {
		if done.Err == nil {
			written++
		}
	}
	ticket, _ := writer.Load(context.Background(), w, "showTicket", sales, sale{SaleID: "t7"})
	fmt.Println(written, run.Err(), ticket.Seat)
	// Output: 1000 <nil> 507
}

// After an import with failures, the failed changes are resumed, and then the changes that they parked are written, in
// order.
func ExampleError() {
	w, cluster, end := openSales()
	defer end()
	ctx := context.Background()
	source := func(items []bulk.Item) func(func(bulk.Item, error) bool) {
		return func(yield func(bulk.Item, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
	var items []bulk.Item
	for n := range 6 { // three changes of each ticket
		items = append(items, bulk.Item{Change: sales.Insert(sale{
			SaleID: fmt.Sprint("t", n%2), UserID: "bob",
			Seat: fmt.Sprint(n),
		})})
	}

	outage := cluster.When(cassandratest.Table("sales_by_id")).
		Do(cassandratest.Fail(cassandratest.WriteTimeout("SIMPLE", 0, 2)))
	var failed []bulk.Done
	run := bulk.WriteAll(ctx, w.With(writer.Timeout(200*time.Millisecond)), "importTickets", source(items))
	for done := range run.All() {
		if done.Err != nil {
			failed = append(failed, done)
		}
	}
	var counts *bulk.Error
	if errors.As(run.Err(), &counts) {
		fmt.Println(counts.Written, "written,", counts.Failed, "failed,", counts.Parked, "parked")
	}
	outage.End()

	resumed, rest := make(map[*writer.Error]bool), []bulk.Item(nil)
	var unfinished []bulk.Done // to be stored: nothing of it may be lost
	for _, f := range failed {
		var cause *writer.Error // of a parked item: that of the change that parks it
		isError := errors.As(f.Err, &cause)
		switch {
		case !isError: // not begun
			rest = append(rest, f.Item)
		case errors.Is(f.Err, bulk.ErrParked):
			if resumed[cause] {
				rest = append(rest, f.Item)
			} else {
				unfinished = append(unfinished, f)
			}
		default:
			_, err := w.Resume(ctx, cause)
			if resumed[cause] = err == nil; err != nil {
				unfinished = append(unfinished, bulk.Done{Item: f.Item, Err: err})
			}
		}
	}
	again := bulk.WriteAll(ctx, w, "importTickets", source(rest))
	for done := range again.All() {
		if done.Err != nil {
			unfinished = append(unfinished, done)
		}
	}
	ticket, _ := writer.Load(ctx, w, "showTicket", sales, sale{SaleID: "t0"})
	fmt.Println(len(rest), "written again,", len(unfinished), "unfinished,", again.Err(), ticket.Seat)
	// Output:
	// 0 written, 2 failed, 4 parked
	// 4 written again, 0 unfinished, <nil> 4
}

// With Checkpoint a run that was killed begins again where it was. Each item needs its own timestamp.
func ExampleCheckpoint() {
	w, _, end := openSales()
	defer end()
	exported := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC).UnixMicro()
	source := func(yield func(bulk.Item, error) bool) {
		for line := range int64(100) {
			ticket := sale{SaleID: fmt.Sprint("t", line), UserID: "bob", Seat: fmt.Sprint(line)}
			if !yield(bulk.Item{Change: sales.Insert(ticket), At: exported + line, Position: line}, nil) {
				return
			}
		}
	}
	var saved int64 // in a database
	save := func(_ context.Context, _ string, position int64) error {
		saved = position
		return nil
	}

	run := bulk.WriteAll(context.Background(), w, "importTickets", source, bulk.Checkpoint(save))
	for range run.All() { // the errors are looked at elsewhere
	}
	fmt.Println(run.Err(), saved)
	// Output: <nil> 99
}
