package wire

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/gocql/gocql"
)

// release is the version that the nodes claim to be of.
const release = "4.1.8"

// systemTables are the tables about the cluster itself that drivers ask for, with the columns that matter to them.
var systemTables = declareSystem(
	`local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, cluster_name text, cql_version text,
		data_center text, host_id uuid, listen_address inet, native_protocol_version text, partitioner text, rack text,
		release_version text, rpc_address inet, schema_version uuid, tokens set<text>)`,
	`peers (peer inet PRIMARY KEY, data_center text, host_id uuid, preferred_ip inet, rack text, release_version text,
		rpc_address inet, schema_version uuid, tokens set<text>)`,
	`peers_v2 (peer inet, peer_port int, data_center text, host_id uuid, native_address inet, native_port int, rack text,
		release_version text, schema_version uuid, tokens set<text>, PRIMARY KEY (peer, peer_port))`,
	`system_schema.keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, replication frozen<map<text, text>>)`,
	`system_schema.tables (keyspace_name text, table_name text, comment text, default_time_to_live int, gc_grace_seconds int,
		PRIMARY KEY (keyspace_name, table_name))`,
	`system_schema.columns (keyspace_name text, table_name text, column_name text, clustering_order text, kind text,
		position int, type text, PRIMARY KEY (keyspace_name, table_name, column_name))`,
	`system_schema.views (keyspace_name text, view_name text, base_table_id uuid, base_table_name text,
		bloom_filter_fp_chance double, caching frozen<map<text, text>>, comment text, compaction frozen<map<text, text>>,
		compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double,
		default_time_to_live int, extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid,
		include_all_columns boolean, max_index_interval int, memtable_flush_period_in_ms int, min_index_interval int,
		read_repair_chance double, speculative_retry text, PRIMARY KEY (keyspace_name, view_name))`,
	`system_schema.triggers (keyspace_name text, table_name text, trigger_name text,
		PRIMARY KEY (keyspace_name, table_name, trigger_name))`,
	`system_schema.indexes (keyspace_name text, table_name text, index_name text, kind text,
		PRIMARY KEY (keyspace_name, table_name, index_name))`,
	`system_schema.types (keyspace_name text, type_name text, field_names frozen<list<text>>, field_types frozen<list<text>>,
		PRIMARY KEY (keyspace_name, type_name))`,
	`system_schema.functions (keyspace_name text, function_name text, argument_types frozen<list<text>>,
		argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, return_type text,
		PRIMARY KEY (keyspace_name, function_name))`,
	`system_schema.aggregates (keyspace_name text, aggregate_name text, argument_types frozen<list<text>>, final_func text,
		initcond text, return_type text, state_func text, state_type text, PRIMARY KEY (keyspace_name, aggregate_name))`,
)

func declareSystem(declarations ...string) map[[2]string]*table {
	out := make(map[[2]string]*table)
	for _, d := range declarations {
		t, err := newTable(&words{split(d)}, "system")
		if err != nil {
			panic(err)
		}
		out[[2]string{t.keyspace, t.name}] = t
	}
	return out
}

// row is a row of a system table: values by column, in Go types.
type row map[string]any

// system answers a SELECT of a system table, as the node sees it.
func (s *Server) system(n *Node, st Statement) message.Message {
	var rows []row
	switch st.Table {
	case "local":
		rows = []row{n.row()}
	case "peers", "peers_v2":
		for _, other := range s.nodes {
			if other != n {
				rows = append(rows, other.row())
			}
		}
	default:
		rows = s.schema.rows(st.Table)
	}
	columns := st.parsed.columns()
	result := Result{Columns: columns}
	for _, r := range rows {
		if !st.selects(r) {
			continue
		}
		var encoded [][]byte
		for _, c := range columns {
			var b []byte
			if v, ok := r[c.Name]; ok {
				b = marshal(cql(c.Type), v)
			}
			encoded = append(encoded, b)
		}
		result.Rows = append(result.Rows, encoded)
	}
	return result.message(st.Keyspace, st.Table)
}

// selects says whether the WHERE of the statement holds for a row.
func (s Statement) selects(r row) bool {
	for _, f := range s.parsed.wanted {
		c := s.parsed.of.column(f.column)
		if c == nil {
			return false
		}
		want := []byte(f.literal)
		if f.mark >= 0 {
			want = s.Values[f.mark].Bytes
		}
		if !bytes.Equal(marshal(c.typ, r[f.column]), want) {
			return false
		}
	}
	return true
}

// row is what system.local and system.peers say about the node.
func (n *Node) row() row {
	ip := n.ip.String()
	return row{
		"key": "local", "bootstrapped": "COMPLETED", "broadcast_address": ip, "cluster_name": "wire", "cql_version": "3.4.6",
		"data_center": "dc1", "host_id": n.id, "listen_address": ip, "native_protocol_version": "4",
		"partitioner": "org.apache.cassandra.dht.Murmur3Partitioner", "rack": "rack1", "release_version": release,
		"rpc_address": ip, "schema_version": gocql.UUID{6: 0x40, 8: 0x80, 15: 1}, "tokens": n.texts(), "peer": ip, "peer_port": 7000,
		"native_address": ip, "native_port": n.server.port,
	}
}

// rows are those of a table of system_schema.
func (s *schema) rows(table string) []row {
	var out []row
	switch table {
	case "keyspaces":
		for ks, factor := range s.keyspaces {
			out = append(out, row{"keyspace_name": ks, "durable_writes": true, "replication": map[string]string{
				"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": strconv.Itoa(factor),
			}})
		}
	case "views":
		for _, v := range s.views {
			out = append(out, row{"keyspace_name": v[0], "view_name": v[1], "base_table_name": v[2]})
		}
	case "tables", "columns":
		for _, key := range slices.SortedFunc(maps.Keys(s.tables), func(a, b [2]string) int {
			return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
		}) {
			t := s.tables[key]
			if table == "tables" {
				out = append(out, row{
					"keyspace_name": t.keyspace, "table_name": t.name, "comment": "", "default_time_to_live": 0,
					"gc_grace_seconds": t.gcGrace,
				})
				continue
			}
			for _, c := range t.columns {
				out = append(out, row{
					"keyspace_name": t.keyspace, "table_name": t.name, "column_name": c.name, "clustering_order": c.order,
					"kind": c.kind, "position": c.position, "type": c.typ.String(),
				})
			}
		}
	}
	return out
}
