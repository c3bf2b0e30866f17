package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/schema"
)

// Options as schemas of Jaeger, Cadence and KillrVideo, and DESCRIBE of Cassandra 3.11, have them, and as Cassandra 4
// and 5 give them back.
func TestOptionsThatTheServerSpellsOtherwise(t *testing.T) {
	t.Parallel()
	for declared, live := range map[string]string{
		"speculative_retry = '99PERCENTILE'":             "speculative_retry = '99p'",
		"speculative_retry = '99.0percentile'":           "gc_grace_seconds = 864000",
		"speculative_retry = 'NONE'":                     "speculative_retry = 'NEVER'",
		"speculative_retry = 'always'":                   "speculative_retry = 'ALWAYS'",
		"speculative_retry = '10.0ms'":                   "speculative_retry = '10ms'",
		"speculative_retry = 'min(50ms, 99PERCENTILE)'":  "speculative_retry = 'MIN(99p,50ms)'",
		"additional_write_policy = 'MAX(99.95P,60.7MS)'": "additional_write_policy = 'MAX(99.95p,60ms)'",
		"read_repair = 'none'":                           "read_repair = 'NONE'",
		"default_time_to_live = '3600'":                  "default_time_to_live = 3600",
		"bloom_filter_fp_chance = '0.10'":                "bloom_filter_fp_chance = 0.1",
		"cdc = 'TRUE'":                                   "cdc = true",
	} {
		const table = "CREATE TABLE k.t (id uuid PRIMARY KEY) WITH "
		if found := schema.Compare(parse(t, table+declared), parse(t, table+live)); len(found) > 0 {
			t.Errorf("%s, live %s: %v", declared, live, found)
		}
	}
	s := parse(t, "CREATE TABLE k.t (id uuid PRIMARY KEY) WITH default_time_to_live = '3600' AND comment = '7'")
	if ttl := s.Tables[0].TTL(); ttl != time.Hour {
		t.Errorf("TTL is %v", ttl)
	}
	if text := s.CQL(); !strings.Contains(text, "comment = '7'") {
		t.Error(text)
	}
}

// Without its package, Cassandra looks for a class of someone else among its own, and does not find it. What turned
// compression off in the texts of old turns it off.
func TestClassesOfOthersKeepTheirPackage(t *testing.T) {
	t.Parallel()
	s := parse(t, `CREATE KEYSPACE k WITH replication = {'class': 'com.example.Everywhere'};
CREATE TABLE k.a (id uuid PRIMARY KEY) WITH compaction = {'class': 'com.jeffjirsa.cassandra.db.compaction.TimeWindowCompactionStrategy'}
    AND compression = {'class': 'com.example.Packer'};
CREATE TABLE k.b (id uuid PRIMARY KEY) WITH compression = {'sstable_compression': ''}
    AND compaction = {'class': 'org.apache.cassandra.db.compaction.LeveledCompactionStrategy'};`)
	text := s.CQL()
	for _, want := range []string{
		"'com.example.Everywhere'", "'com.jeffjirsa.cassandra.db.compaction.TimeWindowCompactionStrategy'", "'com.example.Packer'",
		"compression = {'enabled': 'false'}", "{'class': 'LeveledCompactionStrategy'}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if class := s.Tables[0].Compaction(); class != "TimeWindowCompactionStrategy" {
		t.Errorf("compaction %s", class)
	}
}
