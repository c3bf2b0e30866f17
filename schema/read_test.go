package schema

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// fakeReader answers with rows as the schema tables of a Cassandra 5 hold them.
type fakeReader map[string][]map[string]any

func (f fakeReader) rows(_ context.Context, statement string, _ ...any) ([]map[string]any, error) {
	table := strings.Fields(strings.TrimPrefix(statement, "SELECT * FROM system_schema."))[0]
	rows, ok := f[table]
	if !ok {
		return nil, errors.New("no answer for " + table)
	}
	return rows, nil
}

func liveRows() fakeReader {
	column := func(name, kind string, position int, order, typ string) map[string]any {
		return map[string]any{
			"keyspace_name": "shop", "table_name": "orders", "column_name": name, "kind": kind, "position": position,
			"clustering_order": order, "type": typ,
		}
	}
	return fakeReader{
		"keyspaces": {{
			"keyspace_name": "shop", "durable_writes": true,
			"replication": map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3"},
		}},
		"types": {{"type_name": "place", "field_names": []string{"street", "tags"}, "field_types": []string{"text", "frozen<set<text>>"}}},
		"columns": {
			column("total", "regular", -1, "none", "decimal"),
			column("order_id", "clustering", 0, "asc", "timeuuid"),
			column("day", "clustering", 1, "desc", "date"),
			column("user_id", "partition_key", 0, "none", "uuid"),
			column("tenant", "partition_key", 1, "none", "text"),
			column("place", "static", -1, "none", "frozen<place>"),
			{
				"keyspace_name": "shop", "table_name": "by_total", "column_name": "total", "kind": "partition_key", "position": 0,
				"clustering_order": "none", "type": "decimal",
			},
		},
		"tables": {
			{
				"keyspace_name": "shop", "table_name": "orders", "gc_grace_seconds": 0, "default_time_to_live": 3600, "comment": "it's",
				"compaction": map[string]string{
					"class": "org.apache.cassandra.db.compaction.LeveledCompactionStrategy", "max_threshold": "32", "min_threshold": "4",
				},
				"compression":            map[string]string{"chunk_length_in_kb": "16", "class": "org.apache.cassandra.io.compress.LZ4Compressor"},
				"bloom_filter_fp_chance": 0.1, "crc_check_chance": 1.0, "flags": []string{"compound"}, "memtable": "",
				"speculative_retry": "NEVER", "caching": map[string]string{"keys": "ALL", "rows_per_partition": "NONE"},
				"read_repair": "BLOCKING", "cdc": false, "extensions": map[string][]byte{}, "dclocal_read_repair_chance": 0.0,
			},
			{"keyspace_name": "shop", "table_name": lockTable},
		},
		"indexes": {{"index_name": "i", "table_name": "orders", "kind": "CUSTOM", "options": map[string]string{"class_name": "sai", "target": "total"}}},
		"views":   {{"view_name": "by_total", "base_table_name": "orders", "where_clause": "total IS NOT NULL"}},
	}
}

// describing answers DESCRIBE too, as Cassandra 6 does.
type describing struct {
	fakeReader
	described []map[string]any
}

func (d describing) rows(ctx context.Context, statement string, values ...any) ([]map[string]any, error) {
	if statement == "DESCRIBE KEYSPACE shop" {
		return d.described, nil
	}
	return d.fakeReader.rows(ctx, statement, values...)
}

// No table of system_schema says which tables Cassandra 6 writes in transactions. Only DESCRIBE does.
func TestReadTransactionalMode(t *testing.T) {
	t.Parallel()
	live := liveRows()
	live["tables"][0]["fast_path"] = map[string]string{"kind": "INHERIT_KEYSPACE"}
	const create = "CREATE TABLE shop.orders (id int PRIMARY KEY) WITH "
	for options, want := range map[string]string{
		"comment = 'transactional_mode = ''off''' AND transactional_mode = 'full' AND cdc = false;": "'full'",
		"transactional_mode = 'off';":                "'off'",
		"comment = 'transactional_mode = ''full''';": "'off'",
	} {
		found, err := read(context.Background(), describing{live, []map[string]any{
			{"keyspace_name": "shop", "type": "table", "name": "orders", "create_statement": create + options},
		}}, []string{"shop"})
		if err != nil {
			t.Fatal(err)
		}
		table := found.Table(ID{"shop", "orders"})
		if got := table.option(optTransactions); got != want || table.Options["fast_path"] != "" {
			t.Errorf("%s: mode %s, fast_path %s", options, got, table.Options["fast_path"])
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	live, err := read(context.Background(), liveRows(), []string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '3'};

CREATE TYPE shop.place (
    street text,
    tags frozen<set<text>>
);

CREATE TABLE shop.orders (
    user_id uuid,
    tenant text,
    order_id timeuuid,
    day date,
    place frozen<place> static,
    total decimal,
    PRIMARY KEY ((user_id, tenant), order_id, day)
) WITH CLUSTERING ORDER BY (order_id ASC, day DESC)
    AND comment = 'it''s'
    AND compaction = {'class': 'LeveledCompactionStrategy'}
    AND default_time_to_live = 3600
    AND gc_grace_seconds = 0
    AND speculative_retry = 'NEVER';

CREATE CUSTOM INDEX i ON shop.orders (total) USING 'sai';

CREATE MATERIALIZED VIEW shop.by_total AS
    SELECT total
    FROM shop.orders
    WHERE total IS NOT NULL
    PRIMARY KEY (total);
`
	if got := live.CQL(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A schema of which a part could not be read is not taken for one without that part.
func TestReadFails(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"keyspaces", "types", "columns", "tables", "indexes", "views"} {
		rows := liveRows()
		delete(rows, table)
		if _, err := read(context.Background(), rows, []string{"shop"}); err == nil || !strings.Contains(err.Error(), "no answer for "+table) {
			t.Errorf("without %s: %v", table, err)
		}
	}
	rows := liveRows()
	rows["keyspaces"] = nil
	if s, err := read(context.Background(), rows, []string{"shop"}); err != nil || len(s.Tables) > 0 {
		t.Errorf("a keyspace that does not exist: %v, %v", s, err)
	}
}
