package coordinator

import (
	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/query"
	"github.com/denorm-go/denorm/internal/replica"
)

// Virtual carries out a SELECT on rows that are made for it.
func (c *Cluster) Virtual(s Bound, rows []map[string][]byte, page query.Page) Reply {
	if err := s.Check(s.Values); err != nil {
		return refused(err)
	}
	env := c.env(Request{Node: 1}, s)
	source := virtual{table: s.Table, partitions: make(map[string]*replica.Partition)}
	for _, row := range rows {
		key, p, err := query.Insert(env, s.Table, row)
		if err != nil {
			return refused(err)
		}
		if source.partitions[key] == nil {
			source.partitions[key] = replica.NewPartition()
		}
		source.partitions[key].Merge(p, s.Table.Compare)
	}
	found, state, err := s.Read.Run(env, source, page)
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
func (v virtual) Keys() []string {
	var out []string
	for key := range v.partitions {
		out = append(out, key)
	}
	return out
}

// Partition implements query.Source.
func (v virtual) Partition(key string, _ [][]byte) (*replica.Partition, error) {
	return v.partitions[key], nil
}
