//go:build accord

// Package accord tests Transactional sets on nodes of Cassandra 6: make accord.
package accord

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Order is versioned.
type Order struct {
	OrderID gocql.UUID
	UserID  gocql.UUID
	Status  string
	Total   int64
	Note    *string
	Tags    []string
	Version gocql.UUID
}

// Customer has an e-mail address of its own.
type Customer struct {
	CustomerID gocql.UUID
	Email      string
	Country    string
	Version    gocql.UUID
}

// Basket is of another keyspace.
type Basket struct {
	UserID  gocql.UUID
	Items   int32
	Version gocql.UUID
}

// shop is the sets of a service, which are the same with transactions but for one option.
type shop struct {
	*suite.Place
	orders    *tables.Set[Order]
	customers *tables.Set[Customer]
	baskets   *tables.Set[Basket]
}

func declare(options ...tables.Option) shop {
	options = append(options, tables.Versioned("version"))
	with := func(o ...tables.Option) []tables.Option { return append(o, options...) }
	return shop{
		orders: tables.Must(tables.New[Order]("order", with(
			tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
			tables.Type("tags", "set<text>"),
		)...)),
		customers: tables.Must(tables.New[Customer]("customer", with(
			tables.Table{Name: "customers", PartKey: []string{"customer_id"}},
			tables.Table{Name: "customers_by_country", PartKey: []string{"country"}, SortKey: []string{"customer_id"}},
			tables.Table{Name: "customer_of_email", PartKey: []string{"email"}, Unique: true},
		)...)),
		baskets: tables.Must(tables.New[Basket]("basket", with(
			tables.Table{Name: "baskets", Keyspace: "other", PartKey: []string{"user_id"}},
		)...)),
	}
}

func (s shop) sets() []tables.Described { return []tables.Described{s.orders, s.customers, s.baskets} }

// open makes the tables, in two keyspaces.
func (s shop) open(t *testing.T) shop {
	t.Helper()
	own := schema.Must(schema.Declare(schema.Sets(s.orders, s.customers)))
	other := schema.Must(schema.Declare(schema.Sets(s.baskets))).In(map[string]string{"other": ""})
	second := nodes.Cassandra.Open(t, 3, other.Statements()...)
	s.Place = nodes.Cassandra.Open(t, 3, own.Statements()...)
	s.Map(map[string]string{"": s.Keyspace, "other": second.Keyspace})
	return s
}

// kinds are the sets with lightweight transactions, and with transactions of Cassandra 6.
var kinds = map[string]shop{"versioned": declare(), "transactional": declare(tables.Transactional())}

// rows are the rows of a table as text, without the library's own columns.
func (s shop) rows(t *testing.T, table, columns string) []string {
	t.Helper()
	var err error
	for range 10 { // a node may have just come back
		iter := s.Session.Reads().Query("SELECT " + columns + " FROM " + s.Keyspace + "." + table).Consistency(gocql.All).Iter()
		var out []string
		for {
			row := make(map[string]any)
			if !iter.MapScan(row) {
				break
			}
			if row["status"] != "" && row["country"] != "" { // of a deleted entity
				out = append(out, fmt.Sprint(row))
			}
		}
		if err = iter.Close(); err == nil {
			slices.Sort(out)
			return out
		}
		time.Sleep(2 * time.Second)
	}
	t.Fatal(err)
	return nil
}

