package catalog_test

import (
	"strings"
	"testing"
)

// refusedAlike are rejected by both sides with the same code and text.
var refusedAlike = strings.Split(strings.TrimSpace(`
CREATE TABLE KS.pk (id uuid PRIMARY KEY, v int)
CREATE TYPE KS.geo (lat double)
CREATE KEYSPACE KS WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}
CREATE TABLE KS.no (a int, b int)
CREATE TABLE KS.no (a nope PRIMARY KEY)
CREATE TABLE KS.no (a int PRIMARY KEY, b nope)
CREATE TABLE KS.no (a int PRIMARY KEY, b list<frozen<nope>>)
CREATE TABLE KS.no (a int PRIMARY KEY, b frozen<other_ks.geo>)
CREATE TABLE KS.no (a int PRIMARY KEY, b list<list<int>>)
CREATE TABLE KS.no (a int PRIMARY KEY, b map<int, set<int>>)
CREATE TABLE KS.no (a int PRIMARY KEY, b map<frozen<list<int>>, list<int>>)
CREATE TABLE KS.no (a int PRIMARY KEY, b set<geo>)
CREATE TABLE KS.no (a int PRIMARY KEY, b nested)
CREATE TABLE KS.no (a int PRIMARY KEY, b counter, c int)
CREATE TABLE KS.no (a counter PRIMARY KEY, b counter)
CREATE TABLE KS.no (a int PRIMARY KEY, a text)
CREATE TABLE nope_ks.no (a int PRIMARY KEY)
CREATE TABLE KS.no (a list<int> PRIMARY KEY)
CREATE TABLE KS.no (a int, b geo, PRIMARY KEY (a, b))
CREATE TABLE KS.no (a duration PRIMARY KEY)
CREATE TABLE KS.no (a int, b frozen<list<duration>>, PRIMARY KEY (a, b))
CREATE TABLE KS.no (a int PRIMARY KEY, b set<duration>)
CREATE TABLE KS.no (a int PRIMARY KEY, b map<duration, int>)
CREATE TABLE KS.no (a int PRIMARY KEY, b list<counter>)
CREATE TABLE KS.no (a int PRIMARY KEY, b tuple<counter>)
CREATE TABLE KS.no (a int PRIMARY KEY, b int static)
CREATE TABLE KS.no (a int, b int static, c int, PRIMARY KEY (a, b))
CREATE TABLE KS.no (a int, b int, PRIMARY KEY (a, x))
CREATE TABLE KS.no (a int, b int, PRIMARY KEY (a, a))
CREATE TABLE KS.no (a int, b int, c int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (c DESC)
CREATE TABLE KS.no (a int, b int, c int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (x DESC)
CREATE TABLE KS.no (a int, b int, c int, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (c DESC)
CREATE TABLE KS.no (a int, b int, c int, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (c DESC, b DESC)
CREATE TABLE KS.no (a int, b int, PRIMARY KEY (a)) WITH CLUSTERING ORDER BY (b DESC)
CREATE TABLE KS.no (a int PRIMARY KEY) WITH nope = 1
CREATE TABLE KS.no (a int PRIMARY KEY) WITH gc_grace_seconds = 'abc'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH gc_grace_seconds = -1
CREATE TABLE KS.no (a int PRIMARY KEY) WITH gc_grace_seconds = 1.5
CREATE TABLE KS.no (a int PRIMARY KEY) WITH gc_grace_seconds = {'a': 1}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH default_time_to_live = -1
CREATE TABLE KS.no (a int PRIMARY KEY) WITH default_time_to_live = 630720001
CREATE TABLE KS.no (a int PRIMARY KEY) WITH bloom_filter_fp_chance = 2
CREATE TABLE KS.no (a int PRIMARY KEY) WITH bloom_filter_fp_chance = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH crc_check_chance = 2
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compaction = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compaction = {'class': 'Nope'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compaction = {'min_threshold': '4'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'nope': '4'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compression = {'class': 'Nope'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compression = {'class': 'LZ4Compressor', 'nope': 1}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compression = {'chunk_length_in_kb': 3, 'class': 'LZ4Compressor'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH compression = {'chunk_length_in_kb': 4}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH caching = {'keys': 'SOME'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH caching = {'nope': 'SOME'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH caching = {'rows_per_partition': 'x'}
CREATE TABLE KS.no (a int PRIMARY KEY) WITH speculative_retry = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH speculative_retry = '101p'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH read_repair = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH min_index_interval = 0
CREATE TABLE KS.no (a int PRIMARY KEY) WITH max_index_interval = 1
CREATE TABLE KS.no (a int PRIMARY KEY) WITH cdc = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH memtable = 'nope'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH memtable_flush_period_in_ms = -1
CREATE TABLE KS.no (a int PRIMARY KEY) WITH additional_write_policy = 'x'
CREATE TABLE KS.no (a int PRIMARY KEY) WITH dclocal_read_repair_chance = 0.1
CREATE TABLE KS.no (a int PRIMARY KEY, c counter) WITH default_time_to_live = 10
CREATE TABLE KS."bad-name" (a int PRIMARY KEY)
CREATE TYPE KS.no (a int, a int)
CREATE TYPE KS.no (a counter)
CREATE TYPE KS.no (a nope)
CREATE TYPE KS.no (a frozen<nope>)
CREATE TYPE KS.no (a list<geo>)
CREATE TYPE nope_ks.no (a int)
ALTER TYPE KS.nope ADD a int
ALTER TYPE KS.geo ADD lon int
ALTER TYPE KS.geo ADD z nope
ALTER TYPE KS.geo ADD z frozen<place>
ALTER TYPE KS.geo ADD z frozen<list<frozen<geo>>>
ALTER TYPE nope_ks.nope ADD a int
ALTER TYPE KS.area ADD z int
ALTER TYPE KS.point ADD z int
DROP TYPE KS.geo
DROP TYPE KS.place
DROP TYPE KS.nope
DROP TYPE nope_ks.nope
ALTER TABLE KS.nope ADD a int
ALTER TABLE nope_ks.nope ADD a int
ALTER TABLE KS.pk ADD v int
ALTER TABLE KS.pk ADD x nope
ALTER TABLE KS.pk ADD x counter
ALTER TABLE KS.cnt ADD x int
ALTER TABLE KS.pk ADD x int static
ALTER TABLE KS.pk ADD x list<list<int>>
ALTER TABLE KS.pk DROP nope
ALTER TABLE KS.pk DROP id
ALTER TABLE KS.pk DROP v
ALTER TABLE KS.wide DROP c
ALTER TABLE KS.wide DROP g
ALTER TABLE KS.wide ADD gone list<int>
ALTER TABLE KS.wide ADD gone int static
ALTER TABLE KS.wide ADD listed list<text>
ALTER TABLE KS.wide ADD listed set<int>
ALTER TABLE KS.cnt ADD old counter
ALTER TABLE KS.wide RENAME a TO b
ALTER TABLE KS.wide RENAME nope TO b
ALTER TABLE KS.wide RENAME p TO c
ALTER TABLE KS.wide WITH nope = 1
ALTER TABLE KS.wide WITH gc_grace_seconds = 'x'
ALTER TABLE KS.wide WITH default_time_to_live = -5
ALTER TABLE KS.cnt WITH default_time_to_live = 5
ALTER TABLE KS.wide WITH id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18
CREATE KEYSPACE KS_a WITH replication = {'class': 'Nope'}
CREATE KEYSPACE KS_a WITH replication = {'replication_factor': 1}
CREATE KEYSPACE KS_a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 'x'}
CREATE KEYSPACE KS_a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': -1}
CREATE KEYSPACE KS_a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1, 'dc1': 3}
CREATE KEYSPACE KS_a WITH replication = {'class': 'NetworkTopologyStrategy', 'nope': 1}
CREATE KEYSPACE KS_a WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 'x'}
CREATE KEYSPACE KS_a WITH replication = {'class': 'LocalStrategy'}
CREATE KEYSPACE KS_a WITH durable_writes = true
CREATE KEYSPACE KS_a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND nope = 1
CREATE KEYSPACE "bad-name" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}
CREATE KEYSPACE system WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}
CREATE KEYSPACE thisnameisfartoolongforacassandratableitselfthatis WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}
ALTER KEYSPACE nope_ks WITH durable_writes = true
ALTER KEYSPACE system WITH durable_writes = true
DROP KEYSPACE nope_ks
DROP KEYSPACE system
DROP TABLE KS.nope
DROP TABLE nope_ks.nope
DROP TABLE system.local
CREATE TABLE system.x (a int PRIMARY KEY)
ALTER TABLE system.local ADD x int
DROP INDEX KS.nope
DROP MATERIALIZED VIEW KS.nope
CREATE INDEX named ON KS.wide (a)
CREATE INDEX ON KS.wide (b)
CREATE INDEX ON KS.wide (nope)
CREATE INDEX ON KS.nope (a)
CREATE INDEX ON KS.pk (id)
CREATE INDEX ON KS.wide (keys(b))
CREATE INDEX ON KS.cnt (n)
CREATE INDEX ON KS.wide (full(b))
CREATE INDEX ON KS.colls (f)
CREATE INDEX ON KS.colls (values(f))
CREATE INDEX ON KS.colls (full(l))
CREATE INDEX ON KS.colls (keys(l))
CREATE INDEX ON KS.colls (entries(l))
`), "\n")

