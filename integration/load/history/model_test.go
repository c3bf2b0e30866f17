package history_test

import (
	"testing"

	"github.com/gocql/gocql"

	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// shop is the tables of orders in memory, and a history of them.
type shop struct {
	*testing.T
	contents *history.Contents[orders.Order]
	writes   []history.Write[orders.Order]
}

// newShop has three orders: one was created, paid and shipped, one created, and one created, cancelled and deleted.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t}
	var err error
	if s.contents, err = history.Describe(orders.Orders); err != nil {
		t.Fatal(err)
	}
	s.did(moved, tables.Insert, 100, orders.Open, 1)
	s.did(moved, tables.Update, 200, orders.Paid, 2)
	s.did(moved, tables.Update, 300, orders.Shipped, 3)
	s.did(created, tables.Insert, 150, orders.Open, 4)
	s.did(deleted, tables.Insert, 160, orders.Open, 5)
	s.did(deleted, tables.Update, 170, orders.Cancelled, 6)
	s.did(deleted, tables.Delete, 180, orders.Cancelled, 6)
	s.put(moved, 300, orders.Shipped, 3)
	s.put(created, 150, orders.Open, 4)
	return s
}

// The ids of the orders.
const (
	moved byte = iota + 1
	created
	deleted
	strange
)

func order(id byte, status orders.Status, total int64) orders.Order {
	o := orders.Order{OrderID: gocql.UUID{15: id}, UserID: gocql.UUID{0: id}, Status: status}
	o.OrderID[6] = 0x10 // a timeuuid
	if total != 0 {
		o.Total = inf.NewDec(total, 0)
	}
	return o
}

// did adds an acknowledged write to the history, and returns it to be changed.
func (s *shop) did(id byte, kind tables.Kind, at int64, status orders.Status, total int64) *history.Write[orders.Order] {
	s.writes = append(s.writes, history.Write[orders.Order]{
		By: "test", Kind: kind, Row: order(id, status, total), Timestamp: at, Outcome: writer.Applied,
	})
	return &s.writes[len(s.writes)-1]
}

var all = []int{0, 1, 2}

// put adds a row to these tables, or to all.
func (s *shop) put(id byte, at int64, status orders.Status, total int64, in ...int) {
	s.Helper()
	if in == nil {
		in = all
	}
	o := order(id, status, total)
	o.UpdatedAt = at
	fields := map[string]any{
		"order_id": o.OrderID, "user_id": o.UserID, "status": o.Status, "total": o.Total, "updated_at": o.UpdatedAt,
	}
	for _, n := range in {
		t := &s.contents.Tables[n]
		row := history.Row{Values: make(map[string][]byte), Times: make(map[string]int64)}
		for _, c := range t.Columns {
			value, err := gocql.Marshal(c.Type.Info(), fields[c.Name])
			if err != nil {
				s.Fatal(err)
			}
			if value != nil {
				row.Values[c.Name] = value
			}
			if !c.Key && value != nil {
				row.Times[c.Name] = at
			}
		}
		t.Rows = append(t.Rows, row)
	}
}

// remove removes the rows of an order from these tables, or from all.
func (s *shop) remove(id byte, in ...int) {
	if in == nil {
		in = all
	}
	for _, n := range in {
		t := &s.contents.Tables[n]
		var kept []history.Row
		for _, r := range t.Rows {
			if r.Values["order_id"][15] != id {
				kept = append(kept, r)
			}
		}
		t.Rows = kept
	}
}

// row is the only row of an order in a table.
func (s *shop) row(id byte, table int) history.Row {
	for _, r := range s.contents.Tables[table].Rows {
		if r.Values["order_id"][15] == id {
			return r
		}
	}
	s.Fatalf("no row of %d in table %d", id, table)
	return history.Row{}
}

// total overwrites the total of the moved order in a table, at its WRITETIME.
func (s *shop) total(table int, total int64) {
	value, err := gocql.Marshal(gocql.NewNativeType(4, gocql.TypeDecimal, ""), inf.NewDec(total, 0))
	if err != nil {
		s.Fatal(err)
	}
	s.row(moved, table).Values["total"] = value
}

// at overwrites the WRITETIME of a column of an order in a table.
func (s *shop) at(id byte, table int, column string, at int64) {
	s.row(id, table).Times[column] = at
}

func (s *shop) check() *history.Report {
	s.Helper()
	report, err := history.Check(s.contents, s.writes)
	if err != nil {
		s.Fatal(err)
	}
	return report
}

const (
	byID = iota
	byUser
	byStatus
)
