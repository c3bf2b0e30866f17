package schema_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
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
	"github.com/denorm-go/denorm/tables"
)

// examples are the example systems that are declared as sets, each with its CQL as written by hand, and the options in it.
var examples = map[string]struct {
	set     tables.Described
	byHand  []string
	options []schema.Declaration
	errors  []string // that the review finds
	// keyspace is that of the declared tables, which the CQL by hand leaves to the session.
	keyspace string
}{
	"orders":        {set: orders.Orders, byHand: orders.Schema, errors: []string{"DN101 orders_by_status"}},
	"orders mended": {set: orders.Bucketed, byHand: orders.BucketedSchema},
	"hourly logs":   {set: hourlylogs.Logs, byHand: hourlylogs.Schema},
	"bucketed logs": {set: bucketedlogs.Logs, byHand: bucketedlogs.Schema},
	"sensors": {set: sensors.Readings, byHand: sensors.Schema, options: []schema.Declaration{
		schema.With("sensor_readings", schema.Options{Compaction: schema.TimeWindow(24 * time.Hour)}),
	}},
	"user messages": {set: usermessages.Messages, byHand: usermessages.Schema, options: []schema.Declaration{
		schema.With("user_messages", schema.Options{Compaction: schema.TimeWindow(15 * 24 * time.Hour)}),
	}},
	"conversations": {set: conversations.Messages, byHand: conversations.Schema},
	"orders split":  {set: ordersplit.Orders, byHand: ordersplit.Schema},
	"page views": {set: pageviews.Counts, byHand: pageviews.Schema[:2], options: []schema.Declaration{
		schema.With("page_views", schema.Options{Compression: schema.Chunks(4)}), schema.With("page_views_by_day", schema.Options{Compression: schema.Chunks(4)}),
	}},
	"visits":       {set: pageviews.Visits, byHand: pageviews.Schema[2:]},
	"users":        {set: users.Users, byHand: users.Schema},
	"slots":        {set: slots.Slots, byHand: slots.Schema, keyspace: "order_delivery"},
	"supermarket":  {set: supermarket.Orders, byHand: supermarket.Schema[:2], keyspace: "order_delivery"},
	"baskets":      {set: baskets.Baskets, byHand: baskets.Schema, keyspace: "customer"},
	"activity":     {set: useractivity.Activities, byHand: useractivity.Schema},
	"contended":    {set: contended.Orders, byHand: contended.Schema[:2], errors: []string{"DN101 orders_by_status"}},
	"shared items": {set: tenants.Shared, byHand: tenants.SharedSchema},
}

// The examples have their CQL written by hand. The declarations make the same tables of it, and their review finds the one
// known flaw and no other error.
func TestDeclaredIsAsWrittenByHand(t *testing.T) {
	t.Parallel()
	for name, e := range examples {
		text := strings.Join(e.byHand, ";\n")
		if e.keyspace != "" {
			text = strings.ReplaceAll(text, "IF NOT EXISTS ", "IF NOT EXISTS "+e.keyspace+".")
		}
		byHand, err := schema.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		declared, err := schema.Declare(append([]schema.Declaration{schema.Sets(e.set)}, e.options...)...)
		if err != nil {
			t.Fatal(err)
		}
		found := schema.Compare(declared, byHand)
		found = slices.DeleteFunc(found, func(d schema.Difference) bool { return d.Note }) // by hand there is no fingerprint
		if len(found) > 0 {
			t.Errorf("%s: %s", name, &schema.DifferenceError{Differences: found})
		}
		var wrong []string
		for _, f := range lint.Check(declared) {
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
	if pattern.Rotation == nil || declared.CQL() != "" {
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
