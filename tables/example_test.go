package tables_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// Orders are kept by id, by user and by status. The order is that of a shop: see the type Order of this test.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
	tables.OneOf("status", Open, Paid, Shipped, Cancelled),
	tables.Stamp("updated_at"),
	tables.Type("order_id", "timeuuid"),
))

// An update writes the whole row to every table. It puts the row under the new status and removes it from the three
// others, whichever of them it was read under: another writer may have moved it since.
func ExampleSet_Update() {
	order := Order{OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open, Total: inf.NewDec(1995, 2)}
	order.UpdatedAt = time.Now().Add(-time.Hour).UnixMicro() // as it was read, or Result.Timestamp of its insert
	paid := order
	paid.Status = Paid

	change := Orders.Update(order, paid)
	fmt.Println(change)

	rendered, err := change.Internal().Render(time.Now().UnixMicro(), nil) // a writer does this
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range rendered.Mutations {
		fmt.Println(" ", m)
	}
	fmt.Println(rendered.Mutations[0].Statement)
	// Output:
	// update order
	//   put orders_by_id
	//   put orders_by_user
	//   put orders_by_status
	//   remove orders_by_status
	//   remove orders_by_status
	//   remove orders_by_status
	// INSERT INTO orders_by_id (order_id,user_id,status,total,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ?
}

// A declaration that would lose rows is rejected when the service starts, with all of its faults.
func ExampleNew_faults() {
	_, err := tables.New[Order]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}},
		tables.Table{Name: "orders_by_state", PartKey: []string{"state"}, SortKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_total", PartKey: []string{"total"}, SortKey: []string{"order_id"}},
	)
	fmt.Println(err)
	// Output:
	// tables: set "order" has 3 fault(s)
	// 	table orders_by_state: column state: PartKey names a column that is no field of orders.Order: did you mean status?
	// 	column total: decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would erase it
	// 	table orders_by_user: column order_id: the key of a query table must contain the base key, or two entities could share a row: add it; if no two may have one key, declare the table Unique
	// 	the columns are order_id, user_id, status, total, updated_at: each is named by the db tag of its field, or else by the field's name in snake case
}

// Select returns the statement that reads the before-image of an update.
func ExampleSet_Select() {
	stmt, names := Orders.Select()
	fmt.Println(stmt)
	fmt.Println(names)
	// Output:
	// SELECT order_id,user_id,status,total,updated_at FROM orders_by_id WHERE order_id=?
	// [order_id]
}

// An error names the entity, the column and the rule, and never a value of the row.
func ExampleInvalidError() {
	order := Order{OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open}
	stolen := order
	stolen.UserID = gocql.MustRandomUUID()

	_, err := Orders.Update(order, stolen).Internal().Render(time.Now().UnixMicro(), nil)
	var invalid *tables.InvalidError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Entity, invalid.Column)
		fmt.Println(invalid)
	}
	// Output:
	// order user_id
	// entity order: column user_id: a key column is immutable unless the set says how it may change: OneOf (a list of values), SingleWriter (one writer at a time) or Versioned (any value)
}

// A service tests its own logic by looking at the changes it makes.
func ExampleChange() {
	cancel := func(o Order) tables.Change {
		after := o
		after.Status = Cancelled
		return Orders.Update(o, after)
	}
	change := cancel(Order{Status: Open})
	fmt.Println(change.Kind(), change.Entity(), change.Before().(Order).Status, "->", change.After().(Order).Status)
	// Output: update order open -> cancelled
}

// A basket is a row with a map of products. They are put and removed one by one, without reading the row.
func ExampleSet_Patch() {
	type Basket struct {
		CustomerID gocql.UUID
		Products   map[gocql.UUID]int32
	}
	baskets := tables.Must(tables.New[Basket]("basket", tables.Table{
		Name:    "basket_by_customer",
		PartKey: []string{"customer_id"},
	}))

	customer, apples := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	for _, change := range []tables.Change{
		baskets.Patch(Basket{customer, map[gocql.UUID]int32{apples: 3}}, tables.Elements("products")),
		baskets.Patch(Basket{CustomerID: customer}, tables.Without("products", apples)),
	} {
		rendered, err := change.Internal().Render(time.Now().UnixMicro(), nil)
		if err != nil {
			fmt.Println(err)
		}
		for _, m := range rendered.Mutations {
			fmt.Println(m.Statement)
		}
	}
	// Output:
	// INSERT INTO basket_by_customer (customer_id) VALUES (?) USING TIMESTAMP ?
	// UPDATE basket_by_customer USING TIMESTAMP ? SET products=products+? WHERE customer_id=?
	// INSERT INTO basket_by_customer (customer_id) VALUES (?) USING TIMESTAMP ?
	// UPDATE basket_by_customer USING TIMESTAMP ? SET products=products-? WHERE customer_id=?
}

// An address is a user-defined type. Its columns are frozen unless Type says otherwise.
func ExampleUserType() {
	type Address struct {
		StreetName string `cql:"street_name"`
		Zipcode    int32  `cql:"zipcode"`
	}
	type Customer struct {
		ID   gocql.UUID
		Home *Address
		Work *Address
	}
	customers := tables.Must(tables.New[Customer]("customer",
		tables.Table{Name: "customers", PartKey: []string{"id"}},
		tables.UserType[Address]("address_type"),
		tables.Type("work", "address_type"),
	))
	for _, c := range describe.Of(customers.Internal()).Tables[0].Columns {
		fmt.Println(c.Name, c.Type)
	}
	// Output:
	// id uuid
	// home frozen<address_type>
	// work address_type
}

// A new order is written whole. A nil pointer is left out.
func ExampleSet_Insert() {
	order := Order{OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open}
	printMutations(Orders.Insert(order))
	// Output:
	// put orders_by_id
	// put orders_by_user
	// put orders_by_status
}

// The row says where the entity is stored. Rows under other statuses are deleted as well.
func ExampleSet_Delete() {
	order := Order{OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open, UpdatedAt: 1_700_000_000_000_000}
	printMutations(Orders.Delete(order))
	// Output:
	// remove orders_by_id
	// remove orders_by_user
	// remove orders_by_status
	// remove orders_by_status
	// remove orders_by_status
	// remove orders_by_status
}

// A row may be changed in place once Updating has noted its keys.
func ExampleSet_Updating() {
	order := Order{OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: Open, UpdatedAt: 1_700_000_000_000_000}
	update := Orders.Updating(order)
	order.Status = Paid
	fmt.Println(update(order))
	// Output: update order
}

// The hour of a reading splits the partition of its sensor. It need not be a field.
func ExampleDerive() {
	type Reading struct {
		SensorID string
		Ts       time.Time
		Value    float64
	}
	readings := tables.Must(tables.New[Reading]("reading",
		tables.Table{Name: "readings", PartKey: []string{"sensor_id", "hour"}, SortKey: []string{"ts DESC"}},
		tables.Derive("hour", tables.Hour("ts")),
	))
	row := Reading{"boiler", time.Date(2026, 11, 27, 15, 30, 0, 0, time.UTC), 21.5}
	rendered, err := readings.Insert(row).Internal().Render(time.Now().UnixMicro(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rendered.Mutations[0].Statement)
	// Output: INSERT INTO readings (sensor_id,hour,ts,value) VALUES (?,?,?,?) USING TIMESTAMP ?
}

func printMutations(change tables.Change) {
	rendered, err := change.Internal().Render(time.Now().UnixMicro(), nil) // a writer does this
	if err != nil {
		fmt.Println(err)
	}
	for _, m := range rendered.Mutations {
		fmt.Println(m)
	}
}
