package cql

// AlterTable is ALTER TABLE: one of its parts is set. With View it is ALTER MATERIALIZED VIEW, which has Options alone.
type AlterTable struct {
	Table       Name
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
	What     string // KEYSPACE, TABLE, TYPE, INDEX, MATERIALIZED VIEW
	Name     Name   // a keyspace is in Name.Name
	IfExists bool
}

// alter takes what follows ALTER.
func (p *parser) alter() Statement {
	switch {
	case p.word("keyspace"):
		return p.keyspaceAndOptions(&CreateKeyspace{Alter: true, IfNotExists: p.ifExists()})
	case p.table():
		return p.alterTable()
	case p.word("type"):
		return p.alterType()
	case p.clause("materialized", "view"):
		s := &AlterTable{View: true, IfExists: p.ifExists(), Table: p.name()}
		if !p.isWord(0, "with") {
			p.unexpected("WITH")
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
	case p.word("add"):
		s.IfNotExists = p.ifNotExists()
		s.Add = perhapsBracketed(p, p.definition)
	case p.isWord(0, "drop") && p.isWord(1, "compact") && p.isWord(2, "storage") && p.beyond("DROP COMPACT STORAGE"):
		p.skip(3)
		s.DropCompact = true
	case p.word("drop"):
		s.IfNotExists = p.ifExists()
		s.Drop = perhapsBracketed(p, p.identifier)
		if p.word("using") && p.beyond("DROP of a column USING TIMESTAMP") { // as DESCRIBE ... WITH INTERNALS has it
			p.dropTime()
		}
	case p.word("rename"):
		s.IfNotExists = p.ifExists()
		s.Rename = several(p, "and", p.rename)
	case p.isWord(0, "with"):
		s.Options = p.options()
	case p.word("alter"):
		p.unsupported("ALTER TABLE ... ALTER")
	default:
		p.unexpected("ADD, DROP, RENAME or WITH")
	}
	return s
}

// dropTime takes TIMESTAMP and when a column was dropped.
func (p *parser) dropTime() {
	p.words("timestamp")
	if p.isMark() {
		p.unexpected("an integer")
	}
	p.integer()
}

// rename takes from TO to.
func (p *parser) rename() [2]string {
	from := p.identifier()
	p.words("to")
	return [2]string{from, p.identifier()}
}

func (p *parser) alterType() *CreateType {
	s := &CreateType{Alter: true, IfExists: p.ifExists(), Type: p.userType()}
	switch {
	case p.word("add"):
		s.IfNotExists = p.ifNotExists()
		s.Fields = []ColumnDefinition{p.field()}
	case p.word("rename"):
		p.unsupported("ALTER TYPE ... RENAME")
	case p.word("alter"):
		p.unsupported("ALTER TYPE ... ALTER")
	default:
		p.unexpected("ADD")
	}
	return s
}

// drop takes what follows DROP.
func (p *parser) drop() Statement {
	s := &Drop{}
	name := p.name
	switch {
	case p.word("keyspace"):
		s.What = "KEYSPACE"
		name = func() Name { return Name{Name: p.keyspace()} }
	case p.table():
		s.What = "TABLE"
	case p.word("type"):
		s.What = "TYPE"
		name = p.userType
	case p.word("index"):
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
