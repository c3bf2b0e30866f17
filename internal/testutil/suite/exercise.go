// Package suite has the behaviour of each example and each guarantee that can be seen from outside, once, for whatever speaks CQL:
// it runs on cassandratest and on real nodes.
package suite

import (
	"reflect"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/ordersplit"
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/examples/sensors"
	"github.com/denorm-go/denorm/examples/tenants"
	"github.com/denorm-go/denorm/examples/useractivity"
	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/examples/users"
)

// Exercise runs the suite: a subtest for each system, in a keyspace of its own, and in it one for each exported method of what has its
// tests. They run at the same time, so each uses keys of its own, or opens another keyspace.
func Exercise(t *testing.T, c Cassandra) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tests, found := reflect.ValueOf(s.open(t, c)), 0
			for i := range tests.NumMethod() {
				name := tests.Type().Method(i).Name
				test, ok := tests.Method(i).Interface().(func(*testing.T))
				if promoted(tests.Type(), name) {
					continue
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
			if found == 0 {
				t.Error("no test: methods of a pointer are not found in a value")
			}
		})
	}
}

// promoted says whether a method is that of an embedded field.
func promoted(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			if _, ok := f.Type.MethodByName(name); ok {
				return true
			}
		}
	}
	return false
}

// systems are all of them: what opens the keyspace, and what has the tests.
var systems = []struct {
	name string
	open func(t *testing.T, c Cassandra) any
}{
	{"accounts", func(t *testing.T, c Cassandra) any { return accountTests{c.open(t, accounts.Schema)} }},
	{"baskets", func(t *testing.T, c Cassandra) any { return basketTests{c.openIn(t, "customer", baskets.Schema)} }},
	{"bucketedlogs", func(t *testing.T, c Cassandra) any { return bucketedLogTests{c.open(t, bucketedlogs.Schema)} }},
	{"conversations", func(t *testing.T, c Cassandra) any { return conversationTests{c.open(t, conversations.Schema)} }},
	{"customers", func(t *testing.T, c Cassandra) any { return customerTests{c.openIn(t, "customer", customers.Schema)} }},
	{"events", func(t *testing.T, c Cassandra) any { return eventTests{c.Open(t, 3)} }},
	{"hourlylogs", func(t *testing.T, c Cassandra) any { return hourlyLogTests{c.open(t, hourlylogs.Schema)} }},
	{"orders", func(t *testing.T, c Cassandra) any { return orderTests{OpenOrders(t, c)} }},
	{"ordersplit", func(t *testing.T, c Cassandra) any { return orderSplitTests{c.open(t, ordersplit.Schema)} }},
	{"pageviews", func(t *testing.T, c Cassandra) any { return pageViewTests{c.open(t, pageviews.Schema, hitTables...)} }},
	{"reading", func(t *testing.T, c Cassandra) any {
		return readTests{c.Open(t, 3, slices.Concat(docTables, ticketTables)...)}
	}},
	{"sensors", func(t *testing.T, c Cassandra) any { return sensorTests{c.open(t, sensors.Schema)} }},
	{"slots", func(t *testing.T, c Cassandra) any { return slotTests{OpenSlots(t, c)} }},
	{"supermarket", openSupermarket},
	{"tenants", func(t *testing.T, c Cassandra) any { return tenantTests{c.open(t, tenants.SharedSchema)} }},
	{"types", func(t *testing.T, c Cassandra) any { return typeTests{c.Open(t, 3, typeTables...)} }},
	{"useractivity", func(t *testing.T, c Cassandra) any { return userActivityTests{c.open(t, useractivity.Schema)} }},
	{"usermessages", func(t *testing.T, c Cassandra) any { return userMessageTests{c.open(t, usermessages.Schema)} }},
	{"users", func(t *testing.T, c Cassandra) any {
		return userTests{c.open(t, users.Schema, append(nicknameTables, seatTable)...)}
	}},
}
