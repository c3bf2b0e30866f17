package writer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type place struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// placeToday is a place after ALTER TYPE place ADD country text.
type placeToday struct {
	Street  string  `cql:"street"`
	City    string  `cql:"city"`
	Country *string `cql:"country"`
}

type shop[P any] struct {
	ShopID  gocql.UUID
	Chain   string
	Place   P
	Version gocql.UUID
}

func shops[P any]() *tables.Set[shop[P]] {
	return tables.Must(tables.New[shop[P]]("shop",
		tables.UserType[P]("place"),
		tables.Table{Name: "shops", PartKey: []string{"shop_id"}},
		tables.Table{Name: "shops_by_place", PartKey: []string{"chain"}, SortKey: []string{"place", "shop_id"}},
		tables.Table{Name: "places", PartKey: []string{"chain"}, SortKey: []string{"place"}, Unique: true},
		tables.Versioned("version"),
	))
}

// A unique key of a type that has got a field keeps its owner, and a row that moves leaves none behind.
func TestKeyOfATypeThatHasGrown(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		old, today := shops[place](), shops[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		one := shop[place]{ShopID: gocql.MustRandomUUID(), Chain: "c", Place: place{"high", "oslo"}}
		if _, err := s.w.Write(t.Context(), "open", old.Insert(one)); err != nil {
			t.Fatal(err)
		}
		c.Create("ALTER TYPE shop.place ADD country text")
		s = s.client(t)
		if err := s.w.Warm(t.Context(), today); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second) // ClaimGrace
		two := shop[placeToday]{ShopID: gocql.MustRandomUUID(), Chain: "c", Place: placeToday{"high", "oslo", nil}}
		if _, err := s.w.Write(t.Context(), "open", today.Insert(two)); !errors.Is(err, writer.ErrTaken) {
			t.Errorf("a second owner: %v", err)
		}
		move := func(street string) {
			if _, err := writer.Modify(t.Context(), s.w, "move", today, shop[placeToday]{ShopID: one.ShopID}, func(s shop[placeToday]) (shop[placeToday], error) {
				s.Place.Street = street
				return s, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		move("low")
		move("high")
		for _, table := range []string{"shops", "shops_by_place", "places"} {
			if n := s.count(t, "SELECT count(*) FROM "+table); n != 1 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
	})
}

type branch[P any] struct {
	Chain   string
	Place   P
	Phone   string
	Version gocql.UUID
}

func branches[P any]() *tables.Set[branch[P]] {
	return tables.Must(tables.New[branch[P]]("branch",
		tables.UserType[P]("place"),
		tables.Table{Name: "branches", PartKey: []string{"chain"}, SortKey: []string{"place"}},
		tables.Table{Name: "branches_by_phone", PartKey: []string{"phone"}, Unique: true},
		tables.Versioned("version"),
	))
}

// An owner whose own key is of such a type gives its unique keys up.
func TestOwnerOfATypeThatHasGrown(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		old, today := branches[place](), branches[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		if _, err := s.w.Write(t.Context(), "open", old.Insert(branch[place]{Chain: "c", Place: place{"high", "oslo"}, Phone: "1"})); err != nil {
			t.Fatal(err)
		}
		c.Create("ALTER TYPE shop.place ADD country text")
		s = s.client(t)
		if _, err := writer.Modify(t.Context(), s.w, "call", today, branch[placeToday]{Chain: "c", Place: placeToday{"high", "oslo", nil}},
			func(b branch[placeToday]) (branch[placeToday], error) {
				b.Phone = "2"
				return b, nil
			}); err != nil {
			t.Fatal(err)
		}
		if n := s.count(t, "SELECT count(*) FROM branches_by_phone"); n != 1 {
			t.Errorf("%d phones of one branch", n)
		}
	})
}

type card[P any] struct {
	ID      string
	Name    string
	Place   P
	Version gocql.UUID
}

func cards[P any]() *tables.Set[card[P]] {
	return tables.Must(tables.New[card[P]]("card",
		tables.UserType[P]("place"),
		tables.Table{Name: "cards", PartKey: []string{"id"}},
		tables.Table{Name: "cards_by_name", PartKey: []string{"name"}, SortKey: []string{"id"}},
		tables.Versioned("version"),
	))
}

// A process that runs while a type gets a field goes on, and what it has stored is resumed. From when another one sets the field, it does
// not take it away.
func TestTypeGrowsUnderAProcess(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		old, today := cards[place](), cards[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		away := c.When(cassandratest.Table("cards_by_name")).Do(unavailable)
		_, err := s.w.Write(t.Context(), "create", old.Insert(card[place]{ID: "a", Name: "ann", Place: place{"high", "oslo"}}))
		away.End()
		failed := failedWrite(t, err)
		c.Create("ALTER TYPE shop.place ADD country text")
		newer := s.client(t)
		if _, err := newer.w.Resume(t.Context(), again(failed)); err != nil {
			t.Fatal(err)
		}
		rename := func(s *service, name string) error {
			_, err := writer.Modify(t.Context(), s.w, "rename", old, card[place]{ID: "a"}, func(c card[place]) (card[place], error) {
				c.Name = name
				return c, nil
			})
			return err
		}
		for _, client := range []*service{s, newer} {
			if err := rename(client, "bob"); err != nil {
				t.Fatal(err)
			}
		}
		norway := "no"
		if _, err := writer.Modify(t.Context(), newer.w, "move", today, card[placeToday]{ID: "a"}, func(c card[placeToday]) (card[placeToday], error) {
			c.Place.Country = &norway
			return c, nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, client := range []*service{s, newer} {
			if err := rename(client, "cid"); err == nil || !failedWrite(t, err).NotApplied() || !strings.Contains(err.Error(), "a field that is not declared") {
				t.Errorf("a write that would take the field away: %v", err)
			}
		}
		got, err := writer.Load(t.Context(), newer.w, "load", today, card[placeToday]{ID: "a"})
		if err != nil || got.Name != "bob" || got.Place.Country == nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
