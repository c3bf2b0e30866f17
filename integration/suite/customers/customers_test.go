package customers_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"

	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// open gives a keyspace that is called customer.
func open(t *testing.T) (*reading.Place, *writer.Writer, *reader.Reader) {
	t.Helper()
	p := reading.Open(t, 3, customers.Schema.In(map[string]string{"customer": ""}).Statements()...)
	p.Map(map[string]string{"customer": p.Keyspace})
	return p, p.Writer, p.Reader
}

func write(t *testing.T, w *writer.Writer, change tables.Change) {
	t.Helper()
	if _, err := w.Write(t.Context(), "saveAddress", change); err != nil {
		t.Fatal(err)
	}
}

var (
	home = &customers.Address{StreetName: "Rue de la Paix", City: "Paris", Country: "FR", Zipcode: ptr("75002")}
	work = &customers.Address{StreetName: "Main Street", City: "Hong Kong", Country: "HK"} // which has no such codes
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	_, w, r := open(t)
	if err := w.Check(t.Context(), customers.Customers, customers.Addresses, customers.UnfrozenAddresses); err != nil {
		t.Fatal(err)
	}
	customer := customers.Customer{ID: gocql.MustRandomUUID(), Name: ptr("Ann")}
	first := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "home", Address: home}
	second := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "work", Address: work}
	if _, err := w.Write(t.Context(), "register", customers.Customers.Insert(customer), customers.Addresses.Insert(second),
		customers.Addresses.Insert(first)); err != nil {
		t.Fatal(err)
	}
	wantAddresses(t, r, customer.ID, first, second)
	got, err := customers.Get(t.Context(), r, customer.ID, "work")
	if err != nil || !reflect.DeepEqual(got, work) {
		t.Errorf("by key: %v, %v, want %v", got, err, work)
	}
	if got, err := customers.Get(t.Context(), r, customer.ID, "holiday"); err != nil || got != nil {
		t.Errorf("a key that is not there: %v, %v", got, err)
	}

	moved := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "home", Address: &customers.Address{StreetName: "Elm Street"}}
	write(t, w, customers.Addresses.Update(first, moved))
	write(t, w, customers.Addresses.Delete(second))
	wantAddresses(t, r, customer.ID, moved)
	unknown := customers.CustomerAddress{CustomerID: customer.ID, AddressKey: "home"}
	write(t, w, customers.Addresses.Update(moved, unknown))
	wantAddresses(t, r, customer.ID, unknown)
}

func wantAddresses(t *testing.T, r *reader.Reader, customer gocql.UUID, want ...customers.CustomerAddress) {
	t.Helper()
	var got []customers.CustomerAddress
	for a, err := range customers.Of(t.Context(), r, customer) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An address that replaces another one leaves no field of it behind, also where each field is a cell of its own.
func TestUnfrozenAddresses(t *testing.T) {
	t.Parallel()
	p, w, _ := open(t)
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home"}
	for _, address := range []*customers.Address{home, work, nil, home, {}} {
		before := row
		row.Address = address
		write(t, w, customers.UnfrozenAddresses.Update(before, row))
		statement, names, values, err := customers.UnfrozenAddresses.SelectRow(p.Keyspace, row)
		if err != nil {
			t.Fatal(err)
		}
		var got customers.CustomerAddress
		if err := (&gocqlx.Queryx{Query: p.Session.Reads().Query(statement, values...), Names: names, Mapper: gocqlx.DefaultMapper}).Get(&got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, row) {
			t.Errorf("%v, want %v", got.Address, row.Address)
		}
	}
}

// A live type that is another than the declared one is found at the start of a service. A process that runs already goes on while the
// type only has more fields.
func TestAnotherType(t *testing.T) {
	t.Parallel()
	row := customers.CustomerAddress{CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: home}
	for name, c := range map[string]struct {
		alter, is string
		want      string // of a write, empty if it is taken
	}{
		"a field renamed": {"RENAME city TO town", "address_type: column city: the field is called town", "declared is frozen<address_type>"},
		"a field more":    {"ADD floor int", "address_type: column floor: a field that is not declared", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, w, _ := open(t)
			cluster.ChangeSchema(t, p.Keyspace, `ALTER TYPE address_type `+c.alter)
			var different *writer.CheckError
			if err := w.Check(t.Context(), customers.Addresses); !errors.As(err, &different) || len(different.Differences) != 1 ||
				!strings.Contains(err.Error(), c.is) {
				t.Errorf("Check: %v", err)
			}
			_, err := w.Write(t.Context(), "saveAddress", customers.Addresses.Insert(row))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Write: %v", err)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	_, w, _ := open(t)
	for name, row := range map[string]customers.CustomerAddress{
		"nobody's": {AddressKey: "home", Address: home},
		"no key":   {CustomerID: gocql.MustRandomUUID(), Address: home},
		"invalid UTF-8": {
			CustomerID: gocql.MustRandomUUID(), AddressKey: "home", Address: &customers.Address{City: "\xff"},
		},
	} {
		if _, err := w.Write(t.Context(), "saveAddress", customers.Addresses.Insert(row)); !errors.Is(err, writer.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func ptr[V any](v V) *V { return &v }
