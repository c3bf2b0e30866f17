package cql

// alter takes what follows ALTER.
func (p *parser) alter() Statement {
	switch {
	case p.word("keyspace"):
		s := &CreateKeyspace{Alter: true, IfNotExists: p.ifExists()}
		s.Keyspace = p.keyspace()
		p.keyspaceOptions(s)
		return s
	case p.table():
		return p.alterTable()
	case p.word("type"):
		return p.alterType()
	}
	p.others("ALTER")
	return nil
}

func (p *parser) alterTable() *AlterTable {
	s := &AlterTable{IfExists: p.ifExists()}
	s.Table = p.name()
	switch {
	case p.word("add"):
		s.IfNotExists = p.ifNotExists()
		s.Add = several(p, p.definition)
	case p.isWord(0, "drop") && p.isWord(1, "compact") && p.isWord(2, "storage"):
		p.unsupported("DROP COMPACT STORAGE")
	case p.word("drop"):
		s.IfNotExists = p.ifExists()
		s.Drop = several(p, p.identifier)
		if p.word("using") {
			p.unsupported("DROP of a column USING TIMESTAMP")
		}
	case p.word("rename"):
		s.IfNotExists = p.ifExists()
		s.Rename = append(s.Rename, p.rename())
		for p.word("and") {
			s.Rename = append(s.Rename, p.rename())
		}
	case p.isWord(0, "with"):
		s.Options = p.options()
	case p.word("alter"):
		p.unsupported("ALTER TABLE ... ALTER")
	default:
		p.unexpected("ADD, DROP, RENAME or WITH")
	}
	return s
}

// several takes one thing, or several in brackets.
func several[T any](p *parser, one func() T) []T {
	if !p.sign("(") {
		return []T{one()}
	}
	all := []T{one()}
	for p.sign(",") {
		all = append(all, one())
	}
	p.expect(")")
	return all
}

// rename takes from TO to.
func (p *parser) rename() [2]string {
	from := p.identifier()
	p.words("to")
	return [2]string{from, p.identifier()}
}

func (p *parser) alterType() *CreateType {
	s := &CreateType{Alter: true, IfExists: p.ifExists()}
	s.Type = p.userType()
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
	switch {
	case p.word("keyspace"):
		s.What, s.IfExists = "KEYSPACE", p.ifExists()
		s.Name.Name = p.keyspace()
		return s
	case p.table():
		s.What = "TABLE"
	case p.word("type"):
		s.What = "TYPE"
	case p.word("index"):
		s.What = "INDEX"
	case p.word("materialized"):
		p.words("view")
		s.What = "MATERIALIZED VIEW"
	default:
		p.others("DROP")
		return nil
	}
	s.IfExists = p.ifExists()
	if s.What == "TYPE" {
		s.Name = p.userType()
	} else {
		s.Name = p.name()
	}
	return s
}
