package catalog

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// Schema is the keyspaces of a cluster. It is not safe for concurrent use, but the tables that it gives out are: they
// never change.
type Schema struct {
	keyspaces map[string]*Keyspace
	made      uint64 // counts the definitions and the tables
	version   gocql.UUID
}

// New is the schema of a new cluster: the system tables.
func New() *Schema {
	s := &Schema{keyspaces: make(map[string]*Keyspace)}
	s.declareSystem()
	s.version = s.id()
	return s
}

// id makes identifiers in the same order in every run.
func (s *Schema) id() gocql.UUID {
	s.made++
	id := gocql.UUID{6: 0x40, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(s.made))
	return id
}

// Keyspace is the keyspace called name, nil if there is none.
func (s *Schema) Keyspace(name string) *Keyspace { return s.keyspaces[name] }

// Table is a table, also one of the system; nil if there is none. A materialized view is not one, as it cannot be read
// here.
func (s *Schema) Table(keyspace, name string) *Table {
	if k := s.keyspaces[keyspace]; k != nil {
		return k.tables[name]
	}
	return nil
}

// Tables are all tables, those of the system too, in the order of their keyspaces and names.
func (s *Schema) Tables() []*Table {
	var out []*Table
	for _, keyspace := range slices.Sorted(maps.Keys(s.keyspaces)) {
		out = append(out, sorted(s.keyspaces[keyspace].tables)...)
	}
	return out
}

// View says whether there is a materialized view of this name.
func (s *Schema) View(keyspace, name string) bool {
	k := s.keyspaces[keyspace]
	return k != nil && k.views[name] != nil
}

// Indexed says whether a column of a table has an index.
func (s *Schema) Indexed(keyspace, table, column string) bool {
	k := s.keyspaces[keyspace]
	return k != nil && len(k.indexesOf(table, column)) > 0
}

// Version changes with every definition.
func (s *Schema) Version() gocql.UUID { return s.version }

// Change is what a definition changed, as an event of the protocol tells it.
type Change struct {
	Type             string // CREATED, UPDATED or DROPPED
	Target           string // KEYSPACE, TABLE or TYPE
	Keyspace, Object string
	Table            *Table   // the one that was created, altered or dropped; nil if it was something else
	Dropped          []string // the columns that were dropped
}

// The types of changes.
const (
	created = "CREATED"
	updated = "UPDATED"
	dropped = "DROPPED"
)

// Define carries out a CREATE, ALTER or DROP, keyspace being that of USE, and says what changed. It is nil if nothing
// did, as after IF NOT EXISTS. An error is an [*Error].
func (s *Schema) Define(stmt ast.Statement, keyspace string) (*Change, error) {
	change, err := s.define(stmt, keyspace)
	if change != nil {
		s.version = s.id()
	}
	return change, err
}

func (s *Schema) define(stmt ast.Statement, keyspace string) (*Change, error) {
	switch stmt := stmt.(type) {
	case *ast.CreateKeyspace:
		return s.defineKeyspace(stmt)
	case *ast.Drop:
		if stmt.What == "KEYSPACE" {
			return s.dropKeyspace(stmt)
		}
		name, err := qualify(stmt.Name, keyspace)
		if err != nil {
			return nil, err
		}
		switch stmt.What {
		case "TABLE":
			return s.dropTable(name, stmt.IfExists)
		case "TYPE":
			return s.dropType(name, stmt.IfExists)
		case "INDEX":
			return s.dropIndex(name, stmt.IfExists)
		case "MATERIALIZED VIEW":
			return s.dropView(name, stmt.IfExists)
		}
		return nil, unsupported("DROP %s", stmt.What)
	case *ast.CreateTable:
		return in(stmt.Table, keyspace, func(n cql.Name) (*Change, error) { return s.createTable(n, stmt) })
	case *ast.AlterTable:
		if stmt.View {
			return nil, unsupported("ALTER MATERIALIZED VIEW")
		}
		return in(stmt.Table, keyspace, func(n cql.Name) (*Change, error) { return s.alterTable(n, stmt) })
	case *ast.CreateType:
		return in(stmt.Type, keyspace, func(n cql.Name) (*Change, error) { return s.defineType(n, stmt) })
	case *ast.CreateIndex:
		return in(stmt.Table, keyspace, func(n cql.Name) (*Change, error) { return s.createIndex(n, stmt) })
	case *ast.CreateView:
		return in(stmt.View, keyspace, func(n cql.Name) (*Change, error) { return s.createView(n, stmt, keyspace) })
	}
	return nil, unsupported("%T", stmt)
}

// in calls define with the whole name, if it is of a keyspace that can be changed.
func in(name cql.Name, keyspace string, define func(cql.Name) (*Change, error)) (*Change, error) {
	name, err := qualify(name, keyspace)
	if err != nil {
		return nil, err
	}
	return define(name)
}

// qualify gives a name the keyspace of USE, if it has none.
func qualify(name cql.Name, keyspace string) (cql.Name, error) {
	if name.Keyspace == "" {
		name.Keyspace = keyspace
	}
	if name.Keyspace == "" {
		return name, invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
	}
	return name, guard(name.Keyspace)
}
