package ast

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/scylladb/gocqlx/v2/qb"
)

// planned finds statements in what the tests of the library write down.
var planned = regexp.MustCompile(
	`(?m)\b(INSERT INTO .* VALUES .*|UPDATE .* SET .* WHERE .*|DELETE .*FROM .* WHERE .*)$`)

// files reads all files that match.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	var texts []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// Every statement that the library sends, as its golden files show them.
func TestPlannedStatements(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, pattern := range []string{"../../../tables/testdata/*.golden", "../../../writer/testdata/*.golden"} {
		for _, file := range files(t, pattern) {
			for _, s := range planned.FindAllString(file, -1) {
				if _, err := Parse(s); err != nil {
					t.Errorf("%s: %v", s, err)
				}
				seen[s] = true
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d statements", len(seen))
	}
}

// What gocql 1.7 asks a cluster of itself.
func TestDriverStatements(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"SELECT * FROM system.local WHERE key='local'",
		"SELECT schema_version FROM system.local WHERE key='local'",
		"SELECT * FROM system.peers",
		"SELECT * FROM system.peers_v2",
		`USE "shop"`,
		"SELECT * FROM system_schema.keyspaces",
		"\n\t\tSELECT durable_writes, replication\n\t\tFROM system_schema.keyspaces\n\t\tWHERE keyspace_name = ?",
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
		"SELECT view_name FROM system_schema.views WHERE keyspace_name = ?",
		"SELECT table_name, column_name, clustering_order, type, kind, position FROM system_schema.columns WHERE " +
			"keyspace_name = ?",
		"SELECT type_name, field_names, field_types FROM system_schema.types WHERE keyspace_name = ?",
		"SELECT view_name, base_table_id, base_table_name, bloom_filter_fp_chance, caching, comment, compaction, compression," +
			" crc_check_chance, dclocal_read_repair_chance, default_time_to_live, extensions, gc_grace_seconds, id," +
			" include_all_columns, max_index_interval, memtable_flush_period_in_ms, min_index_interval, read_repair_chance," +
			" speculative_retry FROM system_schema.views WHERE keyspace_name = ?",
		"SELECT function_name, argument_types, argument_names, body, called_on_null_input, language, return_type" +
			" FROM system_schema.functions WHERE keyspace_name = ?",
		"SELECT aggregate_name, argument_types, final_func, initcond, return_type, state_func, state_type" +
			" FROM system_schema.aggregates WHERE keyspace_name = ?",
		"SELECT columnfamily_name, column_name, component_index, validator, index_name, index_type, index_options, type" +
			" FROM system.schema_columns WHERE keyspace_name = ?",
		"SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?",
		"SELECT event_id, activity, source, source_elapsed, thread FROM system_traces.events WHERE session_id = ?",
	} {
		if _, err := Parse(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// What the builders of gocqlx build; the names are those of the marks.
func TestBuiltStatements(t *testing.T) {
	t.Parallel()
	all := []qb.Cmp{
		qb.Eq("a"), qb.Ne("a"), qb.Lt("a"), qb.LtOrEq("a"), qb.Gt("a"), qb.GtOrEq("a"), qb.In("a"), qb.InTuple("a", 2),
		qb.Contains("a"),
		qb.ContainsKey("a"), qb.Like("a"), qb.EqTuple("a", 2), qb.EqNamed("a", "b.c"), qb.EqLit("a", "'x'"),
		qb.EqFunc("a", qb.Now()),
		qb.GtFunc("a", qb.MinTimeuuid("t")), qb.Token("a", "b").Gt(), qb.Token("a", "b").LtOrEqValue(),
	}
	insert := qb.Insert("ks.t").Columns("a", "b").TupleColumn("c", 2).FuncColumn("d", qb.Now()).LitColumn("e", "{'x': 1}")
	update := qb.Update("t").Set("a", "b").SetNamed("c", "d").SetTuple("e", 2).SetFunc("f", qb.Now()).Add("g").
		AddLit("h", "1").
		Remove("i").RemoveLit("j", "{1}").Where(qb.Eq("k"), qb.In("c"))
	batch := qb.Batch //nolint:staticcheck // gocqlx says to use gocql's, and applications of today use this one
	built := []interface{ ToCql() (string, []string) }{
		qb.Select("ks.t"), qb.Select("t").Columns("a", "b", "count(*)", qb.As("c", "d")).Distinct("k"),
		qb.Select("t").Where(all...).OrderBy("a", qb.DESC).OrderBy("b", qb.ASC).LimitPerPartition(2).Limit(10).
			AllowFiltering(),
		qb.Select("t").LimitNamed("n").LimitPerPartitionNamed("m"), qb.Select("t").CountAll(), qb.Select("t").Count("a").
			Max("b"),
		insert, qb.Insert("t").Columns("a").Unique().TTLNamed("ttl").TimestampNamed("ts"),
		qb.Insert("t").Columns("a").Unique().TTL(1e9),
		update, qb.Update("t").Set("a").Where(qb.Eq("k")).Existing(), qb.Update("t").Set("a").TTLNamed("x").Where(qb.Eq("k")).
			If(all[:8]...),
		qb.Delete("t").Columns("a", "b[1]").Where(qb.Eq("k"), qb.Gt("c")).TimestampNamed("ts").Existing(),
		batch().Add(insert).AddWithPrefix("x", update).AddStmt("DELETE FROM t WHERE k = ?", []string{"k"}),
		batch().UnLogged().TimestampNamed("ts").Add(insert), batch().Counter().Add(qb.Update("t").Add("n").Where(qb.Eq("k"))),
	}
	for _, b := range built {
		text, names := b.ToCql()
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if marks := Marks(s); len(marks) != len(names) {
			t.Errorf("%s: %d marks, built with %d", text, len(marks), len(names))
		}
	}
}
