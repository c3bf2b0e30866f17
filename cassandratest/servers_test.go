package cassandratest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

var (
	keyspaces = map[string]string{"cluster_name": "Amazon Keyspaces", "release_version": "3.11.2"}
	scylla    = map[string]string{"cluster_name": "mall", "supported_features": "AGGREGATE_STORAGE_OPTIONS,CDC"}
	astra     = map[string]string{"cluster_name": "cndb", "dse_version": "6.8.0"}
	dse       = map[string]string{"cluster_name": "mall", "dse_version": "6.8.0"}
	cosmos    = map[string]string{"cluster_name": "CosmosProd"}
)

type visit struct {
	Page string
	Hits int64
}

func visits() tables.Described {
	return tables.Must(tables.New[visit]("visit", tables.Type("hits", "counter"),
		tables.Table{Name: "visits", Keyspace: "mall", PartKey: []string{"page"}}))
}

// ordered is within with a table whose rows share the partitions of the base table.
func ordered() tables.Described {
	return reviews(tables.OneOf("status", "open", "done"), tables.Stamp("updated_at"), tables.Table{
		Name: "reviews_in_order", Keyspace: "mall", PartKey: []string{"review_id"}, SortKey: []string{"status"},
	})
}

// together has two tables, whose rows share a partition and stay in it.
func together() tables.Described {
	return tables.Must(tables.New[review]("review",
		tables.Table{Name: "reviews", Keyspace: "mall", PartKey: []string{"review_id"}},
		tables.Table{Name: "reviews_in_order", Keyspace: "mall", PartKey: []string{"review_id"}, SortKey: []string{"written"}},
		tables.Type("version", "timeuuid")))
}

