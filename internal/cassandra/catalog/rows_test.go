package catalog_test

import (
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
)

// TestSystemTables has the columns that the drivers and this library ask for.
func TestSystemTables(t *testing.T) {
	t.Parallel()
	s := catalog.New()
	for _, c := range []struct {
		keyspace, table string
		key             []string
	}{
		{"system", "local", []string{"key"}},
		{"system", "peers", []string{"peer"}},
		{"system", "peers_v2", []string{"peer", "peer_port"}},
		{"system", "size_estimates", []string{"keyspace_name", "table_name", "range_start", "range_end"}},
		{"system_schema", "columns", []string{"keyspace_name", "table_name", "column_name"}},
		{"system_schema", "aggregates", []string{"keyspace_name", "aggregate_name", "argument_types"}},
		{"system_views", "max_partition_size", []string{"keyspace_name", "table_name"}},
	} {
		table := s.Table(c.keyspace, c.table)
		if table == nil || !table.System {
			t.Errorf("%s.%s: %+v", c.keyspace, c.table, table)
			continue
		}
		if got := slices.Concat(names(table.Partition), names(table.Clustering)); !slices.Equal(got, c.key) {
			t.Errorf("%s.%s: key %v, want %v", c.keyspace, c.table, got, c.key)
		}
	}
	if k := s.Keyspace("system"); k.Factor() != 1 {
		t.Errorf("system has %d replicas", k.Factor())
	}
}

func rows(t *testing.T, s *catalog.Schema, table string) []map[string][]byte {
	t.Helper()
	return slices.DeleteFunc(s.Rows(s.Table("system_schema", table)), func(r map[string][]byte) bool {
		return string(r["keyspace_name"]) != "ks"
	})
}

func value[V any](t *testing.T, s *catalog.Schema, table, column string, row map[string][]byte) (v V) {
	t.Helper()
	if err := gocql.Unmarshal(s.Table("system_schema", table).Column(column).Type.Info(), row[column], &v); err != nil {
		t.Fatalf("%s.%s: %v", table, column, err)
	}
	return v
}

func TestRows(t *testing.T) {
	t.Parallel()
	s := newSchema(
		t, "CREATE TYPE u (a int, b frozen<list<text>>)",
		"CREATE TABLE t (p int, c text, v frozen<u>, n int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC) AND "+
			"gc_grace_seconds = 5",
		"CREATE INDEX ON t (n)", "ALTER TABLE t ADD x int", "ALTER TABLE t DROP x",
		"CREATE TABLE a (k int PRIMARY KEY, n counter)",
		"CREATE MATERIALIZED VIEW w AS SELECT p, c FROM t WHERE n IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL PRIMARY "+
			"KEY ((n), p, c)",
	)
	tables := rows(t, s, "tables")
	if len(tables) != 2 || string(tables[0]["table_name"]) != "a" ||
		!slices.Equal(value[[]string](t, s, "tables", "flags", tables[0]), []string{"compound", "counter"}) ||
		value[int](t, s, "tables", "gc_grace_seconds", tables[1]) != 5 || tables[1]["cdc"] != nil {
		t.Errorf("tables: %q", tables)
	}
	columns := rows(t, s, "columns")
	if len(columns) != 2+4+3 || string(columns[2]["column_name"]) != "c" ||
		string(columns[2]["clustering_order"]) != "desc" ||
		string(columns[5]["type"]) != "frozen<u>" || value[int](t, s, "columns", "position", columns[5]) != -1 {
		t.Errorf("columns: %q", columns)
	}
	types := rows(t, s, "types")
	if len(types) != 1 || !slices.Equal(value[[]string](t, s, "types", "field_types", types[0]),
		[]string{"int", "frozen<list<text>>"}) {
		t.Errorf("types: %q", types)
	}
	views := rows(t, s, "views")
	if len(views) != 1 || string(views[0]["base_table_name"]) != "t" ||
		string(views[0]["base_table_id"]) != string(tables[1]["id"]) ||
		string(views[0]["where_clause"]) != "n IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL" ||
		value[bool](t, s, "views", "include_all_columns", views[0]) {
		t.Errorf("views: %q", views)
	}
	indexes := rows(t, s, "indexes")
	if len(indexes) != 1 || string(indexes[0]["index_name"]) != "t_n_idx" ||
		value[map[string]string](t, s, "indexes", "options", indexes[0])["target"] != "n" {
		t.Errorf("indexes: %q", indexes)
	}
	if gone := rows(t, s, "dropped_columns"); len(gone) != 1 || string(gone[0]["column_name"]) != "x" {
		t.Errorf("dropped columns: %q", gone)
	}
	keyspaces := rows(t, s, "keyspaces")
	if len(keyspaces) != 1 || value[map[string]string](t, s, "keyspaces", "replication", keyspaces[0])["dc1"] != "3" {
		t.Errorf("keyspaces: %q", keyspaces)
	}
	if all := s.Rows(s.Table("system_schema", "keyspaces")); len(all) != 3 {
		t.Errorf("%d keyspaces, want ks, system and system_schema", len(all))
	}
	if local := s.Rows(s.Table("system", "local")); local != nil {
		t.Errorf("rows of system.local: %q", local)
	}
}
