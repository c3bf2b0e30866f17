//go:build accord

package accord

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

var reads = flag.Int("reads", 10_000, "transactions that read all tables of an order")

// hot is how many orders are written and read.
const hot = 20

var statuses = []string{"open", "paid", "shipped"}

// statusesOf are those of the n-th order alone: transactions of one partition wait for each other, and all orders would
// share three.
func statusesOf(n int) []string {
	var out []string
	for _, status := range statuses {
		out = append(out, fmt.Sprintf("%s %d", status, n))
	}
	return out
}

// stamped is the orders of a service without transactions, written to tables that have them: so the same readers can
// read it.
type stamped struct {
	Order

	UpdatedAt int64
}

// readAll reads the rows of an order in all tables in one transaction, and says in what they differ.
func readAll(ctx context.Context, r *reader.Reader, order, user gocql.UUID, statuses []string) (string, error) {
	orders := kinds["transactional"].orders
	queries := []reader.Query[Order]{
		reader.From(orders, "orders_by_id").Eq("order_id", order),
		reader.From(orders, "orders_by_user").Eq("user_id", user).Eq("order_id", order),
	}
	for _, status := range statuses {
		queries = append(queries, reader.From(orders, "orders_by_status").Eq("status", status).Eq("order_id", order))
	}
	rows, err := reader.Transaction(ctx, r, "readOrder", queries...)
	switch {
	case err != nil:
		return "", err
	case rows[0] == nil || rows[1] == nil:
		return "no row by id or by user", nil
	}
	base, byUser := *rows[0], *rows[1]
	if byUser.Status != base.Status || byUser.Total != base.Total {
		return fmt.Sprintf("%s %d by id, %s %d by user", base.Status, base.Total, byUser.Status, byUser.Total), nil
	}
	for n, row := range rows[2:] {
		if (row != nil) != (statuses[n] == base.Status) || row != nil && row.Total != base.Total {
			return fmt.Sprintf("%s %d by id, and another row by status %s", base.Status, base.Total, statuses[n]), nil
		}
	}
	return "", nil
}

// readWhile counts reads that find a part of a write, while others write with change.
func readWhile(t *testing.T, p *suite.Place, orders, users []gocql.UUID, change func(ctx context.Context, n int) error) (half int) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	var written, done, halves atomic.Int64
	for range 2 {
		writers.Go(func() {
			for ctx.Err() == nil {
				if err := change(ctx, rand.N(len(orders))); err == nil {
					written.Add(1)
				} else if errors.Is(err, writer.ErrInvalid) { // else another writer was first, or the machine has other load
					t.Error(err)
					return
				}
			}
		})
	}
	var failed atomic.Int64
	for range 4 {
		readers.Go(func() {
			for done.Load() < int64(*reads) && failed.Load() < int64(*reads) {
				n := rand.N(len(orders))
				difference, err := readAll(ctx, p.Reader, orders[n], users[n], statusesOf(n))
				switch {
				case err != nil:
					failed.Add(1) // a timeout on a machine with other load
				case difference != "":
					if halves.Add(1) == 1 {
						t.Log(difference)
					}
					done.Add(1)
				default:
					done.Add(1)
				}
			}
		})
	}
	readers.Wait()
	end()
	writers.Wait()
	t.Logf("%d reads, %d without an answer, %d writes, %d reads found a part of a write", done.Load(), failed.Load(), written.Load(), halves.Load())
	if written.Load() < 100 || done.Load() < int64(*reads) {
		t.Error("too few writes or reads")
	}
	return int(halves.Load())
}

