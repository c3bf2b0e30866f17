package writer

import (
	"bytes"
	"slices"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// path is the mutations that travel in one request.
type path struct {
	kind      retry.Kind
	mutations []*tables.Mutation
}

// group puts mutations of one keyspace and one partition into one path: Cassandra applies them as one mutation on every
// replica, atomically and without batchlog, even if they are of different tables (BatchUpdatesCollector keys by
// keyspace and partition key bytes). Paths are in the order of their first mutation, so the base table's comes first.
func group(mutations []*tables.Mutation) []path {
	paths := make([]path, 0, len(mutations))
next:
	for i, m := range mutations {
		for p := range paths {
			first := paths[p].mutations[0]
			if first.Keyspace == m.Keyspace && bytes.Equal(first.PartitionKey, m.PartitionKey) {
				paths[p].mutations = append(paths[p].mutations, m)
				continue next
			}
		}
		paths = append(paths, path{kind: retry.Partition, mutations: mutations[i : i+1 : i+1]})
	}
	return paths
}

// tables are the names of the tables of the path, without repeats.
func (p path) tables() []string {
	var names []string
	for _, m := range p.mutations {
		if !slices.Contains(names, m.Table) {
			names = append(names, m.Table)
		}
	}
	return names
}

func (p path) statements() []string {
	texts := make([]string, len(p.mutations))
	for i, m := range p.mutations {
		texts[i] = m.Statement
	}
	return texts
}

// size estimates what the server counts against batch_size_fail_threshold.
func (p path) size() int {
	n := 0
	for _, m := range p.mutations {
		n += m.Size()
	}
	return n
}
