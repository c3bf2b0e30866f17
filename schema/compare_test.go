package schema_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
)

const declaredText = `
-- denorm:entity order shop.orders shop.orders_by_user stock.orders_by_item
CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3};
CREATE TYPE shop.place (street text, city text, zip text);
CREATE TABLE shop.orders (order_id timeuuid PRIMARY KEY, user_id uuid, total decimal, place frozen<place>, note text, near vector<float, 3>)
    WITH default_time_to_live = 3600;
CREATE TABLE shop.orders_by_user (user_id uuid, order_id timeuuid, item_id uuid, total decimal, PRIMARY KEY (user_id, order_id))
    WITH CLUSTERING ORDER BY (order_id DESC) AND comment = 'a user''s page';
CREATE TABLE stock.orders_by_item (item_id uuid, day date, order_id timeuuid, PRIMARY KEY ((item_id, day), order_id));
CREATE TABLE shop.missing (id uuid PRIMARY KEY);
CREATE INDEX ON shop.orders (user_id);`

const liveText = `
CREATE KEYSPACE shop WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc1': '2'} AND durable_writes = false;
CREATE KEYSPACE stock WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '1'};
CREATE TYPE shop.place (street text, town text, extra int);
CREATE TABLE shop.orders (order_id uuid PRIMARY KEY, user_id uuid, total double, extra int, note text, near vector<float, 4>) WITH speculative_retry = 'NEVER';
CREATE TABLE shop.orders_by_user (customer_id uuid, order_id timeuuid, item_id uuid, total decimal, PRIMARY KEY (customer_id, order_id, item_id))
    WITH gc_grace_seconds = 0;
CREATE TABLE stock.orders_by_item (item_id uuid, day date, order_id timeuuid, PRIMARY KEY ((day, item_id), order_id)) WITH default_time_to_live = 60;
CREATE TABLE shop.unknown (id uuid PRIMARY KEY);
CREATE INDEX other ON shop.orders (note);`

// TestDifferences: all differences come in one error, each with the statement that fixes it or why there is none.
func TestDifferences(t *testing.T) {
	t.Parallel()
	declared, live := parse(t, declaredText), parse(t, liveText)
	found := schema.Compare(declared, live)
	golden.Check(t, "differences.golden", (&schema.DifferenceError{Differences: found}).Error()+"\n")
	golden.Check(t, "migration.golden", schema.Migration(found))
	breaking := schema.Breaking(found)
	for _, d := range breaking {
		if strings.Contains(d.Reason, "not declared") && d.Fix != "" && !strings.Contains(d.Reason, "vanish") {
			t.Errorf("what is only more than declared breaks nothing: %s", d)
		}
	}
	if len(breaking) == 0 || len(breaking) == len(found) {
		t.Errorf("%d of %d differences break something", len(breaking), len(found))
	}
}

// The text of a migration changes nothing by itself that it should not: what would lose data, or keep it for good, is a
// comment.
func TestMigrationDestroysNothing(t *testing.T) {
	t.Parallel()
	text := schema.Migration(schema.Compare(parse(t, declaredText), parse(t, liveText)))
	for _, line := range strings.Split(text, "\n") {
		if (strings.Contains(line, "DROP") || strings.Contains(line, "default_time_to_live = 0")) && !strings.HasPrefix(line, "--") {
			t.Errorf("not a comment: %s", line)
		}
	}
}

func TestReplication(t *testing.T) {
	t.Parallel()
	keyspace := func(replication string) *schema.Schema {
		return parse(t, "CREATE KEYSPACE k WITH replication = "+replication)
	}
	for _, c := range []struct {
		declared, live string
		same           bool
	}{
		{"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}", "{'class': 'NetworkTopologyStrategy', 'dc1': '3', 'dc2': '3'}", true},
		{"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}", "{'class': 'NetworkTopologyStrategy', 'dc1': '3', 'dc2': '2'}", false},
		{"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3, 'dc2': 2}", "{'class': 'NetworkTopologyStrategy', 'dc1': '3', 'dc2': '2'}", true},
		{"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}", "{'class': 'SimpleStrategy', 'replication_factor': '3'}", false},
		{"{'class': 'SimpleStrategy', 'replication_factor': 3}", "{'class': 'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '3'}", true},
		{"{'class': 'NetworkTopologyStrategy', 'dc1': 3}", "{'class': 'NetworkTopologyStrategy', 'dc1': '3'}", true},
		{"{'class': 'NetworkTopologyStrategy', 'dc1': 3}", "{'class': 'NetworkTopologyStrategy', 'dc1': '3', 'dc2': '1'}", false},
	} {
		found := schema.Compare(keyspace(c.declared), keyspace(c.live))
		if (len(found) == 0) != c.same {
			t.Errorf("%s and %s: %v", c.declared, c.live, found)
		}
	}
}

// A schema is plain data, and one made by hand may lack what a read one has.
func TestCompareByHand(t *testing.T) {
	t.Parallel()
	declared := parse(t, "CREATE TABLE shop.orders (id uuid PRIMARY KEY) WITH comment = 'orders'")
	live := parse(t, "CREATE TABLE shop.orders (id uuid PRIMARY KEY)")
	live.Tables[0].Options = nil
	if found := schema.Compare(declared, live); len(found) != 1 || !strings.Contains(found[0].String(), "comment") {
		t.Error(found)
	}
}

// The statements of a migration can be executed in their order, those that are comments too: what is made of something
// else is created after it, and dropped before it.
func TestMigrationIsInTheOrderOfDependence(t *testing.T) {
	t.Parallel()
	const inner, outer = "CREATE TYPE k.zip (code text);", "CREATE TYPE k.address (zip frozen<zip>);"
	const table = "CREATE TABLE k.t (id int PRIMARY KEY, a frozen<address>, b int); CREATE INDEX i ON k.t (b);" +
		"CREATE MATERIALIZED VIEW k.v AS SELECT id, b FROM k.t WHERE id IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, id);"
	empty := parse(t, "CREATE TYPE k.other (a int);")
	order := func(declared, live *schema.Schema, wanted ...string) {
		t.Helper()
		text := schema.Migration(schema.Compare(declared, live))
		at := -1
		for _, want := range wanted {
			next := strings.Index(text, want)
			if next <= at {
				t.Errorf("%s is not where it can be executed:\n%s", want, text)
			}
			at = next
		}
	}
	all := schema.Must(schema.Declare(schema.CQL(outer), schema.CQL(inner), schema.CQL(table))) // in any order
	order(all, empty, "CREATE TYPE k.zip", "CREATE TYPE k.address", "CREATE TABLE k.t", "CREATE INDEX i", "CREATE MATERIALIZED VIEW k.v")
	order(parse(t, "CREATE TABLE k.t (id int PRIMARY KEY);"), all, "DROP MATERIALIZED VIEW k.v", "DROP INDEX k.i", "ALTER TABLE k.t DROP b")
	order(empty, all, "DROP MATERIALIZED VIEW k.v", "DROP INDEX k.i", "DROP TABLE k.t", "DROP TYPE k.address", "DROP TYPE k.zip")
	old := parse(t, "CREATE TYPE k.address (street text);")
	more := schema.Must(schema.Declare(schema.CQL("CREATE TYPE k.address (street text, zip frozen<zip>);"), schema.CQL(inner)))
	order(more, old, "CREATE TYPE k.zip", "ALTER TYPE k.address ADD zip")
}