// Whoever reads all tables in one transaction never sees a part of a write that is one, and does of a logged batch.
func TestReadersSeeAllOrNothing(t *testing.T) {
	cluster.Need(t, 1)
	t.Run("transactional", func(t *testing.T) {
		s := kinds["transactional"].open(t)
		var orders, users []gocql.UUID
		for n := range hot {
			o := newOrder()
			o.Status = statusesOf(n)[0]
			if _, err := s.Writer.Write(t.Context(), "createOrder", s.orders.Insert(o)); err != nil {
				t.Fatal(err)
			}
			orders, users = append(orders, o.OrderID), append(users, o.UserID)
		}
		half := readWhile(t, s.Place, orders, users, func(ctx context.Context, n int) error {
			_, err := writer.Modify(ctx, s.Writer, "change", s.orders, Order{OrderID: orders[n]}, func(o Order) (Order, error) {
				o.Status, o.Total = statusesOf(n)[rand.N(len(statuses))], o.Total+1
				return o, nil
			})
			return err
		})
		if half > 0 {
			t.Errorf("%d reads found a part of a write", half)
		}
		s.agree(t, len(orders))
	})
	t.Run("logged batch", func(t *testing.T) {
		set := tables.Must(tables.New[stamped]("order",
			tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
			tables.Type("tags", "set<text>"), tables.SingleWriter("status"), tables.Stamp("updated_at"),
		))
		var statements []string
		for _, statement := range schema.Must(schema.Declare(schema.Sets(set))).Statements() {
			with := " WITH "
			if strings.Contains(statement, " WITH ") {
				with = " AND "
			}
			statements = append(statements, statement+with+"transactional_mode = 'test_unsafe_writes'")
		}
		p := nodes.Cassandra.Open(t, 3, statements...)
		w := p.Writer.With(writer.Logged(), writer.Consistency(session.Quorum))
		var orders, users []gocql.UUID
		var rows []stamped
		for n := range hot {
			o := stamped{Order: newOrder()}
			o.Status = statusesOf(n)[0]
			result, err := w.Write(t.Context(), "createOrder", set.Insert(o))
			if err != nil {
				t.Fatal(err)
			}
			o.UpdatedAt = result.Timestamp
			orders, users, rows = append(orders, o.OrderID), append(users, o.UserID), append(rows, o)
		}
		time.Sleep(time.Second) // transactions that begin now read what is above
		var mu [hot]sync.Mutex
		half := readWhile(t, p, orders, users, func(ctx context.Context, n int) error {
			mu[n].Lock()
			defer mu[n].Unlock()
			after := rows[n]
			after.Status, after.Total = statusesOf(n)[rand.N(len(statuses))], after.Total+1
			result, err := w.Write(ctx, "change", set.Update(rows[n], after))
			after.UpdatedAt = result.Timestamp
			rows[n] = after
			return err
		})
		if half == 0 {
			t.Error("no read found a part of a logged batch: this test would not find one of a transaction either")
		}
	})
}

// What is not there, or was deleted, is nil in its place, and a row that is near one that is not there is not taken for
// it.
func TestTransactionReads(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	s, ctx := kinds["transactional"].open(t), t.Context()
	write := func(op string, changes ...tables.Change) writer.Result {
		t.Helper()
		result, err := s.Writer.Write(ctx, op, changes...)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	there, gone := newOrder(), newOrder()
	gone.UserID = there.UserID
	customer := Customer{CustomerID: gocql.MustRandomUUID(), Email: "ada@example.org", Country: "NZ"}
	write("createOrder", s.orders.Insert(there), s.customers.Insert(customer))
	gone.Version = write("createOrder", s.orders.Insert(gone)).Version
	write("cancel", s.orders.Delete(gone))
	byID := func(id gocql.UUID) reader.Query[Order] {
		return reader.From(s.orders, "orders_by_id").Eq("order_id", id)
	}
	byUser := func(id gocql.UUID) reader.Query[Order] {
		return reader.From(s.orders, "orders_by_user").Eq("user_id", there.UserID).Eq("order_id", id)
	}
	orders, err := reader.Transaction(ctx, s.Reader, "readOrders", byID(there.OrderID), byID(gone.OrderID), byID(gocql.TimeUUID()),
		byUser(there.OrderID), byUser(gone.OrderID), byUser(gocql.TimeUUID()))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{true, false, false, true, false, false} {
		if (orders[n] != nil) != want || want && (orders[n].Status != there.Status || *orders[n].Note != *there.Note || len(orders[n].Tags) != 2) {
			t.Errorf("row %d is %+v", n, orders[n])
		}
	}
	owner := func(email string) reader.Query[Customer] {
		return reader.From(s.customers, "customer_of_email").Eq("email", email)
	}
	owners, err := reader.Transaction(ctx, s.Reader, "readOwners", owner("eve@example.org"), owner(customer.Email))
	if err != nil || owners[0] != nil || owners[1] == nil || owners[1].CustomerID != customer.CustomerID {
		t.Errorf("%+v, %v", owners, err)
	}
}
