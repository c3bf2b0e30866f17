package catalog

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

func (s *Schema) createTable(name cql.Name, stmt *ast.CreateTable) (*Change, error) {
	old, err := s.existing(name.Keyspace)
	if err != nil {
		return nil, err
	}
	if old.tables[name.Name] != nil || old.views[name.Name] != nil {
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, &Error{
			Code: gocql.ErrCodeAlreadyExists, Keyspace: old.Name, Table: name.Name,
			Message: "Cannot add already existing table \"" + name.Name + "\" to keyspace \"" + old.Name + "\"",
		}
	}
	t, err := s.newTable(old, name.Name, stmt)
	if err != nil {
		return nil, err
	}
	k := old.clone()
	k.tables[t.Name] = t
	s.keyspaces[k.Name] = k
	return &Change{Type: created, Target: "TABLE", Keyspace: k.Name, Object: t.Name, Table: t}, nil
}

// newTable makes a table of a keyspace, without putting it there.
func (s *Schema) newTable(k *Keyspace, name string, stmt *ast.CreateTable) (*Table, error) {
	whole := k.Name + "." + name
	t := &Table{Keyspace: k.Name, Name: name, options: option.Defaults()}
	for _, d := range stmt.Columns {
		if slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Name == d.Name }) {
			return nil, invalid("Duplicate column '%s' declaration for table '%s'", d.Name, whole)
		}
		t.Columns = append(t.Columns, &Column{Name: d.Name, Position: -1})
	}
	if len(stmt.Partition) == 0 {
		return nil, invalid("No PRIMARY KEY specifed for table '%s' (exactly one required)", whole) //nolint:misspell // so does Cassandra
	}
	id, err := t.options.Set(stmt.Options, false)
	if err != nil {
		return nil, err
	}
	for i, d := range stmt.Columns {
		if t.Columns[i].Type, err = k.columnType(d.Type); err != nil {
			return nil, err
		}
		if d.Static {
			t.Columns[i].Kind = Static
		}
	}
	if err := t.setKey(stmt.Partition, stmt.Clustering); err != nil {
		return nil, err
	}
	if !nameText.MatchString(name) {
		return nil, config("%s: Table name must not be empty or not contain non-alphanumeric-underscore characters (got "+
			"\"%s\")",
			whole, name)
	}
	if err := t.setOrder(stmt.Clustering, stmt.Order); err != nil {
		return nil, err
	}
	if err := t.arrange().check(); err != nil {
		return nil, err
	}
	if t.ID = id; id == (gocql.UUID{}) {
		t.ID = s.id()
	}
	return t, nil
}

// columnType is the type of a column.
func (k *Keyspace) columnType(n *cql.Type) (*cqltype.Type, error) {
	t, err := k.resolve(n)
	if err != nil {
		return nil, err
	}
	if t.User() != nil && !t.Frozen() {
		for _, f := range k.types[k.userType(t.User().Name)].fields {
			if field, err := k.Types.Parse(f.typ); err == nil && field.MultiCell() {
				return nil, invalid("Non-frozen UDTs with nested non-frozen collections are not supported")
			}
		}
	}
	return t, nil
}

// setKey makes columns those of the primary key.
func (t *Table) setKey(partition, clustering []string) error {
	used := make(map[string]bool)
	for i, name := range slices.Concat(partition, clustering) {
		at := slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Name == name })
		switch {
		case at < 0:
			return invalid("Unknown column '%s' referenced in PRIMARY KEY for table '%s'", name, t.Name)
		case used[name]:
			return invalid("Duplicate column '%s' in PRIMARY KEY clause for table '%s'", name, t.Name)
		}
		used[name] = true
		c := t.Columns[at]
		switch {
		case c.Type.MultiCell() && c.Type.User() != nil:
			return invalid("Invalid non-frozen user-defined type \"%s.%s\" for PRIMARY KEY column '%s'", t.Keyspace, c.Type,
				name)
		case c.Type.MultiCell():
			return invalid("Invalid non-frozen collection type %s for PRIMARY KEY column '%s'", c.Type, name)
		case c.Type.Kind() == gocql.TypeCounter:
			return invalid("counter type is not supported for PRIMARY KEY column '%s'", name)
		case c.Type.Contains(gocql.TypeDuration):
			return invalid("duration type is not supported for PRIMARY KEY column '%s'", name)
		case c.Kind == Static:
			return invalid("Static column '%s' cannot be part of the PRIMARY KEY", name)
		}
		c.Kind, c.Position = PartitionKey, i
		if i >= len(partition) {
			c.Kind, c.Position = Clustering, i-len(partition)
		}
	}
	return nil
}

// setOrder carries out CLUSTERING ORDER BY.
func (t *Table) setOrder(clustering []string, order []ast.Order) error {
	var names, others []string
	for _, o := range order {
		if slices.Contains(names, o.Column) {
			return invalid("Duplicate column '%s' in CLUSTERING ORDER BY clause for table '%s.%s'", o.Column, t.Keyspace, t.Name)
		}
		names = append(names, o.Column)
		if !slices.Contains(clustering, o.Column) {
			others = append(others, o.Column)
		}
	}
	if len(others) > 0 {
		return invalid("Only clustering key columns can be defined in CLUSTERING ORDER directive: [%s] are not clustering "+
			"columns",
			strings.Join(others, ", "))
	}
	for i, o := range order {
		if next := clustering[i]; next != o.Column {
			if !slices.Contains(names, next) {
				return invalid("Missing CLUSTERING ORDER for column %s", next)
			}
			return invalid("The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns"+
				" (%s must appear before %s)", next, o.Column)
		}
		for _, c := range t.Columns {
			if c.Name == o.Column {
				c.Descending = o.Descending
			}
		}
	}
	return nil
}

// check rejects columns and options that do not go together.
func (t *Table) check() error {
	if t.Counter {
		for _, c := range t.Columns {
			if (c.Kind == Regular || c.Kind == Static) && c.Type.Kind() != gocql.TypeCounter {
				return invalid("Cannot mix counter and non counter columns in the same table")
			}
		}
		if t.DefaultTTL > 0 {
			return invalid("Cannot set default_time_to_live on a table with counters")
		}
	}
	if t.Static && len(t.Clustering) == 0 {
		return invalid("Static columns are only useful (and thus allowed) if the table has at least one clustering column")
	}
	return nil
}
