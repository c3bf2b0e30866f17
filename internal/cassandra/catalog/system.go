package catalog

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// systemTables are those of Cassandra 5.0.9 that drivers and tools read, with all their columns.
var systemTables = []string{
	`system.local (key text, bootstrapped text, broadcast_address inet, broadcast_port int, cluster_name text,
		cql_version text, data_center text, gossip_generation int, host_id uuid, listen_address inet, listen_port int,
		native_protocol_version text, partitioner text, rack text, release_version text, rpc_address inet, rpc_port int,
		schema_version uuid, tokens set<text>, truncated_at map<uuid, blob>, PRIMARY KEY (key))`,
	`system.peers (peer inet, data_center text, host_id uuid, preferred_ip inet, rack text, release_version text,
		rpc_address inet, schema_version uuid, tokens set<text>, PRIMARY KEY (peer))`,
	`system.peers_v2 (peer inet, peer_port int, data_center text, host_id uuid, native_address inet, native_port int,
		preferred_ip inet, preferred_port int, rack text, release_version text, schema_version uuid, tokens set<text>,
		PRIMARY KEY (peer, peer_port))`,
	`system.size_estimates (keyspace_name text, table_name text, range_start text, range_end text, mean_partition_size bigint,
		partitions_count bigint, PRIMARY KEY (keyspace_name, table_name, range_start, range_end))`,
	`system.batches (id timeuuid, mutations list<blob>, version int, PRIMARY KEY (id))`,
	`system.paxos (row_key blob, cf_id uuid, in_progress_ballot timeuuid, in_progress_read_ballot timeuuid,
		most_recent_commit blob, most_recent_commit_at timeuuid, most_recent_commit_version int, proposal blob,
		proposal_ballot timeuuid, proposal_version int, PRIMARY KEY (row_key, cf_id))`,
	`system.built_views (keyspace_name text, view_name text, status_replicated boolean, PRIMARY KEY (keyspace_name,
		view_name))`,
	`system.prepared_statements (prepared_id blob, logged_keyspace text, query_string text, PRIMARY KEY (prepared_id))`,
	`system.table_estimates (keyspace_name text, table_name text, range_type text, range_start text, range_end text,
		mean_partition_size bigint, partitions_count bigint, PRIMARY KEY (keyspace_name, table_name, range_type, range_start,
		range_end))`,
	`system_schema.aggregates (keyspace_name text, aggregate_name text, argument_types frozen<list<text>>, final_func text,
		initcond text, return_type text, state_func text, state_type text, PRIMARY KEY (keyspace_name, aggregate_name,
		argument_types))`,
	`system_schema.column_masks (keyspace_name text, table_name text, column_name text,
		function_argument_nulls frozen<list<boolean>>, function_argument_types frozen<list<text>>,
		function_argument_values frozen<list<text>>, function_keyspace text, function_name text, PRIMARY KEY (keyspace_name,
		table_name, column_name))`,
	`system_schema.columns (keyspace_name text, table_name text, column_name text, clustering_order text,
		column_name_bytes blob, kind text, position int, type text, PRIMARY KEY (keyspace_name, table_name, column_name))`,
	`system_schema.dropped_columns (keyspace_name text, table_name text, column_name text, dropped_time timestamp, kind text,
		type text, PRIMARY KEY (keyspace_name, table_name, column_name))`,
	`system_schema.functions (keyspace_name text, function_name text, argument_types frozen<list<text>>,
		argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, return_type text,
		PRIMARY KEY (keyspace_name, function_name, argument_types))`,
	`system_schema.indexes (keyspace_name text, table_name text, index_name text, kind text, options frozen<map<text, text>>,
		PRIMARY KEY (keyspace_name, table_name, index_name))`,
	`system_schema.keyspaces (keyspace_name text, durable_writes boolean, replication frozen<map<text, text>>,
		PRIMARY KEY (keyspace_name))`,
	`system_schema.tables (keyspace_name text, table_name text, additional_write_policy text, allow_auto_snapshot boolean,
		bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text, compaction frozen<map<text,
		text>>, compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double,
		default_time_to_live int, extensions frozen<map<text, blob>>, flags frozen<set<text>>, gc_grace_seconds int, id uuid,
		incremental_backups boolean, max_index_interval int, memtable text, memtable_flush_period_in_ms int,
		min_index_interval int, read_repair text, read_repair_chance double, speculative_retry text,
		PRIMARY KEY (keyspace_name, table_name))`,
	`system_schema.triggers (keyspace_name text, table_name text, trigger_name text, options frozen<map<text, text>>,
		PRIMARY KEY (keyspace_name, table_name, trigger_name))`,
	`system_schema.types (keyspace_name text, type_name text, field_names frozen<list<text>>, field_types frozen<list<text>>,
		PRIMARY KEY (keyspace_name, type_name))`,
	`system_schema.views (keyspace_name text, view_name text, additional_write_policy text, allow_auto_snapshot boolean,
		base_table_id uuid, base_table_name text, bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean,
		comment text, compaction frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double,
		dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text, blob>>, gc_grace_seconds int,
		id uuid, include_all_columns boolean, incremental_backups boolean, max_index_interval int, memtable text,
		memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double,
		speculative_retry text, where_clause text, PRIMARY KEY (keyspace_name, view_name))`,
	`system_views.max_partition_size (keyspace_name text, table_name text, mebibytes bigint, PRIMARY KEY ((keyspace_name,
		table_name)))`,
}

// declareSystem makes the tables of the system.
func (s *Schema) declareSystem() {
	for _, name := range systems {
		s.keyspaces[name] = &Keyspace{
			Name: name, Replication: map[string]string{"class": localStrategy}, Durable: true, Types: &cqltype.Types{},
			tables: make(map[string]*Table),
		}
	}
	for _, text := range systemTables {
		if err := s.declare(text); err != nil {
			panic(fmt.Sprintf("catalog: %s: %v", text, err))
		}
	}
}

func (s *Schema) declare(text string) error {
	stmt, err := ast.Parse("CREATE TABLE " + text)
	if err != nil {
		return err
	}
	create := stmt.(*ast.CreateTable)
	k := s.keyspaces[create.Table.Keyspace]
	t, err := s.newTable(k, create.Table.Name, create)
	if err != nil {
		return err
	}
	t.System = true
	t.options[option.GCGrace], t.options[option.Flush] = 604800, 3600000
	if k.Name == "system" {
		t.options[option.GCGrace] = 0
	}
	k.tables[t.Name] = t.arrange()
	return nil
}
