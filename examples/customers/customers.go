// Package customers is an example: customers, and their addresses, which are values of a user-defined type.
package customers

import (
	"context"
	"iter"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Customer is somebody who buys.
type Customer struct {
	ID                gocql.UUID
	Name              *string
	Telephone         *string
	Email             *string
	DefaultAddressKey *string // of one of the addresses
}

// Address is a value of address_type. The cql tags are those by which gocql reads it.
type Address struct {
	StreetName string  `cql:"street_name"`
	City       string  `cql:"city"`
	Country    string  `cql:"country"`
	Zipcode    *string `cql:"zipcode"` // not everywhere
}

// CustomerAddress is one of the addresses of a customer, under a key of the customer's choice such as home.
type CustomerAddress struct {
	CustomerID gocql.UUID
	AddressKey string
	Address    *Address
}

// Customers has one row a customer.
var Customers = tables.Must(tables.New[Customer]("customer",
	tables.Table{Name: "customers", Keyspace: "customer", PartKey: []string{"id"}},
))

// Addresses are kept by customer. An address is frozen: one cell, which is written and read as a whole.
var Addresses = tables.Must(tables.New[CustomerAddress]("address",
	tables.Table{Name: "customer_addresses", Keyspace: "customer", PartKey: []string{"customer_id"}, SortKey: []string{"address_key"}},
	tables.UserType[Address]("address_type"),
))

// UnfrozenAddresses is Addresses for a table that was made with a cell for every field of an address. An address that
// is written replaces the one before as a whole, at the cost of a range tombstone, which a frozen one does not need.
var UnfrozenAddresses = tables.Must(tables.New[CustomerAddress]("unfrozen_address",
	tables.Table{
		Name: "customer_addresses_unfrozen", Keyspace: "customer", PartKey: []string{"customer_id"}, SortKey: []string{"address_key"},
	},
	tables.UserType[Address]("address_type"),
	tables.Type("address", "address_type"),
))

// Schema is type and tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Customers, Addresses, UnfrozenAddresses)))

// Of gives the addresses of a customer in the order of their keys.
func Of(ctx context.Context, r *reader.Reader, customer gocql.UUID) iter.Seq2[CustomerAddress, error] {
	return reader.Read(ctx, r, "addressesOf", reader.From(Addresses, "customer_addresses").Eq("customer_id", customer)).All()
}

// Get gives one address of a customer by its key, nil if there is none.
func Get(ctx context.Context, r *reader.Reader, customer gocql.UUID, key string) (*Address, error) {
	q := reader.From(Addresses, "customer_addresses").Eq("customer_id", customer).Eq("address_key", key)
	found, _, err := reader.List(ctx, r, "address", q)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Address, nil
}