// refusedOtherwise are rejected by both sides with the same code.
var refusedOtherwise = strings.Split(strings.TrimSpace(`
CREATE TABLE KS.no (a int PRIMARY KEY, b int PRIMARY KEY)
CREATE TABLE KS.no (a int PRIMARY KEY, b frozen<int>)
CREATE TABLE KS.no (a int PRIMARY KEY, b list<int, int>)
CREATE TABLE KS.no (a int PRIMARY KEY) WITH comment = 'a' AND comment = 'b'
CREATE TABLE KS."" (a int PRIMARY KEY)
CREATE TYPE KS.int (a int)
CREATE TYPE KS.no ()
ALTER TYPE KS.geo ALTER lon TYPE int
ALTER TABLE KS.wide ALTER b TYPE blob
ALTER TABLE KS.pk ADD x int, y int
`), "\n")

func TestRefusals(t *testing.T) {
	b := newBoth(t)
	b.setUp(
		t,
		"CREATE TYPE KS.geo (lat double, lon double)", "CREATE TYPE KS.place (at frozen<geo>)", "CREATE TYPE KS.nested (l list<int>)",
		"CREATE TYPE KS.point (x int)", "CREATE TYPE KS.area (corners frozen<list<frozen<point>>>)",
		"CREATE TABLE KS.areas (a frozen<area>, b int, PRIMARY KEY (a))", "CREATE TABLE KS.lines (b int, a frozen<list<frozen<area>>>, PRIMARY KEY ((b, a)))",
		"CREATE TABLE KS.pk (id uuid PRIMARY KEY, v int, p frozen<place>)", "CREATE INDEX on_v ON KS.pk (v)",
		"CREATE TABLE KS.cnt (id uuid, c int, n counter, old counter, PRIMARY KEY (id, c))", "ALTER TABLE KS.cnt DROP old",
		"CREATE TABLE KS.wide (p int, q int, c int, a int, b text, g geo, gone int, listed list<int>, stamped bigint, "+
			"PRIMARY KEY ((p, q), c))",
		"ALTER TABLE KS.wide DROP (gone, listed, stamped)", "CREATE INDEX named ON KS.wide (b)",
		"CREATE TABLE KS.colls (p int PRIMARY KEY, f frozen<list<int>>, l list<int>)", "ALTER TABLE KS.wide ADD stamped timestamp",
	)
	for _, text := range refusedAlike {
		code, message := b.refusal(text)
		realCode, realMessage := b.realRefusal(t, text)
		b.alike(t, code == realCode && message == realMessage && message != "", text,
			"\n\t%x %s\nof Cassandra\n\t%x %s", code, message, realCode, realMessage)
	}
	for _, text := range refusedOtherwise {
		code, message := b.refusal(text)
		realCode, realMessage := b.realRefusal(t, text)
		b.alike(t, code == realCode && message != "", text, "\n\t%x %s\nof Cassandra\n\t%x %s", code, message, realCode, realMessage)
	}
}
