package history_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// shop is the tables of orders in memory, and a history of them.
type shop struct {
	*testing.T
	contents *history.Contents
	writes   []history.Write[orders.Order]
}

func native(t gocql.Type) gocql.TypeInfo { return driver.NativeType(t) }

var types = map[string]gocql.TypeInfo{
	"order_id": native(gocql.TypeTimeUUID), "user_id": native(gocql.TypeUUID), "status": native(gocql.TypeVarchar),
	"total": native(gocql.TypeDecimal), "updated_at": native(gocql.TypeBigInt),
}

// newShop has three orders: one was created, paid and shipped, one created, and one created, cancelled and deleted.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, contents: new(history.Contents)}
	for _, d := range orders.Orders.Internal().Describe().Tables {
		table := history.Table{Name: d.Name}
		for _, c := range d.Columns {
			table.Columns = append(table.Columns, history.Column{Name: c.Name, Key: c.Kind != "regular", Type: types[c.Name]})
		}
		s.contents.Tables = append(s.contents.Tables, table)
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
		row := history.Row{Values: make([][]byte, len(t.Columns)), Times: make([]int64, len(t.Columns))}
		for i, c := range t.Columns {
			value, err := gocql.Marshal(c.Type, fields[c.Name])
			if err != nil {
				s.Fatal(err)
			}
			row.Values[i] = value
			if !c.Key && value != nil {
				row.Times[i] = at
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
			if s.value(n, r, "order_id")[15] != id {
				kept = append(kept, r)
			}
		}
		t.Rows = kept
	}
}

func (s *shop) column(table int, name string) int {
	for i, c := range s.contents.Tables[table].Columns {
		if c.Name == name {
			return i
		}
	}
	s.Fatalf("no column %s", name)
	return 0
}

func (s *shop) value(table int, r history.Row, name string) []byte {
	return r.Values[s.column(table, name)]
}

// row is the only row of an order in a table.
func (s *shop) row(id byte, table int) history.Row {
	for _, r := range s.contents.Tables[table].Rows {
		if s.value(table, r, "order_id")[15] == id {
			return r
		}
	}
	s.Fatalf("no row of %d in table %d", id, table)
	return history.Row{}
}

// total overwrites the total of the moved order in a table, at its WRITETIME.
func (s *shop) total(table int, total int64) {
	value, err := gocql.Marshal(types["total"], inf.NewDec(total, 0))
	if err != nil {
		s.Fatal(err)
	}
	s.row(moved, table).Values[s.column(table, "total")] = value
}

// at overwrites the WRITETIME of a column of an order in a table.
func (s *shop) at(id byte, table int, column string, at int64) {
	s.row(id, table).Times[s.column(table, column)] = at
}

func (s *shop) check() *history.Report {
	s.Helper()
	report, err := history.Check(orders.Orders, s.contents, s.writes)
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
