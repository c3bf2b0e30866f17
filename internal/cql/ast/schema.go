package ast

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/denorm-go/denorm/internal/cql"
)

// create takes what follows CREATE.
func (p *parser) create() Statement {
	switch {
	case p.keyspace():
		return p.keyspaceAndOptions(&CreateKeyspace{IfNotExists: p.ifNotExists()})
	case p.table():
		return p.createTable()
	case p.Word("type"):
		s := &CreateType{IfNotExists: p.ifNotExists(), Type: p.UserType()}
		p.elements(func() { s.Fields = append(s.Fields, p.Field()) })
		return s
	case p.clause("custom", "index"):
		return p.createIndex(true)
	case p.Word("index"):
		return p.createIndex(false)
	case p.clause("materialized", "view"):
		return p.createView()
	}
	p.undefined("CREATE")
	return nil
}

// keyspace takes the word, or its synonym.
func (p *parser) keyspace() bool { return p.Word("keyspace") || p.Word("schema") }

// undefined fails at what can be created, altered or dropped, and has no statement here.
func (p *parser) undefined(verb string) {
	p.others(verb+" ", "what to "+verb,
		"function", "aggregate", "trigger", "role", "user", "identity", "or", "materialized", "index")
}

// elements takes what is between the brackets of CREATE TABLE and CREATE TYPE; there may be a comma without an element
// behind it.
func (p *parser) elements(one func()) {
	p.Expect("(")
	one()
	for p.Sign(",") {
		if !p.IsSign(0, ")", ",") {
			one()
		}
	}
	p.Expect(")")
}

func (p *parser) createTable() *CreateTable {
	s := &CreateTable{IfNotExists: p.ifNotExists(), Table: p.name()}
	keys := 0
	p.elements(func() {
		if p.IsWord(0, "primary") {
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
		p.Invalid("Multiple PRIMARY KEY specified for table '" + s.Table.Name + "' (exactly one required)")
	}
	s.Order, s.Options = p.tableOptions()
	return s
}

// definition takes a column with its type.
func (p *parser) definition() ColumnDefinition {
	d := ColumnDefinition{Name: p.Identifier(), Type: p.TypeName(), Static: p.Word("static")}
	if p.IsWord(0, "masked") && p.beyond("MASKED WITH") {
		p.words("masked", "with")
		from := p.Token().Start
		switch {
		case p.Word("default"):
			d.Mask = "DEFAULT"
		case p.IsName(0) && p.IsSign(1, "(", "."):
			if p.term(); p.Err == nil { // its last token is the bracket
				d.Mask = p.Text[from : p.Tokens[p.At-1].Start+1]
			}
		default:
			p.Unexpected("DEFAULT or a function")
		}
	}
	return d
}

// primaryKey takes PRIMARY KEY ((a, b), c).
func (p *parser) primaryKey() (partition, clustering []string) {
	p.words("primary", "key")
	p.Expect("(")
	partition = perhapsBracketed(p, p.Identifier)
	if p.Sign(",") {
		clustering = several(p, ",", p.Identifier)
	}
	p.Expect(")")
	return partition, clustering
}

func (p *parser) createIndex(custom bool) *CreateIndex {
	s := &CreateIndex{IfNotExists: p.ifNotExists()}
	if !p.IsWord(0, "on") {
		p.NoMark("index")
		s.Index = p.Identifier()
	}
	p.words("on")
	s.Table = p.name()
	p.Expect("(")
	if !p.Script || !custom || !p.IsSign(0, ")") {
		s.Targets = several(p, ",", p.indexTarget)
		if len(s.Targets) > 1 && (!p.Script || !custom) {
			p.unsupported("an index of several columns")
		}
	}
	p.Expect(")")
	if p.Word("using") {
		if p.Token().Literal != String {
			p.Unexpected("the class of the index in quotes")
			return s
		}
		s.Using = p.literal().Text
	}
	if p.Err == nil && custom && s.Using == "" {
		p.Invalid("CUSTOM index requires specifying the index class")
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
	if t := p.Token(); t.Kind == cql.Word && slices.Contains([]string{"keys", "values", "entries", "full"}, t.Text) &&
		p.IsSign(1, "(") {
		p.Skip(2)
		target.Part = t.Text
	}
	target.Column = p.column()
	if target.Part != "" {
		p.Expect(")")
	}
	return target
}

func (p *parser) createView() *CreateView {
	s := &CreateView{IfNotExists: p.ifNotExists(), View: p.name()}
	p.words("as", "select")
	for _, c := range p.selectors() {
		if c.Kind != Column || c.Elems != nil || c.Fields != nil || c.As != "" {
			p.Invalid("Can only select columns by name when defining a materialized view")
		}
		s.Columns = append(s.Columns, c.Text)
	}
	p.words("from")
	s.From = p.name()
	if p.Word("where") {
		from := p.At
		s.Where = p.where()
		if p.Script {
			s.Text = p.span(from)
		}
	}
	s.Partition, s.Clustering = p.primaryKey()
	s.Order, s.Options = p.tableOptions()
	return s
}

var noWord = regexp.MustCompile(`\W`)

// IndexName is the name that the server gives to an index that is created without one. taken says whether the keyspace
// has an index of a name. column is empty for an index that is not on one column.
func IndexName(table, column string, taken func(name string) bool) string {
	if column != "" {
		table += "_" + column
	}
	base := noWord.ReplaceAllString(table+"_idx", "")
	name := base
	for n := 1; taken(name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}
