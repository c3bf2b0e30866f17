package ast

import "github.com/denorm-go/denorm/internal/cql"

import "fmt"

func (p *parser) isModification() bool {
	return p.IsWord(0, "insert") || p.IsWord(0, "update") || p.IsWord(0, "delete")
}

// modification takes INSERT, UPDATE or DELETE, one of which comes next.
func (p *parser) modification() Statement {
	switch {
	case p.clause("insert", "into"):
		return p.insert()
	case p.Word("update"):
		return p.update()
	}
	p.words("delete")
	return p.deletion()
}

func (p *parser) insert() *Insert {
	s := &Insert{Into: p.name()}
	if p.Word("json") && p.beyond("INSERT JSON") {
		p.json()
	} else {
		s.Columns = bracketed(p, p.column)
		p.words("values")
		s.Values = bracketed(p, p.given)
	}
	s.IfNotExists = p.ifNotExists()
	s.Using = p.using()
	if p.Err == nil && len(s.Columns) != len(s.Values) {
		p.Invalid("Unmatched column names/values")
	}
	return s
}

// json takes what follows INSERT INTO t JSON.
func (p *parser) json() {
	switch {
	case p.isMark():
		p.mark()
	case p.Token().Literal == String:
		p.Skip(1)
	default:
		p.Unexpected("a string or a mark")
	}
	if p.Word("default") && !p.Word("null") {
		p.words("unset")
	}
}

// using takes USING TIMESTAMP t AND TTL t, if it comes next.
func (p *parser) using() (u Using) {
	for more := p.Word("using"); more; more = p.Word("and") {
		field := &u.TTL
		if p.Word("timestamp") {
			field = &u.Timestamp
		} else {
			p.words("ttl")
		}
		if *field != nil {
			p.Invalid("TIMESTAMP or TTL is given twice after USING")
		}
		*field = p.integer()
	}
	return u
}

func (p *parser) update() *Update {
	s := &Update{Table: p.name(), Using: p.using()}
	p.words("set")
	set := make(map[[2]string]bool) // columns and fields, whether as a whole
	for more := true; more; more = p.Sign(",") {
		a := p.assignment()
		column, field := [2]string{a.Target.Column}, [2]string{a.Target.Column, a.Target.Field}
		before, again := set[column]
		if _, same := set[field]; again && (before || whole(&a) || same && field != column) {
			p.Syntax("Multiple incompatible setting of column " + a.Target.Column)
		}
		set[field], set[column] = false, before || whole(&a)
		s.Set = append(s.Set, a)
	}
	p.words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// whole says whether an assignment sets all of a column.
func whole(a *Assignment) bool {
	return a.Operator == Assign && a.Target.Key == nil && a.Target.Field == ""
}

func (p *parser) assignment() Assignment {
	a := Assignment{Target: p.target()}
	switch plain := a.Target.Key == nil && a.Target.Field == ""; {
	case plain && p.Sign("+="):
		a.Operator = Add
	case plain && p.Sign("-="):
		a.Operator = Remove
	default:
		p.Expect("=")
		if plain {
			p.value(&a)
			return a
		}
	}
	a.Value = p.given()
	return a
}

// given takes a value, or a reference in a transaction.
func (p *parser) given() Term {
	if p.isReference() {
		return p.columnReference()
	}
	return p.term()
}

// value takes what follows c =.
func (p *parser) value(a *Assignment) {
	next := p.later(1)
	switch {
	case !p.IsName(0):
	case p.IsSign(1, "+", "-"):
		p.same(a.Target.Column, "X "+next.Text+" <value>")
		p.Skip(1)
		a.Operator = map[string]Operator{"+": Add, "-": Remove}[next.Text]
		a.Value = p.term()
		return
	case next.Literal == Integer: // c -3 is a name and a number
		p.same(a.Target.Column, "X - <value>")
		a.Operator, a.Value = Add, p.term()
		return
	case p.isReference():
		a.Value = p.columnReference()
		return
	}
	a.Value = p.simpleTerm()
	if p.IsSign(0, "+") && p.IsName(1) && !p.IsSign(2, "(") {
		p.Skip(1)
		a.Operator = Prepend
		p.same(a.Target.Column, "<value> + X")
	}
	for p.arithmetic() {
		p.simpleTerm()
	}
}

// same takes a name, which must be that of the column.
func (p *parser) same(column, form string) {
	if p.Token().Text != column {
		p.Syntax(fmt.Sprintf("Only expressions of the form X = %s are supported.", form))
		return
	}
	p.Skip(1)
}

// target takes a column, column[key] or column.field.
func (p *parser) target() Target {
	t := Target{Column: p.column()}
	switch {
	case p.Sign("["):
		t.Key = p.key()
	case p.Sign("."):
		t.Field = p.Identifier()
	}
	return t
}

func (p *parser) deletion() *Delete {
	s := &Delete{}
	if !p.IsWord(0, "from") {
		s.Columns = several(p, ",", p.target)
	}
	p.words("from")
	s.From = p.name()
	if p.clause("using", "timestamp") {
		s.Using.Timestamp = p.integer()
	}
	p.words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// conditions takes IF EXISTS or IF with conditions, if it comes next.
func (p *parser) conditions() (exists bool, conditions []Relation) {
	if !p.Word("if") {
		return false, nil
	}
	// A column may be named exists.
	if p.IsWord(0, "exists") && (p.Ahead(1).Kind != cql.Sign || p.IsSign(1, ";")) && !p.IsWord(1, "in") &&
		!p.IsWord(1, "contains") {
		p.Skip(1)
		return true, nil
	}
	return false, several(p, "and", p.condition)
}

// batch takes what follows BEGIN.
func (p *parser) batch() *Batch {
	s := &Batch{}
	switch {
	case p.Word("unlogged"):
		s.Kind = Unlogged
	case p.Word("counter"):
		s.Kind = Counter
	}
	p.words("batch")
	s.Using = p.using()
	for p.isModification() {
		from := p.At
		s.Statements = append(s.Statements, p.modification())
		if p.Script {
			s.Spans = append(s.Spans, p.span(from))
		}
		p.Sign(";")
	}
	p.words("apply", "batch")
	return s
}
