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

// ordered is within with a table whose rows share the partitions of the base table.
func ordered() tables.Described {
	return reviews(tables.OneOf("status", "open", "done"), tables.Stamp("updated_at"), tables.Table{
		Name: "reviews_in_order", Keyspace: "mall", PartKey: []string{"review_id"}, SortKey: []string{"status"},
	})
}

// Differences says that the server is another one, and Validate rejects nothing for it.
func TestServers(t *testing.T) {
	t.Parallel()
	noGrace := []string{"ALTER TABLE mall.reviews WITH gc_grace_seconds = 0", "ALTER TABLE mall.reviews_by_status WITH gc_grace_seconds = 0"}
	for name, test := range map[string]struct {
		local map[string]string
		alter []string
		want  string
	}{
		"Apache Cassandra": {},
		"Apache Cassandra with a name, and a column that is empty": {
			local: map[string]string{"cluster_name": "Amazon Keyspaces of ours", "dse_version": ""},
		},
		"DataStax Enterprise": {local: dse, want: "DataStax Enterprise"},
		"Astra DB":            {local: astra, want: "DataStax Astra DB"},
		"ScyllaDB":            {local: scylla, want: "ScyllaDB"},
		"Amazon Keyspaces":    {local: keyspaces, want: "Amazon Keyspaces"},
		"Azure Cosmos DB":     {local: cosmos, alter: noGrace, want: "Azure Cosmos DB for Apache Cassandra"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				set := ordered()
				on := startOn(t, c, test.local, set, test.alter)
				found, err := schema.Differences(t.Context(), on, schema.Sets(set))
				if err != nil {
					t.Fatal(err)
				}
				found = slices.DeleteFunc(found, func(d schema.Difference) bool { return d.Server == "" })
				var want []schema.Difference
				if test.want != "" {
					want = []schema.Difference{{
						Keyspace: "mall", Table: "reviews", Server: test.want, Note: true,
						Reason:     "the server is " + test.want + ": nothing of this library was tested on it",
						Impossible: "test what you rely on, see docs/ref/servers.md",
					}}
				}
				if !slices.Equal(found, want) {
					t.Errorf("got %v, want %v", found, want)
				}
				if err := schema.Validate(t.Context(), on, schema.Sets(set)); err != nil {
					t.Errorf("Validate: %v", err)
				}
			})
		})
	}
}

// startOn starts a process on a cluster that says of itself what another server would.
func startOn(t *testing.T, c *cassandratest.Cluster, local map[string]string, set tables.Described, alter []string) *session.Session {
	t.Helper()
	c.Pretend(local)
	c.Create(append(mallOf(set).Statements(), alter...)...)
	return startProcess(t, c).session
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
