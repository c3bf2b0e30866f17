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

func (s *Schema) alterTable(name cql.Name, stmt *ast.AlterTable) (*Change, error) {
	old := s.Table(name.Keyspace, name.Name)
	if old == nil {
		if stmt.IfExists {
			return nil, nil
		}
		return nil, invalid("Table '%s.%s' doesn't exist", name.Keyspace, name.Name)
	}
	k := s.keyspaces[name.Keyspace].clone()
	t := old.clone()
	var err error
	var gone []string
	switch {
	case stmt.Add != nil:
		err = t.add(k, stmt)
	case stmt.Drop != nil:
		gone, err = t.drop(k, stmt)
	case stmt.Rename != nil:
		err = t.rename(k, stmt)
	default:
		err = t.alterOptions(k, stmt.Options)
	}
	if err != nil {
		return nil, err
	}
	k.tables[t.Name] = t.arrange()
	s.keyspaces[k.Name] = k
	return &Change{Type: updated, Target: "TABLE", Keyspace: k.Name, Object: t.Name, Table: t, Dropped: gone}, nil
}

// at is the place of a column, or -1.
func (t *Table) at(name string) int {
	return slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Name == name })
}

func (t *Table) add(k *Keyspace, stmt *ast.AlterTable) error {
	for _, d := range stmt.Add {
		typ, err := k.columnType(d.Type)
		if err != nil {
			return err
		}
		if t.at(d.Name) >= 0 {
			if stmt.IfNotExists {
				continue
			}
			return invalid("Column with name '%s' already exists", d.Name)
		}
		kind := Regular
		if d.Static {
			kind = Static
			if len(t.Clustering) == 0 {
				return invalid("Static columns are only useful (and thus allowed) if the table has at least one clustering column")
			}
		}
		if err := t.readd(d.Name, typ, kind); err != nil {
			return err
		}
		if counter := typ.Kind() == gocql.TypeCounter; counter != t.Counter {
			what, table := "counter", "non counter"
			if t.Counter {
				what, table = table, what
			}
			return config("%s.%s: Cannot have a %s column (\"%s\") in a %s table", t.Keyspace, t.Name, what, d.Name, table)
		}
		t.Columns = append(t.Columns, &Column{Name: d.Name, Type: typ, Kind: kind, Position: -1})
		if kind != Static {
			k.addToViews(t.Name, Column{Name: d.Name, Type: typ, Kind: kind, Position: -1})
		}
	}
	return nil
}

// addToViews gives the views of a table that are of SELECT * a column that the table has got.
func (k *Keyspace) addToViews(table string, c Column) {
	for _, v := range sorted(k.views) {
		if v.view.all && v.view.base.Name == table {
			v := v.clone()
			v.Columns = append(v.Columns, &c)
			k.views[v.Name] = v.arrange()
		}
	}
}

// readd rejects a column whose values could not be told from those of one of the same name that was dropped.
func (t *Table) readd(name string, typ *cqltype.Type, kind Kind) error {
	at := slices.IndexFunc(t.dropped, func(d droppedColumn) bool { return d.name == name })
	if at < 0 {
		return nil
	}
	was := t.dropped[at]
	switch {
	case typ.Definition() != was.typ.Definition() && !follows(typ.Kind(), was.typ.Kind()):
		return invalid("Cannot add a column '%s' of type %s, incompatible with previously dropped column '%[1]s' of type "+
			"%[3]s",
			name, typ, was.typ)
	case kind != was.kind:
		return invalid("Cannot re-add previously dropped column '%s' of kind %s, incompatible with previous kind %s",
			name, strings.ToUpper(kind.String()), strings.ToUpper(was.kind.String()))
	case t.Counter:
		return invalid("Cannot re-add previously dropped counter column %s", name)
	}
	return nil
}

// follows says whether a type can read what another wrote.
func follows(kind, was gocql.Type) bool {
	switch kind {
	case gocql.TypeVarchar:
		return was == gocql.TypeAscii
	case gocql.TypeBlob:
		return was == gocql.TypeAscii || was == gocql.TypeVarchar
	case gocql.TypeBigInt:
		return was == gocql.TypeTimestamp
	case gocql.TypeTimestamp:
		return was == gocql.TypeBigInt
	case gocql.TypeUUID:
		return was == gocql.TypeTimeUUID
	}
	return false
}

