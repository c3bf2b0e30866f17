package ports_test

import (
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
)

// On real nodes denorm init finds the two entities of the shop, and what their rows say.
func TestInitOfTheShop(t *testing.T) {
	t.Parallel()
	p := open(t, nodes.Cassandra, shopTables)
	for range 20 {
		p.by("INSERT INTO orders (order_id, user_id, status, address) VALUES (?, ?, 'open', 'a')", gocql.TimeUUID(), gocql.MustRandomUUID())
		p.by("INSERT INTO holds (hold_id, sku, quantity) VALUES (?, 'a', 1) USING TTL 3600", gocql.MustRandomUUID())
	}
	var out strings.Builder
	c := command.New()
	c.SetOut(&out)
	c.SetArgs([]string{"init", "--hosts", strings.Join(cluster.Hosts(t), ","), "--keyspace", p.Keyspace, "--sample", "800"})
	p.must(c.ExecuteContext(t.Context()))
	for _, want := range []string{
		"2 entities, 0 tables alone", "entity order (a guess)", "entity hold (a guess)", "null in 20 of 20 rows that were read: total",
		"rows expire: 20 of 20 rows that were read end by a TTL", `tables.OneOf("status", "open")`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
}
