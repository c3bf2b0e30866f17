package cql

import "slices"

// create takes what follows CREATE.
func (p *Parser) create() Statement {
	switch {
	case p.Word("keyspace"):
		s := &CreateKeyspace{IfNotExists: p.IfNotExists()}
		p.KeyspaceAndOptions(s)
		return s
	case p.Table():
		return p.createTable()
	case p.Word("type"):
		s := &CreateType{IfNotExists: p.IfNotExists()}
		s.Type = p.UserType()
		p.elements(func() { s.Fields = append(s.Fields, p.Field()) })
		return s
	case p.Clause("custom", "index"):
		return p.createIndex(true)
	case p.Word("index"):
		return p.createIndex(false)
	case p.Clause("materialized", "view"):
		return p.createView()
	}
	p.Undefined("CREATE")
	return nil
}

// Undefined fails at what can be created, altered or dropped, and has no statement here.
func (p *Parser) Undefined(verb string) {
	p.others(verb+" ", "what to "+verb,
		"function", "aggregate", "trigger", "role", "user", "identity", "or", "materialized", "index")
}

// elements takes what is between the brackets of CREATE TABLE and CREATE TYPE; there may be a comma without an element behind it.
func (p *Parser) elements(one func()) {
	p.expect("(")
	one()
	for p.sign(",") {
		if !p.isSign(0, ")", ",") {
			one()
		}
	}
	p.expect(")")
}

func (p *Parser) createTable() *CreateTable {
	s := &CreateTable{IfNotExists: p.IfNotExists()}
	s.Table = p.Name()
	keys := 0
	p.elements(func() {
		if p.IsWord(0, "primary") {
			s.Partition, s.Clustering = p.primaryKey()
			keys++
			return
		}
		column := p.Definition()
		s.Columns = append(s.Columns, column)
		if p.Clause("primary", "key") {
			s.Partition, s.Clustering = []string{column.Name}, nil
			keys++
		}
	})
	if keys > 1 {
		p.invalid("Multiple PRIMARY KEY specified for table '" + s.Table.Name + "' (exactly one required)")
	}
	s.Order, s.Options = p.tableOptions()
	return s
}

// Definition takes a column with its type.
func (p *Parser) Definition() ColumnDefinition {
	d := ColumnDefinition{Name: p.Identifier(), Type: p.typeName(), Static: p.Word("static")}
	if p.IsWord(0, "masked") && p.beyond("MASKED WITH") {
		p.Words("masked", "with")
		from := p.token().start
		switch {
		case p.Word("default"):
			d.Mask = "DEFAULT"
		case p.isName(0) && p.isSign(1, "(", "."):
			if p.term(); p.err == nil { // its last token is the bracket
				d.Mask = p.text[from : p.tokens[p.at-1].start+1]
			}
		default:
			p.Unexpected("DEFAULT or a function")
		}
	}
	return d
}

// primaryKey takes PRIMARY KEY ((a, b), c).
func (p *Parser) primaryKey() (partition, clustering []string) {
	p.Words("primary", "key")
	p.expect("(")
	partition = PerhapsBracketed(p, p.Identifier)
	if p.sign(",") {
		clustering = Several(p, ",", p.Identifier)
	}
	p.expect(")")
	return partition, clustering
}

// Field takes a field of a type.
func (p *Parser) Field() ColumnDefinition {
	return ColumnDefinition{Name: p.Identifier(), Type: p.typeName()}
}

func (p *Parser) createIndex(custom bool) *CreateIndex {
	s := &CreateIndex{IfNotExists: p.IfNotExists()}
	if !p.IsWord(0, "on") {
		p.noMark("index")
		s.Index = p.Identifier()
	}
	p.Words("on")
	s.Table = p.Name()
	p.expect("(")
	if t := p.token(); t.kind == word && slices.Contains([]string{"keys", "values", "entries", "full"}, t.text) && p.isSign(1, "(") {
		p.skip(2)
		s.Part = t.text
	}
	s.Column = p.column()
	if s.Part != "" {
		p.expect(")")
	}
	if p.isSign(0, ",") {
		p.Unsupported("an index of several columns")
	}
	p.expect(")")
	if p.Word("using") {
		if p.token().literal != String {
			p.Unexpected("the class of the index in quotes")
			return s
		}
		s.Using = p.literal().Text
	}
	if p.err == nil && custom && s.Using == "" {
		p.invalid("CUSTOM index requires specifying the index class")
	}
	for _, o := range p.Options() {
		if o.Name != "options" || o.Map == nil {
			p.refuse("Unknown property '" + o.Name + "'")
		}
		s.Options = o.Map
	}
	return s
}

func (p *Parser) createView() *CreateView {
	s := &CreateView{IfNotExists: p.IfNotExists()}
	s.View = p.Name()
	p.Words("as", "select")
	for _, c := range p.selectors() {
		if c.Kind != Column || c.Elems != nil || c.Fields != nil || c.As != "" {
			p.invalid("Can only select columns by name when defining a materialized view")
		}
		s.Columns = append(s.Columns, c.Text)
	}
	p.Words("from")
	s.From = p.Name()
	if p.Word("where") {
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