// Differences says what the documentation of the server contradicts of what a set relies on, and Validate rejects
// nothing for it.
func TestServers(t *testing.T) {
	t.Parallel()
	const untested = ": nothing of this library was tested on it"
	for name, test := range map[string]struct {
		local map[string]string
		set   tables.Described
		alter []string
		want  []string // table: part of the reason
	}{
		"Apache Cassandra": {set: within("open", "done")},
		"Apache Cassandra with a name, and a column that is empty": {
			local: map[string]string{"cluster_name": "Amazon Keyspaces of ours", "dse_version": ""}, set: ordered(),
		},
		"DataStax Enterprise": {local: dse, set: ordered(), want: []string{"reviews: DataStax Enterprise" + untested}},
		"Astra DB":            {local: astra, set: ordered(), want: []string{"reviews: DataStax Astra DB" + untested}},
		"ScyllaDB": {
			local: scylla, set: within("open", "done"), want: []string{"reviews: ScyllaDB" + untested},
		},
		"ScyllaDB, several tables with one partition key": {
			local: scylla, set: ordered(), want: []string{"reviews: ScyllaDB" + untested, "reviews: rows of several tables are several mutations"},
		},
		"ScyllaDB, conditions": {
			local: scylla, set: reviews(tables.Versioned("version")),
			want: []string{"reviews: ScyllaDB" + untested, "reviews: no lightweight transactions in keyspaces with tablets"},
		},
		"ScyllaDB, counters": {
			local: scylla, set: visits(), want: []string{"visits: ScyllaDB" + untested, "visits: no counters in keyspaces with tablets"},
		},
		"Amazon Keyspaces": {
			local: keyspaces, set: within("open", "done"), want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: a logged batch and another write", "reviews: client-side timestamps",
				"reviews_by_status: client-side timestamps",
			},
		},
		"Amazon Keyspaces, rows of one partition": {
			local: keyspaces, set: ordered(), want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: of an unlogged batch some statements", "reviews: a logged batch and another write",
				"reviews: client-side timestamps", "reviews_by_status: client-side timestamps", "reviews_in_order: client-side timestamps",
			},
		},
		"Amazon Keyspaces, a row that moves within its partition": {
			local: keyspaces, set: reviews(tables.OneOf("status", "open", "done"), tables.Stamp("updated_at"), tables.Table{
				Name: "reviews_by_email", Keyspace: "mall", PartKey: []string{"email"}, SortKey: []string{"status", "review_id"},
			}),
			want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: of an unlogged batch some statements", "reviews: a logged batch and another write",
				"reviews: client-side timestamps", "reviews_by_status: client-side timestamps", "reviews_by_email: client-side timestamps",
			},
		},
		"Amazon Keyspaces, one partition": {
			local: keyspaces, set: together(), want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: of an unlogged batch some statements", "reviews: client-side timestamps",
				"reviews_in_order: client-side timestamps",
			},
		},
		"Amazon Keyspaces, conditions and unique keys": {
			local: keyspaces, set: signups(true, tables.Versioned("version")),
			want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: reads at SERIAL and LOCAL_SERIAL",
				"reviews: client-side timestamps", "reviews: USING TTL", "reviews_by_status: client-side timestamps",
			},
		},
		"Amazon Keyspaces, one row under a condition": {
			local: keyspaces, set: slotsWith(tables.Compare("holder")),
			want: []string{"slots: Amazon Keyspaces" + untested, "slots: reads at SERIAL and LOCAL_SERIAL"},
		},
		"Amazon Keyspaces, rows that expire, by default as well": {
			local: keyspaces, set: reviews(tables.ExpiresAt("ends")), alter: []string{
				"ALTER TABLE mall.reviews WITH default_time_to_live = 60", "ALTER TABLE mall.reviews_by_status WITH default_time_to_live = 60",
			},
			want: []string{
				"reviews: Amazon Keyspaces" + untested, "reviews: a logged batch and another write", "reviews: client-side timestamps",
				"reviews_by_status: client-side timestamps",
			},
		},
		"Azure Cosmos DB": {
			local: cosmos, set: within("open", "done"), alter: []string{
				"ALTER TABLE mall.reviews WITH gc_grace_seconds = 0", "ALTER TABLE mall.reviews_by_status WITH gc_grace_seconds = 0",
			},
			want: []string{
				"reviews: Azure Cosmos DB for Apache Cassandra" + untested, "reviews: the level of a write is that of the account",
				"reviews: options of a table are ignored", "reviews: there are no logged batches", "reviews: count for a row as a whole", "reviews_by_status: count for a row as a whole",
			},
		},
		"Azure Cosmos DB, conditions": {
			local: cosmos, set: slotsWith(tables.Compare("holder")), want: []string{
				"slots: Azure Cosmos DB for Apache Cassandra" + untested, "slots: the level of a write is that of the account",
				"slots: options of a table are ignored", "slots: no lightweight transactions in accounts that write in several regions",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				on := startOn(t, c, test.local, test.set, test.alter)
				found, err := schema.Differences(t.Context(), on, schema.Sets(test.set))
				if err != nil {
					t.Fatal(err)
				}
				found = slices.DeleteFunc(found, func(d schema.Difference) bool { return d.Server == "" })
				for i, d := range found {
					if i >= len(test.want) || !d.Note || d.Keyspace != "mall" || !strings.HasPrefix(d.Reason, "the server is "+d.Server+": ") ||
						!contains(d.Table+": "+strings.TrimPrefix(d.Reason, "the server is "), test.want[i]) || (d.Fix == "") == (d.Impossible == "") {
						t.Errorf("note %d: %v", i, d)
					}
				}
				if len(found) != len(test.want) {
					t.Errorf("%d notes, want %d", len(found), len(test.want))
				}
				if err := schema.Validate(t.Context(), on, schema.Sets(test.set)); err != nil {
					t.Errorf("Validate: %v", err)
				}
			})
		})
	}
}

// contains says whether a text begins with the table of want, and contains the rest of it.
func contains(text, want string) bool {
	table, part, _ := strings.Cut(want, ": ")
	return strings.HasPrefix(text, table+": ") && strings.Contains(text, part)
}

