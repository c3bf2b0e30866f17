package cassandratest

import (
	"errors"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// release is the version that the nodes claim to be of.
const release = "5.0.9"

func isSystem(name string) bool { return name == "system" || strings.HasPrefix(name, "system_") }

// system answers a SELECT of a system table, as the node sees it.
func (n *Node) system(s Statement, page query.Page) coordinator.Reply {
	t := s.prepared.Table
	var rows []map[string][]byte
	switch {
	case t.Keyspace == "system" && t.Name == "local":
		rows = []map[string][]byte{n.row(t)}
	case t.Keyspace == "system" && strings.HasPrefix(t.Name, "peers"):
		for _, other := range n.cluster.nodes {
			if other != n {
				rows = append(rows, other.row(t))
			}
		}
	case t.Keyspace == "system" && t.Name == "size_estimates": // of data files, and there are none
	case t.Keyspace != "system_schema":
		return coordinator.Reply{Err: &catalog.Error{
			Code: gocql.ErrCodeInvalid, Message: ast.Unsupported + "a SELECT of " + t.Keyspace + "." + t.Name,
		}}
	default:
		return n.cluster.data.Described(n.Number, coordinator.Bound{Prepared: s.prepared, Values: s.bound}, page)
	}
	return n.cluster.data.Virtual(n.Number, coordinator.Bound{Prepared: s.prepared, Values: s.bound}, rows, page)
}

// row is what system.local and system.peers say about the node.
func (n *Node) row(t *catalog.Table) map[string][]byte {
	ip := n.ip.String()
	values := map[string]any{
		"key": "local", "bootstrapped": "COMPLETED", "broadcast_address": ip, "broadcast_port": 7000, "cluster_name": "cassandratest",
		"cql_version": "3.4.7", "data_center": "dc1", "gossip_generation": 1, "host_id": n.id, "listen_address": ip, "listen_port": 7000,
		"native_protocol_version": "5", "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner", "rack": "rack1",
		"release_version": release, "rpc_address": ip, "rpc_port": n.cluster.port, "schema_version": n.cluster.data.Schema.Version(),
		"tokens": n.tokens(), "peer": ip, "peer_port": 7000, "native_address": ip, "native_port": n.cluster.port,
	}
	if t.Name == "local" {
		for column, text := range n.cluster.local {
			values[column] = text
		}
	}
	row := make(map[string][]byte)
	for _, c := range t.Columns {
		if v, ok := values[c.Name]; ok {
			b, err := gocql.Marshal(c.Type.Info(), v)
			if err != nil {
				panic(errors.Join(errors.New("cassandratest: a value of system."+t.Name), err)) // a bug of this package
			}
			row[c.Name] = b
		}
	}
	return row
}

func (n *Node) tokens() []string {
	var out []string
	for _, t := range n.cluster.data.Tokens(n.Number) {
		out = append(out, strconv.FormatInt(t, 10))
	}
	return out
}