// agree says whether the tables of orders have the same rows.
func (s shop) agree(t *testing.T, want int) {
	t.Helper()
	const columns = "order_id, user_id, status, total, note, tags, version"
	base := s.rows(t, "orders_by_id", columns)
	if len(base) != want {
		t.Errorf("%d orders, want %d", len(base), want)
	}
	for _, table := range []string{"orders_by_user", "orders_by_status"} {
		if got := s.rows(t, table, columns); !slices.Equal(got, base) {
			t.Errorf("%s has\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(base, "\n"))
		}
	}
}

func newOrder() Order {
	note := "a note"
	return Order{
		OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: "open", Total: 7, Note: &note,
		Tags: []string{"gift", "new"},
	}
}

// An order is created, paid, moved to another user and back to a status, and deleted; each of it happens once, whoever
// repeats it.
func TestOrders(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := kind.open(t), t.Context()
			if err := schema.Validate(ctx, s.Session, schema.Sets(s.sets()...)); err != nil {
				t.Fatal(err)
			}
			o := newOrder()
			created, err := s.Writer.Write(ctx, "createOrder", s.orders.Insert(o))
			if err != nil {
				t.Fatal(err)
			}
			if transactional := describe.Of(s.orders.Internal()).Transactional; transactional != (created.Mode == writer.Transaction) || transactional && created.Attempts != 1 {
				t.Errorf("%+v", created)
			}
			stale := o
			stale.Version = created.Version
			if _, err := s.Writer.Write(ctx, "createOrder", s.orders.Insert(o)); !errors.Is(err, writer.ErrConflict) {
				t.Errorf("created twice: %v", err)
			}
			s.agree(t, 1)
			change := func(change func(*Order)) Order {
				changed, err := writer.Modify(ctx, s.Writer, "change", s.orders, Order{OrderID: o.OrderID}, func(o Order) (Order, error) {
					change(&o)
					return o, nil
				})
				if err != nil {
					t.Error(err)
				}
				s.agree(t, 1)
				return changed
			}
			change(func(o *Order) { o.Status = "paid" })
			change(func(o *Order) { o.UserID, o.Note, o.Tags = gocql.MustRandomUUID(), nil, nil })
			last := change(func(o *Order) { o.Status = "open" })
			if loaded, err := writer.Load(ctx, s.Writer, "load", s.orders, o); err != nil || fmt.Sprint(loaded) != fmt.Sprint(last) {
				t.Errorf("loaded %+v, %v, want %+v", loaded, err, last)
			}
			late := stale
			late.Status = "shipped"
			if _, err := s.Writer.Write(ctx, "ship", s.orders.Update(stale, late)); !errors.Is(err, writer.ErrConflict) {
				t.Errorf("an update from a row that is gone: %v", err)
			}
			wrong := last
			wrong.Status = "shipped" // the version of the row, and another status
			if _, err := s.Writer.Write(ctx, "ship", s.orders.Update(wrong, late)); !errors.Is(err, writer.ErrInvalid) {
				t.Errorf("an update from a before-image that was changed: %v", err)
			}
			if _, err := s.Writer.Write(ctx, "cancel", s.orders.Delete(last)); err != nil {
				t.Error(err)
			}
			s.agree(t, 0)
			if _, err := writer.Load(ctx, s.Writer, "load", s.orders, o); !errors.Is(err, writer.ErrNotFound) {
				t.Errorf("loaded after it was deleted: %v", err)
			}
			if _, err := s.Writer.Write(ctx, "ship", s.orders.Update(last, late)); !errors.Is(err, writer.ErrConflict) {
				t.Errorf("an update of a deleted order: %v", err)
			}
			if _, err := s.Writer.Write(ctx, "createOrder", s.orders.Insert(o)); err != nil {
				t.Errorf("created again: %v", err)
			}
			s.agree(t, 1)
		})
	}
}

// An address has one owner, of twenty who want it at the same time, and is free again when it is given up.
func TestUniqueEmail(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := kind.open(t), t.Context()
			var mu sync.Mutex
			var owners []Customer
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					c := Customer{CustomerID: gocql.MustRandomUUID(), Email: "a@example.org", Country: "de"}
					result, err := s.Writer.Write(ctx, "signUp", s.customers.Insert(c))
					if err != nil && !errors.Is(err, writer.ErrTaken) {
						t.Error(err)
					}
					if err == nil {
						mu.Lock()
						defer mu.Unlock()
						c.Version = result.Version
						owners = append(owners, c)
					}
				})
			}
			wg.Wait()
			if len(owners) != 1 {
				t.Fatalf("%d owners", len(owners))
			}
			moved := owners[0]
			moved.Email = "b@example.org"
			if _, err := s.Writer.Write(ctx, "changeEmail", s.customers.Update(owners[0], moved)); err != nil {
				t.Fatal(err)
			}
			next := Customer{CustomerID: gocql.MustRandomUUID(), Email: "a@example.org", Country: "fr"}
			if _, err := s.Writer.Write(ctx, "signUp", s.customers.Insert(next)); err != nil {
				t.Errorf("the address that was given up: %v", err)
			}
			if got := len(s.rows(t, "customers_by_country", "country, customer_id, version")); got != 2 {
				t.Errorf("%d customers by country, want 2", got)
			}
			if got := len(s.rows(t, "customer_of_email", "email, customer_id")); got != 2 {
				t.Errorf("%d addresses, want 2", got)
			}
		})
	}
}

