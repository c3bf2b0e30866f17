package cassandratest

import (
	"maps"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
)

// Pretend has the nodes say of themselves in system.local what another server would: columns of text that Apache
// Cassandra does not have are added. It is called before the first session is opened.
func (s *Cluster) Pretend(local map[string]string) {
	t := s.data.Schema.Table("system", "local")
	like := t.Columns[slices.IndexFunc(t.Columns, func(c *catalog.Column) bool { return c.Name == "cluster_name" })]
	for _, name := range slices.Sorted(maps.Keys(local)) {
		if slices.ContainsFunc(t.Columns, func(c *catalog.Column) bool { return c.Name == name }) {
			continue
		}
		added := *like
		added.Name, added.Index = name, len(t.Columns)
		t.Columns = append(t.Columns, &added)
	}
	s.local = local
}
