package ast

import "github.com/denorm-go/denorm/internal/cql"

// AlterTable is ALTER TABLE: one of its parts is set. With View it is ALTER MATERIALIZED VIEW, which has Options alone.
type AlterTable struct {
	Table       cql.Name
	View        bool
	IfExists    bool
	Add         []ColumnDefinition
	Drop        []string
	DropCompact bool        // DROP COMPACT STORAGE
	IfNotExists bool        // of ADD; of DROP and RENAME it is IF EXISTS
	Rename      [][2]string // from, to
	Options     []Option
}

// Drop is DROP.
type Drop struct {
	What     string   // KEYSPACE, TABLE, TYPE, INDEX, MATERIALIZED VIEW
	Name     cql.Name // a keyspace is in Name.Name
	IfExists bool
}

// alter takes what follows ALTER.
func (p *parser) alter() Statement {
	switch {
	case p.keyspace():
		return p.keyspaceAndOptions(&CreateKeyspace{Alter: true, IfNotExists: p.ifExists()})
	case p.table():
		return p.alterTable()
	case p.Word("type"):
		return p.alterType()
	case p.clause("materialized", "view"):
		s := &AlterTable{View: true, IfExists: p.ifExists(), Table: p.name()}
		if !p.IsWord(0, "with") {
			p.Unexpected("WITH")
		}
		s.Options = p.options()
		return s
	}
	p.undefined("ALTER")
	return nil
}

func (p *parser) alterTable() *AlterTable {
	s := &AlterTable{IfExists: p.ifExists(), Table: p.name()}
	switch {
	case p.Word("add"):
		s.IfNotExists = p.ifNotExists()
		s.Add = perhapsBracketed(p, p.definition)
	case p.IsWord(0, "drop") && p.IsWord(1, "compact") && p.IsWord(2, "storage") && p.beyond("DROP COMPACT STORAGE"):
		p.Skip(3)
		s.DropCompact = true
	case p.Word("drop"):
		s.IfNotExists = p.ifExists()
		s.Drop = perhapsBracketed(p, p.Identifier)
		if p.Word("using") && p.beyond("DROP of a column USING TIMESTAMP") { // as DESCRIBE ... WITH INTERNALS has it
			p.dropTime()
		}
	case p.Word("rename"):
		s.IfNotExists = p.ifExists()
		s.Rename = several(p, "and", p.rename)
	case p.IsWord(0, "with"):
		s.Options = p.options()
	case p.Word("alter"):
		p.unsupported("ALTER TABLE ... ALTER")
	default:
		p.Unexpected("ADD, DROP, RENAME or WITH")
	}
	return s
}

// dropTime takes TIMESTAMP and when a column was dropped.
func (p *parser) dropTime() {
	p.words("timestamp")
	if p.isMark() {
		p.Unexpected("an integer")
	}
	p.integer()
}

// rename takes from TO to.
func (p *parser) rename() [2]string {
	from := p.Identifier()
	p.words("to")
	return [2]string{from, p.Identifier()}
}

func (p *parser) alterType() *CreateType {
	s := &CreateType{Alter: true, IfExists: p.ifExists(), Type: p.UserType()}
	switch {
	case p.Word("add"):
		s.IfNotExists = p.ifNotExists()
		s.Fields = []ColumnDefinition{p.Field()}
	case p.IsWord(0, "rename") && p.beyond("ALTER TYPE ... RENAME"):
		p.Skip(1)
		s.IfNotExists = p.ifExists()
		s.Rename = several(p, "and", p.rename)
	case p.Word("alter"):
		p.unsupported("ALTER TYPE ... ALTER")
	default:
		p.Unexpected("ADD")
	}
	return s
}

// drop takes what follows DROP.
func (p *parser) drop() Statement {
	s := &Drop{}
	name := p.name
	switch {
	case p.keyspace():
		s.What = "KEYSPACE"
		name = func() cql.Name { return cql.Name{Name: p.Keyspace()} }
	case p.table():
		s.What = "TABLE"
	case p.Word("type"):
		s.What = "TYPE"
		name = p.UserType
	case p.Word("index"):
		s.What = "INDEX"
	case p.clause("materialized", "view"):
		s.What = "MATERIALIZED VIEW"
	default:
		p.undefined("DROP")
		return nil
	}
	s.IfExists = p.ifExists()
	s.Name = name()
	return s
}