// Two customers exchange their addresses in one transaction.
func TestExchange(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	s := kinds["transactional"].open(t)
	one, two := Customer{CustomerID: gocql.MustRandomUUID(), Email: "one", Country: "de"}, Customer{CustomerID: gocql.MustRandomUUID(), Email: "two", Country: "de"}
	result, err := s.Writer.Write(t.Context(), "signUp", s.customers.Insert(one), s.customers.Insert(two))
	if err != nil {
		t.Fatal(err)
	}
	one.Version, two.Version = result.Version, result.Version
	other, another := one, two
	other.Email, another.Email = "two", "one"
	if _, err := s.Writer.Write(t.Context(), "exchange", s.customers.Update(one, other), s.customers.Update(two, another)); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprint(map[string]any{"customer_id": two.CustomerID, "email": "one"}), fmt.Sprint(map[string]any{"customer_id": one.CustomerID, "email": "two"})}
	slices.Sort(want)
	if got := s.rows(t, "customer_of_email", "email, customer_id"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An order is submitted and its basket emptied in one transaction over two keyspaces, by one of two who try.
func TestSubmitOrder(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	s := kinds["transactional"].open(t)
	basket := Basket{UserID: gocql.MustRandomUUID(), Items: 3}
	result, err := s.Writer.Write(t.Context(), "fill", s.baskets.Insert(basket))
	if err != nil {
		t.Fatal(err)
	}
	basket.Version = result.Version
	empty := basket
	empty.Items = 0
	var wg sync.WaitGroup
	var errs [2]error
	for n := range errs {
		wg.Go(func() {
			o := newOrder()
			o.UserID = basket.UserID
			var result writer.Result
			result, errs[n] = s.Writer.Write(t.Context(), "submitOrder", s.baskets.Update(basket, empty), s.orders.Insert(o))
			if result.Mode != writer.Transaction || result.Requests != 1 {
				t.Errorf("%+v", result)
			}
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), writer.ErrConflict) {
		t.Errorf("%v, %v", errs[0], errs[1])
	}
	s.agree(t, 1)
	if loaded, err := writer.Load(t.Context(), s.Writer, "load", s.baskets, basket); err != nil || loaded.Items != 0 {
		t.Errorf("%+v, %v", loaded, err)
	}
}

// Twenty buyers take one slot, which all have read as free: one has it.
func TestSlot(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kind.open(t)
			slot := newOrder()
			result, err := s.Writer.Write(t.Context(), "openSlot", s.orders.Insert(slot))
			if err != nil {
				t.Fatal(err)
			}
			slot.Version = result.Version
			var mu sync.Mutex
			var buyers []gocql.UUID
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					taken := slot
					taken.UserID, taken.Status = gocql.MustRandomUUID(), "taken"
					_, err := s.Writer.Write(t.Context(), "takeSlot", s.orders.Update(slot, taken))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						buyers = append(buyers, taken.UserID)
					case !errors.Is(err, writer.ErrConflict):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			last, err := writer.Load(t.Context(), s.Writer, "load", s.orders, slot)
			if err != nil || len(buyers) != 1 || last.UserID != buyers[0] {
				t.Errorf("%d buyers have it, and the slot says %v: %v", len(buyers), last.UserID, err)
			}
			s.agree(t, 1)
		})
	}
}

// Validate tells a set without transactions from one with them.
func TestModeOfTables(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 1)
	plain, transactional := kinds["versioned"], kinds["transactional"]
	for _, test := range []struct {
		tables, service shop
		want            string
	}{
		{plain, transactional, "the set is Transactional, and transactional_mode is off"},
		{transactional, plain, "transactional_mode is full, and the set is not Transactional"},
	} {
		p := test.tables.open(t)
		err := schema.Validate(t.Context(), p.Session, schema.Sets(test.service.sets()...))
		var wrong *schema.DifferenceError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	s := transactional.open(t)
	live, err := schema.Read(t.Context(), s.Session, s.Keyspace)
	if err != nil {
		t.Fatal(err)
	}
	declared := schema.Must(schema.Declare(schema.Sets(s.orders, s.customers))).In(map[string]string{"": s.Keyspace})
	for _, d := range schema.Compare(declared, live) {
		t.Errorf("the tables as they were declared: %+v", d)
	}
}
