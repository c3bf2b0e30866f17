package cluster

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// difference is what a version does in another way than Cassandra 5.0, on which the tests and the in-process Cassandra
// are modelled.
type difference struct {
	version string // how its name begins
	test    string // or package
	why     string
	about   []string // what it compares; nil is all of it, and it is skipped
}

// comparisons is how many are left out.
func (d difference) comparisons() string {
	if d.about == nil {
		return "all"
	}
	return strconv.Itoa(len(d.about))
}

// differences are all that tests leave out, or expect to be otherwise, by the version of the nodes.
var differences = []difference{
	{"4.1", "TestLiterals", "the error about a literal or bytes of another type has other words", []string{
		"int [1]", "set<int> [1]", "map<text, int> [1]", "frozen<map<text, int>> #0000000100000001",
		"frozen<list<tuple<int, text>>> [[1, 2]]", "frozen<geo> [1]",
	}},
	{"4.1", "TestRefusals", "the error about a name, or a column that was dropped, has other words", []string{
		"ALTER TABLE KS.wide ADD gone list<int>", "ALTER TABLE KS.wide ADD listed list<text>", "ALTER TABLE KS.wide ADD listed set<int>",
		`CREATE TABLE KS."bad-name" (a int PRIMARY KEY)`,
		`CREATE KEYSPACE "bad-name" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
		"CREATE KEYSPACE thisnameisfartoolongforacassandratableitselfthatis " +
			"WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	}},
	{"4.1", "TestRowsOfDefinitions", "it has no UnifiedCompactionStrategy, no index of type sai, no USING without CUSTOM and no table option " +
		"allow_auto_snapshot", []string{
		"CREATE TABLE KS.ucs (id uuid PRIMARY KEY, v int) WITH compaction = {'class': 'UnifiedCompactionStrategy', " +
			"'scaling_parameters': 'T4'} AND speculative_retry = 'ALWAYS'",
		"CREATE TABLE KS.backups (a int PRIMARY KEY) WITH allow_auto_snapshot = false AND incremental_backups = false AND memtable = 'default'",
		"CREATE INDEX ON KS.pk (w) USING 'legacy_local_table'",
		"CREATE INDEX sai1 ON KS.pk (v) USING 'sai'", "CREATE CUSTOM INDEX sai2 ON KS.lcs (v) USING 'StorageAttachedIndex'",
		"allow_auto_snapshot", "incremental_backups",
	}},
	{"4.1", "TestSystemTables", "it has no masks of columns and none of these options of tables and views", []string{
		"column_masks", "tables.allow_auto_snapshot", "tables.incremental_backups", "views.allow_auto_snapshot", "views.incremental_backups",
	}},
	{"4.1", "TestTablesThatRefuseForGood", "it has no index of type sai", []string{"sai"}},
	{"4.1", "TestVersionedIsNotAheadOfTheClock", "it has no guardrail of timestamps", []string{"maximum_timestamp_fail_threshold"}},
	{"4.1", "TestGuardrailsAreNamed", "it has no guardrail of timestamps", []string{"minimum_timestamp_fail_threshold"}},
	{"4.1", "TestDifferential", "it has no MAXWRITETIME", []string{"MAXWRITETIME"}},
	{"4.1", "TestGenerated", "it has no vectors, no UnifiedCompactionStrategy and no index of type sai", []string{
		"vector<", "UnifiedCompactionStrategy", "'sai'",
	}},
	{"6", "suite/catalog", "it has other columns in its own tables, and other rules and error texts for literals", nil},
	{"6", "TestDifferential", "it takes other collections as blobs, and other conditions on maps and sets", nil},
	{"6", "TestPlainTextShowsThePassword", "it has one port for clients, with TLS or without", []string{"native_transport_port_ssl"}},
	{"6", "TestRefusals", "it has one port for clients, so a node with TLS has none without", []string{"TLS to the plain text port"}},
}

// Version returns the version of the cluster that the tests run on.
func Version(tb testing.TB) string {
	tb.Helper()
	var version string
	err := Session(tb, "").Query(`SELECT release_version FROM system.local`).WithContext(tb.Context()).Scan(&version)
	must(tb, err, "version of the nodes")
	return version
}

// Differs says whether a version is known to do otherwise in what a test compares. The test then expects a difference,
// or leaves the comparison out where the version has nothing to compare.
func Differs(version, test, about string) bool {
	return slices.ContainsFunc(differences, func(d difference) bool {
		return strings.HasPrefix(version, d.version) && d.test == test && (d.about == nil || slices.Contains(d.about, about))
	})
}

// sayDifferences says in one place what tests leave out, or expect to be otherwise, on a version.
func (h *Harness) sayDifferences(version string) {
	for _, d := range differences {
		if strings.HasPrefix(version, d.version) {
			h.log.say("Cassandra %s, %s, %s comparisons left out or with a difference: %s", version, d.test, d.comparisons(), d.why)
		}
	}
}
