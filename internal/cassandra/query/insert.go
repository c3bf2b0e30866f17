package query

import (
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
)

// Insert is a partition with one row of encoded values, by column, and its key.
func Insert(env *Env, t *catalog.Table, values map[string][]byte) (key string, p *replica.Partition, err error) {
	var partition, clustering [][]byte
	for _, c := range t.Partition {
		partition = append(partition, values[c.Name])
	}
	for _, c := range t.Clustering {
		clustering = append(clustering, values[c.Name])
	}
	if key, err = RoutingKey(partition); err != nil {
		return "", nil, err
	}
	row := replica.NewRow(clustering)
	row.Marker = merge.Liveness{Timestamp: env.Timestamp}
	for _, c := range t.Columns {
		value, ok := values[c.Name]
		if !ok || c.Kind == catalog.PartitionKey || c.Kind == catalog.Clustering {
			continue
		}
		op := operation{column: c, value: term{mark: -1, typ: c.Type, literal: value}}
		if err := op.apply(row, stamp{timestamp: env.Timestamp, env: env}); err != nil {
			return "", nil, err
		}
	}
	p = replica.NewPartition()
	p.Rows = []*replica.Row{row}
	return key, p, nil
}