func (t *Table) drop(k *Keyspace, stmt *ast.AlterTable) ([]string, error) {
	var gone []string
	for _, name := range stmt.Drop {
		at := t.at(name)
		if at < 0 {
			if stmt.IfNotExists {
				continue
			}
			return nil, invalid("Column %s was not found in table '%s.%s'", name, t.Keyspace, t.Name)
		}
		c := t.Columns[at]
		switch {
		case c.Kind == PartitionKey || c.Kind == Clustering:
			return nil, invalid("Cannot drop PRIMARY KEY column %s", name)
		case c.Type.User() != nil && c.Type.MultiCell():
			return nil, invalid("Cannot drop non-frozen column %s of user type %s", name, c.Type)
		}
		if indexes := k.indexesOf(t.Name, name); len(indexes) > 0 {
			return nil, invalid("Cannot drop column %s because it has dependent secondary indexes (%s)",
				name, strings.Join(indexes, ", "))
		}
		if views := k.viewsOf(t.Name); len(views) > 0 {
			return nil, invalid("Cannot drop column %s on base table %s with materialized views", name, t.Name)
		}
		typ, err := expanded(c.Type)
		if err != nil {
			return nil, err
		}
		t.Columns = slices.Delete(t.Columns, at, at+1)
		t.dropped = slices.DeleteFunc(t.dropped, func(d droppedColumn) bool { return d.name == name })
		t.dropped = append(t.dropped, droppedColumn{name, typ, c.Kind})
		gone = append(gone, name)
	}
	return gone, nil
}

// expanded is a type with tuples in place of user-defined types, which may be dropped one day.
func expanded(t *cqltype.Type) (*cqltype.Type, error) {
	text := t.String()
	if len(t.Users()) > 0 {
		text = expand(t)
	}
	out, err := cqltype.Parse(text)
	if err != nil {
		return nil, unsupported("%v", err)
	}
	return out, nil
}

func expand(t *cqltype.Type) string {
	elems := t.Elems()
	if len(elems) == 0 {
		return t.String()
	}
	texts := make([]string, len(elems))
	for i, e := range elems {
		texts[i] = expand(e)
	}
	name := map[gocql.Type]string{gocql.TypeList: "list", gocql.TypeSet: "set", gocql.TypeMap: "map"}[t.Kind()]
	if name == "" {
		name = "tuple"
	}
	text := name + "<" + strings.Join(texts, ", ") + ">"
	if t.Frozen() {
		text = "frozen<" + text + ">"
	}
	return text
}

func (t *Table) rename(k *Keyspace, stmt *ast.AlterTable) error {
	for _, names := range stmt.Rename {
		from, to := names[0], names[1]
		at := t.at(from)
		switch {
		case at < 0:
			return invalid("Undefined column name %s in table %s.%s", from, t.Keyspace, t.Name)
		case t.Columns[at].Kind != PartitionKey && t.Columns[at].Kind != Clustering:
			return invalid("Cannot rename non PRIMARY KEY column %s", from)
		case t.at(to) >= 0:
			return invalid("Cannot rename column %s to %s in table '%s.%s'; another column with that name already exists",
				from, to, t.Keyspace, t.Name)
		case len(k.indexesOf(t.Name, from)) > 0:
			return invalid("Can't rename column %s because it has dependent secondary indexes (%s)",
				from, strings.Join(k.indexesOf(t.Name, from), ", "))
		case len(k.viewsOf(t.Name)) > 0:
			return unsupported("ALTER TABLE RENAME where there are materialized views")
		}
		t.Columns[at].Name = to
	}
	return nil
}

func (t *Table) alterOptions(k *Keyspace, options []ast.Option) error {
	if _, err := t.options.Set(options, true); err != nil {
		return err
	}
	if t.Counter && t.options.Number(option.TTL) > 0 {
		return invalid("Cannot set default_time_to_live on a table with counters")
	}
	if len(k.viewsOf(t.Name)) > 0 && t.options.Number(option.GCGrace) == 0 {
		return invalid("Cannot alter gc_grace_seconds of the base table of a materialized view to 0, " +
			"since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause " +
			"undelivered updates to expire before being replayed.")
	}
	return nil
}

func (s *Schema) dropTable(name cql.Name, ifExists bool) (*Change, error) {
	t := s.Table(name.Keyspace, name.Name)
	if t == nil {
		if ifExists {
			return nil, nil
		}
		return nil, invalid("Table '%s.%s' doesn't exist", name.Keyspace, name.Name)
	}
	k := s.keyspaces[name.Keyspace].clone()
	if views := k.viewsOf(t.Name); len(views) > 0 {
		return nil, invalid("Cannot drop a table when materialized views still depend on it (%s)", strings.Join(views, ", "))
	}
	delete(k.tables, t.Name)
	k.indexes = slices.DeleteFunc(k.indexes, func(i index) bool { return i.table == t.Name })
	s.keyspaces[k.Name] = k
	return &Change{Type: dropped, Target: "TABLE", Keyspace: k.Name, Object: t.Name, Table: t}, nil
}
