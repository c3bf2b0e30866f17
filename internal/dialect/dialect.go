// Package dialect tells servers that speak the protocol of Apache Cassandra apart, by what they say of themselves.
// Nothing of this library was tested on these servers: docs/ref/servers.md has a table of what was tested, what is
// documented and what is unknown.
package dialect

// Server is a server that is not Apache Cassandra, by its name. The zero value is Apache Cassandra, or one that nothing
// is known of.
type Server string

// The servers that are recognized.
const (
	ScyllaDB  Server = "ScyllaDB"
	DSE       Server = "DataStax Enterprise"
	Astra     Server = "DataStax Astra DB"
	Keyspaces Server = "Amazon Keyspaces"
	CosmosDB  Server = "Azure Cosmos DB for Apache Cassandra"
)

// clusters are the servers all of whose clusters have one name, as cluster_name of system.local. cqlsh prints it after
// "Connected to".
var clusters = map[string]Server{
	// https://docs.aws.amazon.com/keyspaces/latest/devguide/programmatic.cqlsh.html shows cqlsh.
	"Amazon Keyspaces": Keyspaces,
	// https://github.com/synedra/astra_go_sdk_examples/blob/2661938deab0a3d2f80697597d4a5eece03b13c3/README.md
	"cndb": Astra,
	// No documentation says so, but this is what cqlsh has printed for a user:
	// https://github.com/cjoakim/azure-cosmosdb/blob/6586a8bbac07df92d4f0f35dd6658a982be26d72/code/python/apps/cassandra/readme.md
	"CosmosProd": CosmosDB,
}

// Of recognizes a server by its row of system.local, and gives the zero value where nothing in it tells. The names of
// clusters come first, as Astra DB may have a dse_version, too.
func Of(local map[string]any) Server {
	name, _ := local["cluster_name"].(string)
	if server, ok := clusters[name]; ok {
		return server
	}
	// ScyllaDB declares the column in db/system_keyspace.cc (https://github.com/scylladb/scylladb), Apache Cassandra does
	// not have it.
	if _, ok := local["supported_features"]; ok {
		return ScyllaDB
	}
	// https://gist.github.com/lenards/cbbe8abc3822fe78a1b2 shows both servers; gocql reads it as HostInfo.DSEVersion.
	if version, _ := local["dse_version"].(string); version != "" {
		return DSE
	}
	return ""
}
