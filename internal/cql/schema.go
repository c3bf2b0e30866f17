package cql

import "slices"

// create takes what follows CREATE.
func (p *parser) create() Statement {
	switch {
	case p.word("keyspace"):
		return p.keyspaceAndOptions(&CreateKeyspace{IfNotExists: p.ifNotExists()})
	case p.table():
		return p.createTable()
	case p.word("type"):
		s := &CreateType{IfNotExists: p.ifNotExists(), Type: p.userType()}
		p.elements(func() { s.Fields = append(s.Fields, p.field()) })
		return s
	case p.clause("custom", "index"):
		return p.createIndex(true)
	case p.word("index"):
		return p.createIndex(false)
	case p.clause("materialized", "view"):
		return p.createView()
	}
	p.undefined("CREATE")
	return nil
}

// undefined fails at what can be created, altered or dropped, and has no statement here.
func (p *parser) undefined(verb string) {
	p.others(verb+" ", "what to "+verb,
		"function", "aggregate", "trigger", "role", "user", "identity", "or", "materialized", "index")
}

// elements takes what is between the brackets of CREATE TABLE and CREATE TYPE; there may be a comma without an element behind it.
func (p *parser) elements(one func()) {
	p.expect("(")
	one()
	for p.sign(",") {
		if !p.isSign(0, ")", ",") {
			one()
		}
	}
	p.expect(")")
}

func (p *parser) createTable() *CreateTable {
	s := &CreateTable{IfNotExists: p.ifNotExists(), Table: p.name()}
	keys := 0
	p.elements(func() {
		if p.isWord(0, "primary") {
			s.Partition, s.Clustering = p.primaryKey()
			keys++
			return
		}
		column := p.definition()
		s.Columns = append(s.Columns, column)
		if p.clause("primary", "key") {
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

// definition takes a column with its type.
func (p *parser) definition() ColumnDefinition {
	d := ColumnDefinition{Name: p.identifier(), Type: p.typeName(), Static: p.word("static")}
	if p.isWord(0, "masked") && p.beyond("MASKED WITH") {
		p.words("masked", "with")
		from := p.token().start
		switch {
		case p.word("default"):
			d.Mask = "DEFAULT"
		case p.isName(0) && p.isSign(1, "(", "."):
			if p.term(); p.err == nil { // its last token is the bracket
				d.Mask = p.text[from : p.tokens[p.at-1].start+1]
			}
		default:
			p.unexpected("DEFAULT or a function")
		}
	}
	return d
}

// primaryKey takes PRIMARY KEY ((a, b), c).
func (p *parser) primaryKey() (partition, clustering []string) {
	p.words("primary", "key")
	p.expect("(")
	partition = perhapsBracketed(p, p.identifier)
	if p.sign(",") {
		clustering = several(p, ",", p.identifier)
	}
	p.expect(")")
	return partition, clustering
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
	if !p.script || !custom || !p.isSign(0, ")") {
		all := several(p, ",", p.indexTarget)
		s.Column, s.Part = all[0].Column, all[0].Part
		if p.script {
			s.Targets = all
		}
		if len(all) > 1 && (!p.script || !custom) {
			p.unsupported("an index of several columns")
		}
	}
	p.expect(")")
	if p.word("using") {
		if p.token().literal != String {
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

// indexTarget takes a column of an index.
func (p *parser) indexTarget() (target IndexTarget) {
	if t := p.token(); t.kind == word && slices.Contains([]string{"keys", "values", "entries", "full"}, t.text) && p.isSign(1, "(") {
		p.skip(2)
		target.Part = t.text
	}
	target.Column = p.column()
	if target.Part != "" {
		p.expect(")")
	}
	return target
}

func (p *parser) createView() *CreateView {
	s := &CreateView{IfNotExists: p.ifNotExists(), View: p.name()}
	p.words("as", "select")
	for _, c := range p.selectors() {
		if c.Kind != Column || c.Elems != nil || c.Fields != nil || c.As != "" {
			p.invalid("Can only select columns by name when defining a materialized view")
		}
		s.Columns = append(s.Columns, c.Text)
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
