// Package suite has the behaviour of each example and each guarantee that can be seen from outside, once, for whatever
// speaks CQL: it runs on cassandratest and on real nodes.
package suite

import (
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/executions"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/ordersplit"
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/examples/sensors"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/examples/tenants"
	"github.com/denorm-go/denorm/examples/useractivity"
	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/schema"
)

// Exercise runs the suite: a subtest for each system, and in it one for each exported method of what has its tests.
// They run at the same time, so each uses keys of its own, or opens a keyspace. Systems whose tables have different
// names share one.
func Exercise(t *testing.T, c Cassandra) {
	shared := c.open(t, schema.Add(accounts.Schema, baskets.Schema.In(map[string]string{"customer": ""}),
		bucketedlogs.Schema, conversations.Schema,
		executions.Schema, hourlylogs.Schema, ordersplit.Schema, pageviews.Schema, sensors.Schema,
		slots.Schema.In(map[string]string{"order_delivery": ""}), tenants.SharedSchema, useractivity.Schema,
		usermessages.Schema, schemaOf(docs, tickets, shelfTickets, pageHits)))
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tests, found := reflect.ValueOf(s.open(t, shared)), 0
			place := reflect.TypeFor[*Place]()
			if f, ok := tests.Type().FieldByName("Orders"); ok && f.Anonymous {
				place = f.Type
			}
			for i := range tests.NumMethod() {
				name := tests.Type().Method(i).Name
				test, ok := tests.Method(i).Interface().(func(*testing.T))
				if _, inherited := place.MethodByName(name); !ok && inherited {
					continue // it is no test, but a method of the place
				}
				if !ok {
					t.Fatalf("method %s is no test: it would never run", name)
				}
				found++
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t)
				})
			}
			wrong(t, found == 0, "no test: methods of a pointer are not found in a value")
		})
	}
}

// systems are all of them: what opens the keyspaces of its own, and what has the tests.
var systems = []struct {
	name string
	open func(t *testing.T, shared *Place) any
}{
	{"accounts", func(_ *testing.T, shared *Place) any { return accountTests{shared} }},
	{"baskets", func(_ *testing.T, shared *Place) any { return basketTests{shared.mapped("customer")} }},
	{"bucketedlogs", func(_ *testing.T, shared *Place) any { return bucketedLogTests{shared} }},
	{"collections", func(t *testing.T, shared *Place) any { return collectionTests{shared.open(t, collectionsSchema())} }},
	{"conversations", func(_ *testing.T, shared *Place) any { return conversationTests{shared} }},
	{"customers", func(t *testing.T, shared *Place) any {
		return customerTests{shared.openIn(t, "customer", customers.Schema)}
	}},
	{"events", func(t *testing.T, shared *Place) any { return eventTests{shared.Open(t, 3)} }},
	{"executions", func(_ *testing.T, shared *Place) any { return executionTests{shared} }},
	{"hourlylogs", func(_ *testing.T, shared *Place) any { return hourlyLogTests{shared} }},
	{"orders", func(t *testing.T, shared *Place) any {
		return orderTests{OpenOrders(t, shared.Cassandra), Orders{shared.open(t, orders.BucketedSchema)}}
	}},
	{"ordersplit", func(_ *testing.T, shared *Place) any { return orderSplitTests{shared} }},
	{"pageviews", func(_ *testing.T, shared *Place) any { return pageViewTests{shared} }},
	{"pairs", func(t *testing.T, shared *Place) any { return openPairs(t, shared) }},
	{"reading", func(_ *testing.T, shared *Place) any { return readTests{shared} }},
	{"sensors", func(_ *testing.T, shared *Place) any { return sensorTests{shared} }},
	{"slots", func(_ *testing.T, shared *Place) any { return slotTests{shared.mapped("order_delivery")} }},
	{"supermarket", openSupermarket},
	{"tenants", func(t *testing.T, shared *Place) any { return tenantTests{shared, openMarket(t, *shared)} }},
	{"types", func(t *testing.T, shared *Place) any {
		return typeTests{shared.Open(t, 3, typeTables...), shared.Open(t, 3, grownTables...)}
	}},
	{"useractivity", func(_ *testing.T, shared *Place) any { return userActivityTests{shared} }},
	{"usermessages", func(_ *testing.T, shared *Place) any { return userMessageTests{shared} }},
	{"users", func(t *testing.T, shared *Place) any {
		return userTests{shared.open(t, schema.Add(users.Schema, schemaOf(nicknames)), seatTable)}
	}},
}
