package coordinator

import (
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/gocql/gocql"
)

// Virtual carries out a SELECT on rows that are made for it, by the clock of a node.
func (c *Cluster) Virtual(node int, s Bound, rows []map[string][]byte, page query.Page) Reply {
	if err := s.Check(s.Values); err != nil {
		return refused(err)
	}
	source, err := c.make(s.Table, rows)
	if err != nil {
		return refused(err)
	}
	return c.find(node, s, source, page)
}

// Described carries out a SELECT of a table about the schema, by the clock of a node.
func (c *Cluster) Described(node int, s Bound, page query.Page) Reply {
	if err := s.Check(s.Values); err != nil {
		return refused(err)
	}
	if c.described == nil || c.version != c.Schema.Version() {
		c.described, c.version = make(map[gocql.UUID]virtual), c.Schema.Version()
	}
	source, ok := c.described[s.Table.ID]
	if !ok {
		var err error
		if source, err = c.make(s.Table, c.Schema.Rows(s.Table)); err != nil {
			return refused(err)
		}
		c.described[s.Table.ID] = source
	}
	return c.find(node, s, source, page)
}

func (c *Cluster) make(t *catalog.Table, rows []map[string][]byte) (virtual, error) {
	env := c.env(Request{Node: 1}, Bound{})
	source := virtual{table: t, partitions: make(map[string]*replica.Partition)}
	for _, row := range rows {
		key, p, err := query.Insert(env, t, row)
		if err != nil {
			return source, err
		}
		if source.partitions[key] == nil {
			source.partitions[key] = replica.NewPartition()
		}
		source.partitions[key].Merge(p, t.Compare)
	}
	return source, nil
}

func (c *Cluster) find(node int, s Bound, source virtual, page query.Page) Reply {
	r := Request{Node: node, now: c.tick() + c.nodes[node].skew.Microseconds()}
	found, state, err := s.Read.Run(c.env(r, s), source, page)
	if err != nil {
		return refused(err)
	}
	return Reply{Columns: s.Read.Columns, Keyspace: s.Table.Keyspace, Table: s.Table.Name, Rows: found, State: state}
}

// virtual is a [query.Source] of rows that nobody stores.
type virtual struct {
	table      *catalog.Table
	partitions map[string]*replica.Partition
}

// Keys implements query.Source.
func (v virtual) Keys() ([]string, error) {
	var out []string
	for key := range v.partitions {
		out = append(out, key)
	}
	return out, nil
}

// Several implements query.Source.
func (v virtual) Several() error { return nil }

// Partition implements query.Source.
func (v virtual) Partition(key string, _ [][]byte) (*replica.Partition, error) {
	return v.partitions[key], nil
}