// startOn starts a process on a cluster that says of itself what another server would.
func startOn(t *testing.T, c *cassandratest.Cluster, local map[string]string, set tables.Described, alter []string) *session.Session {
	t.Helper()
	c.Pretend(local)
	c.Create(append(mallOf(set).Statements(), alter...)...)
	return startProcess(t, c).session
}

// A note has the statement that turns an option on, and the address of what it says.
func TestServerOption(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := reviews(tables.ExpiresAt("ends"))
		on := startOn(t, c, keyspaces, set, nil)
		found, err := schema.Differences(t.Context(), on, schema.Sets(set))
		if err != nil {
			t.Fatal(err)
		}
		var fixes []string
		for _, d := range found {
			if d.Fix != "" {
				fixes = append(fixes, d.Fix)
			}
			if len(fixes) == 1 && d.Fix != "" {
				const want = "mall.reviews: the server is Amazon Keyspaces: writes of the table carry USING TIMESTAMP, which takes client-side timestamps " +
					"to be turned on for it; whether they are is not checked (https://docs.aws.amazon.com/keyspaces/latest/devguide/functional-differences.html)" +
					"\n\t\tfix: ALTER TABLE mall.reviews WITH custom_properties = {'client_side_timestamps': {'status': 'enabled'}};"
				if d.String() != want {
					t.Errorf("%s\nwant\n%s", d, want)
				}
			}
		}
		want := []string{
			"ALTER TABLE mall.reviews WITH custom_properties = {'client_side_timestamps': {'status': 'enabled'}}",
			"ALTER TABLE mall.reviews WITH custom_properties = {'ttl': {'status': 'enabled'}}",
			"ALTER TABLE mall.reviews_by_status WITH custom_properties = {'client_side_timestamps': {'status': 'enabled'}}",
			"ALTER TABLE mall.reviews_by_status WITH custom_properties = {'ttl': {'status': 'enabled'}}",
		}
		if !slices.Equal(fixes, want) {
			t.Errorf("got %q\nwant %q", fixes, want)
		}
	})
}

// The only gc_grace_seconds that a server has is not advised to be changed.
func TestServerWithoutGrace(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := within("open", "done")
		on := startOn(t, c, cosmos, set, []string{"ALTER TABLE mall.reviews WITH gc_grace_seconds = 0"})
		found, err := schema.Differences(t.Context(), on, schema.Sets(set))
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(d schema.Difference) bool { return !strings.Contains(d.Reason, "gc_grace") })
		if len(found) != 1 || !found[0].Note || found[0].Fix != "" || !strings.Contains(found[0].String(), "takes no other value") ||
			!strings.Contains(found[0].String(), "Concurrent") {
			t.Errorf("%v", found)
		}
	})
}

// What is missing in the schema tables of another server is an error that names the server.
func TestServerThatLacksASchemaTable(t *testing.T) {
	t.Parallel()
	for server, local := range map[string]map[string]string{"Amazon Keyspaces": keyspaces, "": nil} {
		cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
			set := within("open", "done")
			on := startOn(t, c, local, set, nil)
			c.When(cassandratest.Table("system_schema.views")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
			err := schema.Validate(t.Context(), on, schema.Sets(set))
			if err == nil || !strings.HasPrefix(err.Error(), "schema: ") || strings.Contains(err.Error(), "docs/ref/servers.md") != (server != "") ||
				!strings.Contains(err.Error(), server) {
				t.Errorf("%q: %v", server, err)
			}
		})
	}
}

// A server that does not say what it is is not taken for Apache Cassandra.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := within("open", "done")
		on := startOn(t, c, nil, set, nil)
		c.When(cassandratest.Table("system.local")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		if err := schema.Validate(t.Context(), on, schema.Sets(set)); err == nil || !strings.HasPrefix(err.Error(), "schema: ") {
			t.Errorf("%v", err)
		}
	})
}
