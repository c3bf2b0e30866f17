// Package anyschema makes up schemas that Cassandra takes, and single changes of them, for property tests.
package anyschema

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// natives can be in a key, have an index, and be in any collection.
var natives = strings.Fields(`ascii bigint blob boolean date decimal double float inet int smallint text time timestamp
	timeuuid tinyint uuid varint`)

// Generate makes up a schema in a keyspace: types, tables with all kinds of columns and options, indexes. The same
// numbers give the same schema.
func Generate(r *rand.Rand, keyspace string) *schema.Schema {
	var b strings.Builder
	types := 0
	for ; types < r.IntN(3); types++ {
		fmt.Fprintf(&b, "CREATE TYPE %s (first %s, second frozen<%s>", typeName(keyspace, types), pick(r, natives),
			collection(r))
		if types > 0 {
			fmt.Fprintf(&b, ", third frozen<type_%d>", types-1)
		}
		b.WriteString(");\n")
	}
	for t := range 1 + r.IntN(3) {
		table(r, &b, keyspace, fmt.Sprintf("table_%d", t), types)
	}
	return parsed(b.String())
}

func typeName(keyspace string, n int) string { return fmt.Sprintf("%s.type_%d", keyspace, n) }

func pick(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

func collection(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return "list<" + pick(r, natives) + ">"
	case 1:
		return "set<" + pick(r, natives) + ">"
	}
	return "map<" + pick(r, natives) + ", " + pick(r, natives) + ">"
}

// valueType is a type for a column that is not in the key.
func valueType(r *rand.Rand, types int) string {
	switch n := r.IntN(12); {
	case n == 0:
		return collection(r)
	case n == 1:
		return "frozen<" + collection(r) + ">"
	case n == 2:
		return "map<" + pick(r, natives) + ", frozen<" + collection(r) + ">>"
	case n == 3:
		return "tuple<" + pick(r, natives) + ", " + pick(r, natives) + ">"
	case n == 4:
		return fmt.Sprintf("vector<float, %d>", 1+r.IntN(5))
	case n == 5:
		return "duration"
	case n == 6 && types > 0:
		return fmt.Sprintf("frozen<type_%d>", r.IntN(types))
	case n == 7 && types > 0:
		return fmt.Sprintf("type_%d", r.IntN(types))
	case n == 8 && types > 0:
		return fmt.Sprintf("list<frozen<type_%d>>", r.IntN(types))
	}
	return pick(r, natives)
}

func table(r *rand.Rand, b *strings.Builder, keyspace, name string, types int) {
	part, clustering, regular := 1+r.IntN(3), r.IntN(4), r.IntN(6)
	fmt.Fprintf(b, "CREATE TABLE %s.%s (\n", keyspace, name)
	var partNames, clusteringNames, order, indexed []string
	for i := range part {
		n := fmt.Sprintf("part_%d", i)
		partNames = append(partNames, n)
		fmt.Fprintf(b, "    %s %s,\n", n, pick(r, natives))
	}
	for i := range clustering {
		n := fmt.Sprintf("sort_%d", i)
		if r.IntN(4) == 0 {
			n = fmt.Sprintf(`"Sort %d"`, i)
		}
		clusteringNames = append(clusteringNames, n)
		order = append(order, n+" "+pick(r, []string{"ASC", "DESC"}))
		fmt.Fprintf(b, "    %s %s,\n", n, pick(r, natives))
	}
	if clustering > 0 && r.IntN(2) == 0 {
		fmt.Fprintf(b, "    once %s static,\n", valueType(r, types))
	}
	for i := range regular {
		typ := valueType(r, types)
		fmt.Fprintf(b, "    value_%d %s,\n", i, typ)
		if typ == "text" || typ == "int" || typ == "uuid" {
			indexed = append(indexed, fmt.Sprintf("value_%d", i))
		}
	}
	fmt.Fprintf(b, "    PRIMARY KEY (%s)\n)",
		strings.Join(append([]string{"(" + strings.Join(partNames, ", ") + ")"}, clusteringNames...), ", "))
	with := " WITH "
	if len(order) > 0 {
		fmt.Fprintf(b, "%sCLUSTERING ORDER BY (%s)", with, strings.Join(order, ", "))
		with = " AND "
	}
	for _, o := range options {
		if r.IntN(3) == 0 {
			fmt.Fprintf(b, "%s%s = %s", with, o.name, pick(r, o.values))
			with = " AND "
		}
	}
	b.WriteString(";\n")
	for _, column := range indexed {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(b, "CREATE INDEX %s_%s ON %[3]s.%[1]s (%[2]s);\n", name, column, keyspace)
		case 1:
			fmt.Fprintf(b, "CREATE CUSTOM INDEX %s_%s ON %[3]s.%[1]s (%[2]s) USING 'sai';\n", name, column, keyspace)
		}
	}
}

// options are those that a generated table may have, each with some values.
var options = []struct {
	name   string
	values []string
}{
	{"comment", []string{"'of a test'", "'it''s; -- no end'"}},
	{"gc_grace_seconds", []string{"3600", "0", "864000"}},
	{"default_time_to_live", []string{"86400", "60"}},
	{"compaction", []string{
		"{'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 80}",
		"{'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS', 'compaction_window_size': 6}",
		"{'class': 'UnifiedCompactionStrategy'}", "{'class': 'SizeTieredCompactionStrategy', 'min_threshold': 6}",
	}},
	{"compression", []string{
		"{'class': 'LZ4Compressor', 'chunk_length_in_kb': 4}", "{'enabled': 'false'}",
		"{'class': 'ZstdCompressor'}",
	}},
	{"caching", []string{"{'keys': 'ALL', 'rows_per_partition': '10'}", "{'keys': 'NONE', 'rows_per_partition': 'NONE'}"}},
	{"speculative_retry", []string{"'NEVER'", "'95p'"}},
	{"bloom_filter_fp_chance", []string{"0.05", "0.2"}},
	{"memtable_flush_period_in_ms", []string{"3600000"}},
	{"min_index_interval", []string{"64"}},
	{"cdc", []string{"false"}},
}
