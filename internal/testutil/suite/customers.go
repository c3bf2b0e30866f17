package suite

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"

	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/schema"
)

type customerTests struct{ *Place }

var (
	homeAddress = &customers.Address{StreetName: "Rue de la Paix", City: "Paris", Country: "FR", Zipcode: ptr("75002")}
	// Hong Kong has no such codes.
	workAddress = &customers.Address{StreetName: "Main Street", City: "Hong Kong", Country: "HK"}
)

func (p customerTests) Addresses(t *testing.T) {
	p.check(t, customers.Customers, customers.Addresses, customers.UnfrozenAddresses)
	customer := customers.Customer{ID: gocql.MustRandomUUID(), Name: ptr("Ann")}
	first := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "home", Address: homeAddress}
	second := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "work", Address: workAddress}
	Write(t, p.Writer, "register", customers.Customers.Insert(customer), customers.Addresses.Insert(second),
		customers.Addresses.Insert(first))
	p.wantAddresses(t, customer.ID, first, second)
	got, err := customers.Get(t.Context(), p.Reader, customer.ID, "work")
	wrong(t, err != nil || !reflect.DeepEqual(got, workAddress), "by key: %v, %v, want %v", got, err, workAddress)
	got, err = customers.Get(t.Context(), p.Reader, customer.ID, "holiday")
	wrong(t, err != nil || got != nil, "a key that is not there: %v, %v", got, err)

	moved, unknown := first, first
	moved.Address, unknown.Address = &customers.Address{StreetName: "Elm Street"}, nil
	Write(t, p.Writer, "saveAddress", customers.Addresses.Update(first, moved))
	Write(t, p.Writer, "saveAddress", customers.Addresses.Delete(second))
	p.wantAddresses(t, customer.ID, moved)
	Write(t, p.Writer, "saveAddress", customers.Addresses.Update(moved, unknown))
	p.wantAddresses(t, customer.ID, unknown)
}

func (p customerTests) wantAddresses(t *testing.T, customer gocql.UUID, want ...customers.CustomerAddress) {
	t.Helper()
	got := all(t, customers.Of(t.Context(), p.Reader, customer))
	wrong(t, !reflect.DeepEqual(got, want), "%v, want %v", got, want)
}

// An address that replaces another one leaves no field of it behind, also where each field is a cell of its own.
func (p customerTests) UnfrozenAddresses(t *testing.T) {
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home"}
	for _, address := range []*customers.Address{homeAddress, workAddress, nil, homeAddress, {}} {
		before := row
		row.Address = address
		Write(t, p.Writer, "saveAddress", customers.UnfrozenAddresses.Update(before, row))
		statement, names, values, err := customers.UnfrozenAddresses.Internal().SelectRow(p.Keyspace, row)
		must(t, err)
		var got customers.CustomerAddress
		must(t, (&gocqlx.Queryx{Query: p.Session.Reads().Query(statement, values...), Names: names, Mapper: rowMapper}).
			Get(&got))
		wrong(t, !reflect.DeepEqual(got, row), "%v, want %v", got.Address, row.Address)
	}
}

// A live type that is another than the declared one is found at the start of a service. One that only has more fields
// is of a newer release.
func (p customerTests) AnotherType(t *testing.T) {
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: homeAddress}
	for name, c := range map[string]struct {
		alter, is string
		want      string // of a write, empty if it is taken
	}{
		"a field renamed": {
			"RENAME city TO town", "address_type: column city: the field is called town",
			"declared is frozen<address_type>",
		},
		"a field more": {"ADD floor int", "", ""},
	} {
		if strings.HasPrefix(c.alter, "RENAME") && !p.Real {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p.openIn(t, "customer", customers.Schema)
			p.ChangeSchema(t, p.Keyspace, `ALTER TYPE address_type `+c.alter)
			err := schema.Validate(t.Context(), p.Session, schema.Sets(customers.Addresses))
			var different *schema.DifferenceError
			wrong(t, (err == nil) != (c.is == "") || errors.As(err, &different) &&
				(len(different.Differences) != 1 || !strings.Contains(err.Error(), c.is)),
				"Validate: %v", err)
			_, err = p.Writer.Write(t.Context(), "saveAddress", customers.Addresses.Insert(row))
			wrong(t, (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want), "Write: %v", err)
		})
	}
}

func (p customerTests) BadInput(t *testing.T) {
	for name, row := range map[string]customers.CustomerAddress{
		"nobody's": {AddressKey: "home", Address: homeAddress},
		"no key":   {CustomerID: gocql.MustRandomUUID(), Address: homeAddress},
		"invalid UTF-8": {
			CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: &customers.Address{City: "\xff"},
		},
	} {
		wantInvalid(t, p.Writer, name, customers.Addresses.Insert(row))
	}
}
