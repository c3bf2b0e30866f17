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

// The internal columns of COMPACT STORAGE, which only the schema tables show, are none of the table. Rows as of
// Cassandra 5.0.
func TestReadCompactStorage(t *testing.T) {
	t.Parallel()
	column := func(table, name, kind string, position int, order, typ string) map[string]any {
		return map[string]any{"table_name": table, "column_name": name, "kind": kind, "position": position, "clustering_order": order, "type": typ}
	}
	rows := fakeReader{
		"keyspaces": {{"keyspace_name": "k", "durable_writes": true}}, "types": nil, "indexes": nil, "views": nil,
		"tables": {
			{"table_name": "members", "flags": []string{}},
			{"table_name": "pairs", "flags": []string{"dense"}},
			{"table_name": "values", "flags": []string{"compound", "dense"}},
			{"table_name": "modern", "flags": []string{"compound"}},
			{"table_name": "unflagged"},
			{"table_name": "members_dropped", "flags": []string{"compound"}},
			{"table_name": "pairs_dropped", "flags": []string{"compound"}},
		},
		"columns": {
			column("members", "id", "partition_key", 0, "none", "uuid"), column("members", "column1", "clustering", 0, "asc", "text"),
			column("members", "name", "static", -1, "none", "text"), column("members", "value", "regular", -1, "none", "blob"),
			column("pairs", "base", "partition_key", 0, "none", "uuid"), column("pairs", "pair", "clustering", 0, "asc", "uuid"),
			column("pairs", "value", "regular", -1, "none", "empty"),
			column("values", "a", "partition_key", 0, "none", "int"), column("values", "b", "clustering", 0, "asc", "int"),
			column("values", "c", "clustering", 1, "desc", "int"), column("values", "value", "regular", -1, "none", "blob"),
			column("modern", "id", "partition_key", 0, "none", "uuid"), column("modern", "column1", "clustering", 0, "asc", "text"),
			column("modern", "name", "static", -1, "none", "text"), column("modern", "value", "regular", -1, "none", "blob"),
			column("members_dropped", "id", "partition_key", 0, "none", "uuid"), column("members_dropped", "column1", "clustering", 0, "asc", "text"),
			column("members_dropped", "value", "static", -1, "none", "text"), column("members_dropped", "value1", "regular", -1, "none", "blob"),
			column("pairs_dropped", "base", "partition_key", 0, "none", "uuid"), column("pairs_dropped", "pair", "clustering", 0, "asc", "uuid"),
			column("pairs_dropped", "value", "regular", -1, "none", "empty"),
			column("unflagged", "id", "partition_key", 0, "none", "uuid"), column("unflagged", "value", "regular", -1, "none", "blob"),
		},
	}
	live, err := read(context.Background(), rows, []string{"k"})
	if err != nil {
		t.Fatal(err)
	}
	declared, err := Parse("f", `USE k;
CREATE TABLE members (id uuid PRIMARY KEY, name text) WITH COMPACT STORAGE;
CREATE TABLE pairs (base uuid, pair uuid, PRIMARY KEY (base, pair)) WITH COMPACT STORAGE;
CREATE TABLE values (a int, b int, c int, value blob, PRIMARY KEY (a, b, c)) WITH COMPACT STORAGE AND CLUSTERING ORDER BY (b ASC, c DESC);
CREATE TABLE modern (id uuid, column1 text, name text static, value blob, PRIMARY KEY (id, column1));
CREATE TABLE unflagged (id uuid PRIMARY KEY, value blob);
CREATE TABLE members_dropped (id uuid PRIMARY KEY, value text) WITH COMPACT STORAGE;
CREATE TABLE pairs_dropped (base uuid, pair uuid, PRIMARY KEY (base, pair)) WITH COMPACT STORAGE;
ALTER TABLE members_dropped DROP COMPACT STORAGE;
ALTER TABLE pairs_dropped DROP COMPACT STORAGE;`)
	if err != nil {
		t.Fatal(err)
	}
	if found := Compare(declared, live); len(found) > 0 {
		t.Errorf("%v\n%s", found, live.CQL())
	}
	for _, name := range []string{"members", "pairs", "values"} {
		if id := (ID{"k", name}); !strings.HasSuffix(live.Table(id).Definition(), "COMPACT STORAGE") || live.Table(id).Definition() != declared.Table(id).Definition() {
			t.Errorf("%s: %s", name, live.Table(id).Definition())
		}
	}
	if again, err := Parse("f", declared.CQL()); err != nil || again.CQL() != declared.CQL() {
		t.Errorf("%v\n%s", err, declared.CQL())
	}
	if _, err := Parse("f", "CREATE TABLE k.t (a int PRIMARY KEY); ALTER TABLE k.t DROP COMPACT STORAGE"); err == nil {
		t.Error("no server drops what is not there")
	}
	plain, err := Parse("f", "CREATE TABLE k.members (id uuid PRIMARY KEY, name text);")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range [][2]*Schema{{plain, live}, {&Schema{Tables: live.Tables[:1]}, plain}} {
		if text := Migration(Compare(d[0], d[1])); strings.Contains(text, "WITH COMPACT") {
			t.Errorf("no server alters it: %s", text)
		}
	}
	if found := Compare(plain, live); len(Breaking(found)) > 0 {
		t.Errorf("%v", found)
	}
}

// The functions of a cluster are named where its schema is written, as they are left out.
func TestReadNamesFunctions(t *testing.T) {
	t.Parallel()
	left, err := readCode(context.Background(), fakeReader{
		"functions":  {{"function_name": "half", "argument_types": []string{"double", "a\nDROP TABLE t;"}}},
		"aggregates": {{"aggregate_name": "Average", "argument_types": []string{"int"}}},
	}, []string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `-- Left out: function shop.half (double, a\nDROP TABLE t;)
-- Left out: aggregate shop."Average" (int)
`
	if got := (&Schema{Unread: left}).CQL(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
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
