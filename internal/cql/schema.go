package cql

import "strings"

// create takes what follows CREATE.
func (p *parser) create() Statement {
	switch {
	case p.word("keyspace"):
		return p.createKeyspace()
	case p.table():
		return p.createTable()
	case p.word("type"):
		return p.createType()
	case p.word("custom"):
		p.words("index")
		return p.createIndex(true)
	case p.word("index"):
		return p.createIndex(false)
	case p.word("materialized"):
		p.words("view")
		return p.createView()
	}
	p.others("CREATE")
	return nil
}

// others fails at what can be created, altered or dropped, and has no statement here.
func (p *parser) others(verb string) {
	for _, what := range []string{"function", "aggregate", "trigger", "role", "user", "identity", "or", "materialized", "index"} {
		if p.isWord(0, what) {
			p.unsupported(verb + " " + strings.ToUpper(what))
			return
		}
	}
	p.unexpected("what to " + verb)
}

func (p *parser) createKeyspace() *CreateKeyspace {
	s := &CreateKeyspace{IfNotExists: p.ifNotExists()}
	s.Keyspace = p.keyspace()
	p.keyspaceOptions(s)
	return s
}

func (p *parser) createTable() *CreateTable {
	s := &CreateTable{IfNotExists: p.ifNotExists()}
	s.Table = p.name()
	p.expect("(")
	keys := p.element(s)
	for p.sign(",") {
		if !p.isSign(0, ")") && !p.isSign(0, ",") {
			keys += p.element(s)
		}
	}
	p.expect(")")
	if keys > 1 {
		p.invalid("Multiple PRIMARY KEY specified for table '" + s.Table.Name + "' (exactly one required)")
	}
	s.Order, s.Options = p.tableOptions()
	return s
}

// element takes a column of CREATE TABLE or its primary key, and gives how many primary keys that are.
func (p *parser) element(s *CreateTable) int {
	if p.isWord(0, "primary") {
		s.Partition, s.Clustering = p.primaryKey()
		return 1
	}
	column := p.definition()
	s.Columns = append(s.Columns, column)
	if !p.word("primary") {
		return 0
	}
	p.words("key")
	s.Partition, s.Clustering = []string{column.Name}, nil
	return 1
}

// definition takes a column with its type.
func (p *parser) definition() ColumnDefinition {
	d := ColumnDefinition{Name: p.identifier(), Type: p.typeName(), Static: p.word("static")}
	if p.isWord(0, "masked") {
		p.unsupported("MASKED WITH")
	}
	return d
}

// primaryKey takes PRIMARY KEY ((a, b), c).
func (p *parser) primaryKey() (partition, clustering []string) {
	p.words("primary", "key")
	p.expect("(")
	if p.sign("(") {
		partition = append(partition, p.identifier())
		for p.sign(",") {
			partition = append(partition, p.identifier())
		}
		p.expect(")")
	} else {
		partition = []string{p.identifier()}
	}
	for p.sign(",") {
		clustering = append(clustering, p.identifier())
	}
	p.expect(")")
	return partition, clustering
}

func (p *parser) createType() *CreateType {
	s := &CreateType{IfNotExists: p.ifNotExists()}
	s.Type = p.userType()
	p.expect("(")
	s.Fields = []ColumnDefinition{p.field()}
	for p.sign(",") {
		if !p.isSign(0, ")") && !p.isSign(0, ",") {
			s.Fields = append(s.Fields, p.field())
		}
	}
	p.expect(")")
	return s
}

// field takes a field of a type.
func (p *parser) field() ColumnDefinition {
	return ColumnDefinition{Name: p.identifier(), Type: p.typeName()}
}

func (p *parser) createIndex(custom bool) *CreateIndex {
	s := &CreateIndex{IfNotExists: p.ifNotExists()}
	if !p.isWord(0, "on") {
		p.noMark("index")
		s.Index = p.identifier()
	}
	p.words("on")
	s.Table = p.name()
	p.expect("(")
	for _, part := range []string{"keys", "values", "entries", "full"} {
		if p.isWord(0, part) && p.isSign(1, "(") {
			p.skip(2)
			s.Part = part
		}
	}
	s.Column = p.column()
	if s.Part != "" {
		p.expect(")")
	}
	if p.isSign(0, ",") {
		p.unsupported("an index of several columns")
	}
	p.expect(")")
	if p.word("using") {
		if p.token().kind != literalString {
			p.unexpected("the class of the index in quotes")
			return s
		}
		s.Using = p.literal().Text
	}
	if p.err == nil && custom && s.Using == "" {
		p.invalid("CUSTOM index requires specifying the index class")
	}
	for _, o := range p.options() {
		if o.Name != "options" || o.Map == nil {
			p.refuse("Unknown property '" + o.Name + "'")
		}
		s.Options = o.Map
	}
	return s
}

func (p *parser) createView() *CreateView {
	s := &CreateView{IfNotExists: p.ifNotExists()}
	s.View = p.name()
	p.words("as", "select")
	for _, c := range p.selectors() {
		if c.Column == "" || c.Function != "" || c.Key != nil || c.Field != "" || c.As != "" {
			p.invalid("Can only select columns by name when defining a materialized view")
		}
		s.Columns = append(s.Columns, c.Column)
	}
	p.words("from")
	s.From = p.name()
	if p.word("where") {
		from := p.at
		s.Where = p.where()
		if p.script {
			s.Text = p.span(from)
		}
	}
	s.Partition, s.Clustering = p.primaryKey()
	s.Order, s.Options = p.tableOptions()
	return s
}
