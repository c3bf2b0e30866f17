package catalog

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// view is what makes a [Table] a materialized view. Nothing writes its rows: it is there for those who read the schema.
type view struct {
	base  *Table
	all   bool // SELECT *
	where string
}

// viewsOf are the names of the materialized views of a table.
func (k *Keyspace) viewsOf(table string) []string {
	var names []string
	for _, v := range sorted(k.views) {
		if v.view.base.Name == table {
			names = append(names, v.Name)
		}
	}
	return names
}

func (s *Schema) createView(name cql.Name, stmt *ast.CreateView, keyspace string) (*Change, error) {
	old, err := s.existing(name.Keyspace)
	if err != nil {
		return nil, err
	}
	from, err := qualify(stmt.From, keyspace)
	if err != nil {
		return nil, err
	}
	if from.Keyspace != old.Name {
		return nil, invalid("Cannot create a materialized view on a table in a different keyspace")
	}
	base := old.tables[from.Name]
	switch {
	case base == nil:
		return nil, invalid("Base table '%s' doesn't exist", from.Name)
	case base.Counter:
		return nil, invalid("Materialized views are not supported on counter tables")
	case old.tables[name.Name] != nil || old.views[name.Name] != nil:
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, &Error{
			Code: gocql.ErrCodeAlreadyExists, Keyspace: old.Name, Table: name.Name,
			Message: "Cannot add already existing table \"" + name.Name + "\" to keyspace \"" + old.Name + "\"",
		}
	}
	t, err := s.newView(old, base, name.Name, stmt)
	if err != nil {
		return nil, err
	}
	k := old.clone()
	k.views[t.Name] = t
	s.keyspaces[k.Name] = k
	return &Change{Type: created, Target: "TABLE", Keyspace: k.Name, Object: t.Name, Table: t}, nil
}

// newView makes a view as the table that it would be.
func (s *Schema) newView(k *Keyspace, base *Table, name string, stmt *ast.CreateView) (*Table, error) {
	key := slices.Concat(stmt.Partition, stmt.Clustering)
	for _, c := range slices.Concat(base.Partition, base.Clustering) {
		if !slices.Contains(key, c.Name) {
			return nil, invalid("Cannot create Materialized View %s without primary key columns from base %s (%s)",
				name, base.Name, c.Name)
		}
	}
	table := &ast.CreateTable{
		Partition: stmt.Partition, Clustering: stmt.Clustering, Order: stmt.Order, Options: stmt.Options,
	}
	for _, name := range stmt.Columns {
		if base.Column(name) == nil {
			return nil, invalid("Undefined column name %s in table %s.%s", name, k.Name, base.Name)
		}
	}
	for _, c := range base.Columns {
		if stmt.Columns == nil || slices.Contains(stmt.Columns, c.Name) || slices.Contains(key, c.Name) {
			typ, err := cql.ParseType(c.Type.String())
			if err != nil {
				return nil, err
			}
			table.Columns = append(table.Columns, ast.ColumnDefinition{Name: c.Name, Type: typ})
		}
	}
	t, err := s.newTable(k, name, table)
	if err != nil {
		return nil, err
	}
	var where []string
	for _, r := range stmt.Where {
		words := []string{strings.Join(r.Columns, ", "), r.Operator}
		for _, v := range r.Values {
			words = append(words, spell(v))
		}
		where = append(where, strings.Join(words, " "))
	}
	for _, name := range key {
		if !slices.ContainsFunc(stmt.Where, func(r ast.Relation) bool { return slices.Contains(r.Columns, name) }) {
			return nil, invalid("Primary key column '%s' is required to be filtered by 'IS NOT NULL'", name)
		}
	}
	t.view = &view{base: base, all: stmt.Columns == nil, where: strings.Join(where, " AND ")}
	return t, nil
}

func (s *Schema) dropView(name cql.Name, ifExists bool) (*Change, error) {
	old := s.keyspaces[name.Keyspace]
	if old == nil || old.views[name.Name] == nil {
		if ifExists {
			return nil, nil
		}
		return nil, invalid("Materialized view '%s.%s' doesn't exist", name.Keyspace, name.Name)
	}
	k := old.clone()
	t := k.views[name.Name]
	delete(k.views, name.Name)
	s.keyspaces[k.Name] = k
	return &Change{Type: dropped, Target: "TABLE", Keyspace: k.Name, Object: name.Name, Table: t}, nil
}
