// Package baskets is an example: the basket of a customer is one row with a map, whose products are put and removed one
// by one, without reading the row and without two browser tabs losing each other's clicks.
package baskets

import (
	"context"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Basket is what a customer is about to buy.
type Basket struct {
	CustomerID gocql.UUID
	Products   map[gocql.UUID]int32 // how many of each
}

// Baskets has one row a customer.
var Baskets = tables.Must(tables.New[Basket]("basket",
	tables.Table{Name: "basket_by_customer", Keyspace: "customer", PartKey: []string{"customer_id"}},
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Baskets)))

// Put says how many of a product are in the basket, whether there were any or not. None removes it.
func Put(customer, product gocql.UUID, count int32) tables.Change {
	if count <= 0 {
		return Remove(customer, product)
	}
	return Baskets.Patch(Basket{customer, map[gocql.UUID]int32{product: count}}, tables.Elements("products"))
}

// Remove takes products out of the basket.
func Remove(customer gocql.UUID, products ...gocql.UUID) tables.Change {
	return Baskets.Patch(Basket{CustomerID: customer}, tables.Without("products", products...))
}

// Exchange takes a product out of the basket and puts so many of another in its place, at once.
func Exchange(customer, old, product gocql.UUID, count int32) tables.Change {
	return Baskets.Patch(Basket{customer, map[gocql.UUID]int32{product: count}}, tables.Elements("products"), tables.Without("products", old))
}

// Clear empties the basket. What was put in before is gone, also if it arrives later.
func Clear(customer gocql.UUID) tables.Change { return Baskets.Delete(Basket{CustomerID: customer}) }

// Of gives the basket of a customer. One that has never been used is empty.
func Of(ctx context.Context, r *reader.Reader, customer gocql.UUID) (Basket, error) {
	found, _, err := reader.List(ctx, r, "basketOf", reader.From(Baskets, "basket_by_customer").Eq("customer_id", customer))
	if err != nil || len(found) == 0 {
		return Basket{CustomerID: customer}, err
	}
	return found[0], nil
}
