// Package dialect tells servers that speak the protocol of Apache Cassandra apart, by what they say of themselves, and
// knows where their documentation contradicts what this library relies on. Nothing of it was tested on these servers:
// docs/ref/servers.md has a table of what was tested, what is documented and what is unknown.
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

// Use is something that a declaration relies on.
type Use uint8

// The uses.
const (
	Timestamps Use = iota // of two values of a column that of the larger USING TIMESTAMP stays
	Expiry                // USING TTL
	// Partition: rows of one table and partition key in an unlogged batch are written all or not at all.
	Partition
	Tables     // and rows of several tables
	Logged     // logged batches
	Conditions // lightweight transactions, also in unlogged batches, and reads at SERIAL or LOCAL_SERIAL
	Counters
	Comments // a table keeps its comment
	Level    // a write is acknowledged at the level it asks for
)

// Doubt is what the documentation of a server says against a use.
type Doubt struct {
	Reason string // with the address of the documentation
	Option string // of a table, as in ALTER TABLE t WITH, that makes it work; empty if there is none
	Do     string // what to do where there is no option
}

// Statement is that which gives a table of this name the option, empty if there is none.
func (d Doubt) Statement(table string) string {
	if d.Option == "" {
		return ""
	}
	return "ALTER TABLE " + table + " WITH " + d.Option
}

const (
	aws       = "https://docs.aws.amazon.com/keyspaces/latest/devguide/"
	microsoft = "https://learn.microsoft.com/en-us/azure/cosmos-db/cassandra/"
)

var doubts = map[Server]map[Use]Doubt{
	Keyspaces: {
		Timestamps: {
			Reason: "writes of the table carry USING TIMESTAMP, which takes client-side timestamps to be turned on for it; " +
				"whether they are is not " +
				"checked (" + aws + "functional-differences.html)",
			Option: "custom_properties = {'client_side_timestamps': {'status': 'enabled'}}",
		},
		Expiry: {
			Reason: "writes of the table carry USING TTL, which takes TTL to be turned on for it; whether it is is not checked (" + aws +
				"TTL-how-it-works.html)",
			Option: "custom_properties = {'ttl': {'status': 'enabled'}}",
		},
		Partition: {
			Reason: "of an unlogged batch some statements may succeed while others fail, and batches of one partition are no " +
				"exception, so a write of " +
				"several rows with one partition key may be applied in part (" + aws + "batchStatements.html)",
			Do: "resume a write that fails; a client that dies leaves half of it, also of a set declared Atomic whose rows " +
				"share a partition key",
		},
		Logged: {
			Reason: "a logged batch and another write of one of its rows at the same time fail with a conflict (" + aws +
				"batchStatements.html), and " +
				"another page says that there are no logged batches (" + aws + "functional-differences.html)",
			Do: "retry such writes, or write with Concurrent, which an Atomic set rejects",
		},
		Conditions: {
			Reason: "reads at SERIAL and LOCAL_SERIAL are rejected (" + aws +
				"consistency.html), and so are conditions in an unlogged batch (" + aws +
				"functional-differences.html); writes of the set need the former, and deletes and writes of several rows the latter",
			Do: "declare neither Versioned nor Compare there",
		},
	},
	ScyllaDB: {
		Tables: {
			Reason: "rows of several tables are several mutations even where they share keyspace and partition key, so an " +
				"unlogged batch of them may " +
				"be applied in part (https://github.com/scylladb/scylladb/issues/24719)",
			Do: "resume a write that fails; a client that dies may leave half of it, also of a set declared Atomic",
		},
		Conditions: {
			Reason: "some versions have no lightweight transactions in keyspaces with tablets " +
				"(https://github.com/scylladb/scylladb/blob/" +
				"1f8ab637c97aa8985b025fae8e2fd371f48dea3d/docs/using-scylla/lwt.rst)",
			Do: "with such a version create the keyspace with tablets = {'enabled': false}",
		},
		Counters: {
			Reason: "versions up to 2025.2 have no counters in keyspaces with tablets " +
				"(https://docs.scylladb.com/manual/branch-2025.2/features/" +
				"counters.html)",
			Do: "with such a version create the keyspace with tablets = {'enabled': false}",
		},
	},
	CosmosDB: {
		Timestamps: {
			Reason: "timestamps and TTLs given by USING count for a row as a whole, not for each column (" + microsoft +
				"support), so of two writes of " +
				"different columns of a row one may be lost",
			Do: "create the table with cosmosdb_cell_level_timestamp, cosmosdb_cell_level_timestamp_tombstones and " +
				"cosmosdb_cell_level_timetolive " +
				"(" + microsoft + "lightweight-transactions)",
		},
		Logged: {
			Reason: "there are no logged batches (" + microsoft + "support)",
			Do:     "write with Concurrent, which an Atomic set rejects",
		},
		Conditions: {
			Reason: "there are no lightweight transactions in accounts that write in several regions, and tables need options " +
				"for them (" + microsoft +
				"lightweight-transactions)",
			Do: "use an account that writes in one region, and create the table with the options that the page names",
		},
		Comments: {
			Reason: "options of a table are ignored, its comment among them (" + microsoft +
				"support), so that the fingerprint of the declaration is " +
				"not kept, and processes that declare the table otherwise are not found",
			Do: "deploy changes of the declaration to all processes at once",
		},
		Level: {
			Reason: "the level of a write is that of the account, whatever the writer asks for, and reads at LOCAL_QUORUM or " +
				"SERIAL fail unless that " +
				"is Strong (" + microsoft + "consistency-mapping)",
			Do: "set the account to Strong",
		},
	},
}

// Against is what the documentation of the server says against a use, and false if nothing is known to contradict it.
func (s Server) Against(u Use) (Doubt, bool) {
	d, ok := doubts[s][u]
	return d, ok
}
