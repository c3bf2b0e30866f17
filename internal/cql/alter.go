package cql

// AlterTable is ALTER TABLE: one of its parts is set. With View it is ALTER MATERIALIZED VIEW, which has Options alone.
type AlterTable struct {
	Table       Name
	View        bool
	IfExists    bool
	Add         []ColumnDefinition
	Drop        []string
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
func (p *Parser) alter() Statement {
	switch {
	case p.Word("keyspace"):
		s := &CreateKeyspace{Alter: true, IfNotExists: p.IfExists()}
		p.KeyspaceAndOptions(s)
		return s
	case p.Table():
		return p.alterTable()
	case p.Word("type"):
		return p.alterType()
	case p.Clause("materialized", "view"):
		s := &AlterTable{View: true, IfExists: p.IfExists()}
		if s.Table = p.Name(); !p.IsWord(0, "with") {
			p.Unexpected("WITH")
		}
		s.Options = p.Options()
		return s
	}
	p.Undefined("ALTER")
	return nil
}

func (p *Parser) alterTable() *AlterTable {
	s := &AlterTable{IfExists: p.IfExists()}
	s.Table = p.Name()
	switch {
	case p.Word("add"):
		s.IfNotExists = p.IfNotExists()
		s.Add = PerhapsBracketed(p, p.Definition)
	case p.IsWord(0, "drop") && p.IsWord(1, "compact") && p.IsWord(2, "storage"):
		p.Unsupported("DROP COMPACT STORAGE")
	case p.Word("drop"):
		s.IfNotExists = p.IfExists()
		s.Drop = PerhapsBracketed(p, p.Identifier)
		if p.Word("using") {
			p.Unsupported("DROP of a column USING TIMESTAMP")
		}
	case p.Word("rename"):
		s.IfNotExists = p.IfExists()
		s.Rename = Several(p, "and", p.rename)
	case p.IsWord(0, "with"):
		s.Options = p.Options()
	case p.Word("alter"):
		p.Unsupported("ALTER TABLE ... ALTER")
	default:
		p.Unexpected("ADD, DROP, RENAME or WITH")
	}
	return s
}

// rename takes from TO to.
func (p *Parser) rename() [2]string {
	from := p.Identifier()
	p.Words("to")
	return [2]string{from, p.Identifier()}
}

func (p *Parser) alterType() *CreateType {
	s := &CreateType{Alter: true, IfExists: p.IfExists()}
	s.Type = p.UserType()
	switch {
	case p.Word("add"):
		s.IfNotExists = p.IfNotExists()
		s.Fields = []ColumnDefinition{p.Field()}
	case p.Word("rename"):
		p.Unsupported("ALTER TYPE ... RENAME")
	case p.Word("alter"):
		p.Unsupported("ALTER TYPE ... ALTER")
	default:
		p.Unexpected("ADD")
	}
	return s
}

// drop takes what follows DROP.
func (p *Parser) drop() Statement {
	s := &Drop{}
	name := p.Name
	switch {
	case p.Word("keyspace"):
		s.What = "KEYSPACE"
		name = func() Name { return Name{Name: p.Keyspace()} }
	case p.Table():
		s.What = "TABLE"
	case p.Word("type"):
		s.What = "TYPE"
		name = p.UserType
	case p.Word("index"):
		s.What = "INDEX"
	case p.Clause("materialized", "view"):
		s.What = "MATERIALIZED VIEW"
	default:
		p.Undefined("DROP")
		return nil
	}
	s.IfExists = p.IfExists()
	s.Name = name()
	return s
}
