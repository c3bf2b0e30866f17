package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/events"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/ordersplit"
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/examples/sensors"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/examples/supermarket"
	"github.com/denorm-go/denorm/examples/tenants"
	"github.com/denorm-go/denorm/examples/useractivity"
	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// examples are the example systems that are declared as sets, each with its CQL as written by hand.
var examples = map[string]struct {
	declared *schema.Schema
	byHand   string   // in testdata/byhand
	errors   []string // that the review finds
	// keyspace is that of the declared tables, which the CQL by hand leaves to the session.
	keyspace string
}{
	"orders":        {declared: orders.Schema, byHand: "orders", errors: []string{"DN101 orders_by_status"}},
	"orders, split": {declared: orders.BucketedSchema, byHand: "orders_bucketed"},
	"hourly logs":   {declared: hourlylogs.Schema, byHand: "hourlylogs"},
	"bucketed logs": {declared: bucketedlogs.Schema, byHand: "bucketedlogs"},
	"sensors":       {declared: sensors.Schema, byHand: "sensors"},
	"user messages": {declared: usermessages.Schema, byHand: "usermessages"},
	"conversations": {declared: conversations.Schema, byHand: "conversations"},
	"customers":     {declared: customers.Schema, byHand: "customers", keyspace: "customer"},
	"order amounts": {declared: ordersplit.Schema, byHand: "ordersplit"},
	"page views":    {declared: pageviews.Schema, byHand: "pageviews"},
	"accounts":      {declared: accounts.Schema, byHand: "accounts"},
	"users":         {declared: users.Schema, byHand: "users"},
	"supermarket":   {declared: supermarket.Schema, byHand: "supermarket", keyspace: "order_delivery"},
	"slots":         {declared: slots.Schema, byHand: "slots", keyspace: "order_delivery"},
	"baskets":       {declared: baskets.Schema, byHand: "baskets", keyspace: "customer"},
	"activity":      {declared: useractivity.Schema, byHand: "useractivity"},
	"contended": {
		declared: schema.Must(schema.Declare(schema.Sets(contended.Orders))), byHand: "contended", errors: []string{"DN101 orders_by_status"},
	},
	"shared items": {declared: tenants.SharedSchema, byHand: "tenants_shared"},
}

// The declarations make the tables that testdata/byhand has, written by hand, and their review finds the one known flaw
// and no other error.
func TestDeclaredIsAsWrittenByHand(t *testing.T) {
	t.Parallel()
	for name, e := range examples {
		text, err := os.ReadFile(filepath.Join("testdata", "byhand", e.byHand+".cql"))
		if err != nil {
			t.Fatal(err)
		}
		byHand, err := schema.Parse(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if e.keyspace != "" {
			byHand = byHand.In(map[string]string{"": e.keyspace})
		}
		found := schema.Compare(e.declared, byHand)
		found = slices.DeleteFunc(found, func(d schema.Difference) bool { return d.Note }) // by hand there is no fingerprint
		if len(found) > 0 {
			t.Errorf("%s: %s", name, &schema.DifferenceError{Differences: found})
		}
		var wrong []string
		for _, f := range lint.Check(e.declared) {
			if f.Severity == lint.Error {
				wrong = append(wrong, f.Code+" "+f.Table.Name)
			}
			t.Logf("%s: %s", name, f)
		}
		if !slices.Equal(wrong, e.errors) {
			t.Errorf("%s: errors %v, want %v", name, wrong, e.errors)
		}
	}
}

// A rotating table is a pattern of the tables that exist: each is compared with it, and none is made by CQL.
func TestRotating(t *testing.T) {
	t.Parallel()
	declared := schema.Must(schema.Declare(schema.Sets(events.Events)))
	pattern := declared.Tables[0]
	if !pattern.Rotates(pattern.Name+"_2024_01") || declared.CQL() != "" {
		t.Fatalf("%s makes\n%s", pattern.Name, declared.CQL())
	}
	live := func(text string) *schema.Schema {
		s, err := schema.Parse("live", text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	table := "CREATE TABLE " + pattern.Name + "_2024_01 " + pattern.Definition()
	if found := schema.Compare(declared, live(table)); len(found) > 0 {
		t.Errorf("%v", found)
	}
	found := schema.Breaking(schema.Compare(declared, live(strings.Replace(table, " DESC", " ASC", 1))))
	if len(found) != 1 || found[0].Table != pattern.Name+"_2024_01" {
		t.Errorf("another order: %v", found)
	}
	found = schema.Compare(declared, live("CREATE TABLE "+pattern.Name+"_by_kind (kind text PRIMARY KEY)"))
	if len(found) != 1 || !found[0].Extra {
		t.Errorf("a table that is none of them: %v", found)
	}
}
