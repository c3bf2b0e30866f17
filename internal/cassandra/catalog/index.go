package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// index is an index, of which only what system_schema.indexes says is kept.
type index struct {
	table, column, name string
	kind                string // COMPOSITES or CUSTOM
	options             map[string]string
}

// indexesOf are the names of the indexes of a column.
func (k *Keyspace) indexesOf(table, column string) []string {
	var names []string
	for _, i := range k.indexes {
		if i.table == table && i.column == column {
			names = append(names, i.name)
		}
	}
	return names
}

func (s *Schema) createIndex(name cql.Name, stmt *ast.CreateIndex) (*Change, error) {
	old, err := s.existing(name.Keyspace)
	if err != nil {
		return nil, err
	}
	t := old.tables[name.Name]
	if t == nil {
		return nil, invalid("Table '%s' doesn't exist", name.Name)
	}
	i := index{table: t.Name, column: stmt.Targets[0].Column, name: stmt.Index}
	taken := func(name string) bool {
		return slices.ContainsFunc(old.indexes, func(other index) bool { return other.name == name })
	}
	if i.name != "" && taken(i.name) {
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, invalid("Index '%s' already exists", i.name)
	}
	if err := i.describe(t, stmt); err != nil {
		return nil, err
	}
	if i.name == "" {
		i.name = ast.IndexName(t.Name, i.column, taken)
	}
	for _, other := range old.indexes {
		if other.table == i.table && other.kind == i.kind && maps.Equal(other.options, i.options) {
			if stmt.IfNotExists {
				return nil, nil
			}
			return nil, invalid("Index %s is a duplicate of existing index %s", i.name, other.name)
		}
	}
	k := old.clone()
	k.indexes = append(k.indexes, i)
	s.keyspaces[k.Name] = k
	return &Change{Type: updated, Target: "TABLE", Keyspace: k.Name, Object: t.Name, Table: t}, nil
}

// describe gives the index its kind and options.
func (i *index) describe(t *Table, stmt *ast.CreateIndex) error {
	c := t.Column(i.column)
	switch {
	case c == nil:
		return invalid("Undefined column name %s in table %s.%s", i.column, t.Keyspace, t.Name)
	case c.Kind == PartitionKey && len(t.Partition) == 1:
		return invalid("Cannot create secondary index on the only partition key column %s", i.column)
	case t.Counter:
		return invalid("Secondary indexes on counter tables aren't supported")
	}
	part, collection := stmt.Targets[0].Part, c.Type.User() == nil && c.Type.Kind() != gocql.TypeTuple &&
		len(c.Type.Elems()) > 0
	switch {
	case !collection && part == "full":
		return invalid("full() indexes can only be created on frozen collections")
	case !collection && part != "":
		return invalid("Cannot create %s() index on %s. Non-collection columns only support simple indexes", part, i.column)
	case !collection:
	case c.Type.Frozen() && part != "full":
		return invalid("Cannot create %s() index on frozen column %s. Frozen collections are immutable and must be fully "+
			"indexed "+
			"by using the 'full(%s)' modifier", cmp.Or(part, "values"), i.column, i.column)
	case !c.Type.Frozen() && part == "full":
		return invalid("full() indexes can only be created on frozen collections")
	case part == "":
		part = "values"
	case part != "values" && part != "full" && c.Type.Kind() != gocql.TypeMap:
		return invalid("Cannot create index on %s of column %s with non-map type", part, i.column)
	}
	target := i.column
	if !nameText.MatchString(target) || target != strings.ToLower(target) {
		target = `"` + target + `"`
	}
	if part != "" {
		target = part + "(" + target + ")"
	}
	i.kind = "COMPOSITES"
	i.options = map[string]string{"target": target}
	if stmt.Using != "" && !strings.EqualFold(stmt.Using, "legacy_local_table") {
		i.kind = "CUSTOM"
		i.options["class_name"] = stmt.Using
	}
	for name, value := range stmt.Options {
		i.options[name] = value
	}
	return nil
}

func (s *Schema) dropIndex(name cql.Name, ifExists bool) (*Change, error) {
	if old := s.keyspaces[name.Keyspace]; old != nil {
		for at, i := range old.indexes {
			if i.name != name.Name {
				continue
			}
			k := old.clone()
			k.indexes = slices.Delete(k.indexes, at, at+1)
			s.keyspaces[k.Name] = k
			return &Change{Type: updated, Target: "TABLE", Keyspace: k.Name, Object: i.table, Table: k.tables[i.table]}, nil
		}
	}
	if ifExists {
		return nil, nil
	}
	return nil, invalid("Index '%s.%s' doesn't exist'", name.Keyspace, name.Name)
}
