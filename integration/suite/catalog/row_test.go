package catalog_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
)

// definitions are carried out on both sides. Afterwards what they made has to look the same.
var definitions = strings.Split(strings.TrimSpace(`
CREATE TABLE KS.plain (p int, q text, c timestamp, d uuid, a text, s text static, b list<text>, PRIMARY KEY ((p, q), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)
CREATE TABLE KS.pk (id uuid PRIMARY KEY, v int, w varchar)
CREATE TABLE KS.cnt (id uuid, c int, n counter, s counter static, PRIMARY KEY (id, c))
CREATE TABLE KS.opts (id uuid PRIMARY KEY, v int) WITH comment = 'it''s' AND gc_grace_seconds = 3600 AND default_time_to_live = 86400 AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': '1'} AND compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 64} AND caching = {'keys': 'NONE'} AND speculative_retry = '95percentile' AND bloom_filter_fp_chance = 0.1 AND crc_check_chance = 0.5 AND memtable_flush_period_in_ms = 100 AND min_index_interval = 64 AND max_index_interval = 4096 AND additional_write_policy = 'NEVER' AND cdc = false AND read_repair = 'NONE'
CREATE TABLE KS.lcs (id uuid PRIMARY KEY, v int) WITH compaction = {'class': 'LeveledCompactionStrategy'} AND compression = {'enabled': 'false'} AND speculative_retry = '50ms'
CREATE TABLE KS.lcs2 (id uuid PRIMARY KEY, v int) WITH compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 10}
CREATE TABLE KS.ucs (id uuid PRIMARY KEY, v int) WITH compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'} AND speculative_retry = 'ALWAYS'
CREATE TABLE KS.co (p int, c int, PRIMARY KEY (p, c)) WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 6} AND caching = {'rows_per_partition': 10}
CREATE TABLE KS.texts (a int PRIMARY KEY) WITH gc_grace_seconds = '77' AND bloom_filter_fp_chance = '0.5' AND cdc = 'false' AND comment = 12
CREATE TABLE KS.policies (a int PRIMARY KEY) WITH speculative_retry = 'min(95P, 10MS)' AND additional_write_policy = '10.7MS' AND extensions = {}
CREATE TABLE KS.backups (a int PRIMARY KEY) WITH allow_auto_snapshot = false AND incremental_backups = false AND memtable = 'default'
CREATE TABLE KS.zstd (a int PRIMARY KEY) WITH compression = {'class': 'ZstdCompressor', 'compression_level': 4}
CREATE TABLE KS.snappy (a int PRIMARY KEY) WITH compression = {'class': 'org.apache.cassandra.io.compress.SnappyCompressor', 'min_compress_ratio': 2}
CREATE TABLE KS.none (a int PRIMARY KEY) WITH compression = {} AND caching = {}
CREATE TABLE KS."Quoted" ("P" int PRIMARY KEY, "V v" frozen<list<int>>)
CREATE TYPE KS.geo (lat double, lon double)
CREATE TYPE KS.place (city varchar, geo frozen<geo>, tags frozen<list<text>>, old list<int>, pair tuple<int, text>)
CREATE TABLE KS.udts (id int PRIMARY KEY, loose geo, tight frozen<place>, m map<text, frozen<place>>, t tuple<int, text, geo>, n frozen<map<text, list<int>>>, l list<frozen<geo>>, s set<frozen<set<int>>>)
ALTER TYPE KS.geo ADD alt double
ALTER TYPE KS.geo ADD IF NOT EXISTS alt double
ALTER TABLE KS.plain ADD (g int, h int)
ALTER TABLE KS.plain ADD z int static
ALTER TABLE KS.plain ADD u frozen<place>
ALTER TABLE KS.plain ADD v map<text, frozen<geo>>
ALTER TABLE KS.plain ADD e int
ALTER TABLE KS.plain ADD f set<text>
ALTER TABLE KS.plain DROP a
ALTER TABLE KS.plain DROP b
ALTER TABLE KS.plain DROP (g, h)
ALTER TABLE KS.plain DROP s
ALTER TABLE KS.plain DROP u
ALTER TABLE KS.plain DROP v
ALTER TABLE KS.plain DROP IF EXISTS nope
ALTER TABLE KS.plain ADD a varchar
ALTER TABLE KS.plain ADD IF NOT EXISTS a int
ALTER TABLE KS.plain RENAME p TO pp AND c TO cc
ALTER TABLE KS.plain WITH gc_grace_seconds = 5 AND comment = 'new'
ALTER TABLE KS.lcs WITH compaction = {'class': 'SizeTieredCompactionStrategy'}
ALTER TABLE KS.co WITH compaction = {'class': 'LeveledCompactionStrategy'}
ALTER TABLE KS.opts WITH speculative_retry = '9p' AND caching = {'keys': 'ALL', 'rows_per_partition': 'ALL'}
CREATE INDEX ON KS.plain (e)
CREATE INDEX ON KS.plain (d)
CREATE INDEX named ON KS.plain (f)
CREATE INDEX ON KS.pk (w) USING 'legacy_local_table'
CREATE INDEX sai1 ON KS.pk (v) USING 'sai'
CREATE INDEX ON KS.udts (keys(m))
CREATE INDEX ON KS.udts (entries(m))
CREATE INDEX ON KS.udts (full(n))
CREATE CUSTOM INDEX sai2 ON KS.lcs (v) USING 'StorageAttachedIndex'
CREATE INDEX ON KS."Quoted" (full("V v"))
CREATE INDEX gone ON KS.lcs2 (v)
DROP INDEX KS.gone
CREATE TABLE KS.gone (id int PRIMARY KEY, v int)
CREATE INDEX ON KS.gone (v)
DROP TABLE KS.gone
CREATE TYPE KS.gone (a int)
DROP TYPE KS.gone
DROP TABLE IF EXISTS KS.gone
CREATE TABLE IF NOT EXISTS KS.pk (id uuid PRIMARY KEY)
ALTER KEYSPACE KS WITH durable_writes = false
`), "\n")

