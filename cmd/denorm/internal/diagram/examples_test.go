package diagram_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/customers"
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
	"github.com/denorm-go/denorm/schema"
)

// The pictures are of the tables of the examples: same names, keys, columns and types, but for columns that are the
// library's own.
func TestPicturesAreOfTheExamples(t *testing.T) {
	t.Parallel()
	own := []string{"updated_at", "expires_at", "version", "pending", "done", "recent", "claim", "change_id"}
	columns := func(table *schema.Table) string {
		var out []string
		for _, c := range table.Columns {
			if !slices.Contains(own, c.Name) {
				out = append(out, c.Name+" "+c.Type+" "+string(c.Kind)+fmt.Sprintf(" desc=%t", c.Desc))
			}
		}
		regular := slices.IndexFunc(out, func(c string) bool { return strings.Contains(c, string(schema.Regular)) })
		if regular >= 0 {
			slices.Sort(out[regular:])
		}
		return strings.Join(out, "\n\t")
	}
	acme := tenants.OwnSchema.In(map[string]string{tenants.Tenant: "tenant_acme"})
	for name, examples := range map[string][]*schema.Schema{
		"s01_orders": {orders.Schema}, "s02_hourly_logs": {hourlylogs.Schema}, "s03_bucketed_logs": {bucketedlogs.Schema},
		"s04_sensor_readings": {sensors.Schema}, "s05_user_messages": {usermessages.Schema}, "s07_user_activity": {useractivity.Schema},
		"s08_unique_email": {users.Schema}, "s09_conversations": {conversations.Schema}, "s10_multi_tenant": {tenants.SharedSchema, acme},
		"s11_page_views": {pageviews.Schema}, "s12_conditional_insert": {accounts.Schema}, "s13_customers": {customers.Schema},
		"s14_basket": {baskets.Schema}, "s15_delivery_slots": {slots.Schema}, "s16_order_delivery": {supermarket.Schema},
		"s17_partition_split": {ordersplit.Schema},
	} {
		drawn := system(t, name)
		for _, example := range examples {
			for i := range example.Tables {
				table := &example.Tables[i]
				if table.Name == "delivery_timeslots" && name != "s15_delivery_slots" { // its own picture
					continue
				}
				picture := drawn.Table(table.ID)
				if picture == nil {
					t.Errorf("%s has no table %s", name, table.ID)
					continue
				}
				if got, want := columns(picture), columns(table); got != want {
					t.Errorf("%s: table %s is\n\t%s\nand in the example\n\t%s", name, table.ID, got, want)
				}
			}
		}
	}
}