// incomparable are the columns in which even two real clusters differ.
var incomparable = []string{"id", "dropped_time"}

func TestRowsOfDefinitions(t *testing.T) {
	b := newBoth(t)
	b.setUp(t, slices.DeleteFunc(slices.Clone(definitions), func(text string) bool { return cluster.Differs(b.version, t.Name(), text) })...)
	for _, table := range []string{"keyspaces", "tables", "columns", "types", "indexes", "views", "dropped_columns", "triggers"} {
		theirs := b.realRows(t, `SELECT * FROM system_schema.`+table+` WHERE keyspace_name = ?`, b.keyspace)
		ours := b.rows(table, b.keyspace)
		b.compareRows(t, table, ours, theirs)
	}
}

// TestSystemTables compares the tables of the system themselves. The in-process Cassandra has not all of them.
func TestSystemTables(t *testing.T) {
	b := &both{session: cluster.Session(t, ""), schema: catalog.New(), version: version(t)}
	for _, keyspace := range []string{"system", "system_schema"} {
		theirs := b.tables(t, b.realRows(t, `SELECT * FROM system_schema.columns WHERE keyspace_name = ?`, keyspace))
		ours := b.tables(t, b.rows("columns", keyspace))
		for name := range ours {
			b.compareRows(t, keyspace+"."+name, ours[name], theirs[name])
		}
		if len(ours) == 0 || keyspace == "system_schema" && len(ours) != len(theirs) {
			t.Errorf("%s: %d tables, Cassandra has %d", keyspace, len(ours), len(theirs))
		}
	}
}

// tables are the rows of columns that both sides have, by table.
func (b *both) tables(t *testing.T, columns []map[string][]byte) map[string][]map[string][]byte {
	t.Helper()
	tables := make(map[string][]map[string][]byte)
	for _, r := range columns {
		name := string(r["table_name"])
		if !cluster.Differs(b.version, t.Name(), name) && !cluster.Differs(b.version, t.Name(), name+"."+string(r["column_name"])) {
			tables[name] = append(tables[name], r)
		}
	}
	return tables
}

func (b *both) rows(table, keyspace string) []map[string][]byte {
	rows := b.schema.Rows(b.schema.Table("system_schema", table))
	return slices.DeleteFunc(rows, func(r map[string][]byte) bool { return string(r["keyspace_name"]) != keyspace })
}

func (b *both) realRows(t *testing.T, query string, values ...any) []map[string][]byte {
	t.Helper()
	iter := b.session.Query(query, values...).NoSkipMetadata().Iter()
	var rows []map[string][]byte
	for {
		into := make([]any, len(iter.Columns()))
		for i := range into {
			into[i] = &raw{}
		}
		if !iter.Scan(into...) {
			break
		}
		r := make(map[string][]byte)
		for i, c := range iter.Columns() {
			if b := into[i].(*raw).bytes; b != nil {
				r[c.Name] = b
			}
		}
		rows = append(rows, r)
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func (b *both) compareRows(t *testing.T, table string, ours, theirs []map[string][]byte) {
	t.Helper()
	if len(ours) != len(theirs) {
		t.Errorf("%s: %d rows, Cassandra has %d", table, len(ours), len(theirs))
	}
	for i := range min(len(ours), len(theirs)) {
		columns := slices.Sorted(maps.Keys(ours[i]))
		for name := range theirs[i] {
			if _, ok := ours[i][name]; !ok {
				columns = append(columns, name)
			}
		}
		for _, name := range columns {
			our, inOurs := ours[i][name]
			their, inReal := theirs[i][name]
			if (inOurs != inReal || !slices.Contains(incomparable, name) && !bytes.Equal(our, their)) && !cluster.Differs(b.version, t.Name(), name) {
				t.Errorf("%s, row %d (%s %s): %s is %q (%v), of Cassandra %q (%v)",
					table, i, theirs[i]["table_name"], theirs[i]["column_name"], name, our, inOurs, their, inReal)
			}
		}
	}
}
