package cql

import "fmt"

func (p *Parser) isModification() bool {
	return p.IsWord(0, "insert") || p.IsWord(0, "update") || p.IsWord(0, "delete")
}

// modification takes INSERT, UPDATE or DELETE, one of which comes next.
func (p *Parser) modification() Statement {
	switch {
	case p.Clause("insert", "into"):
		return p.insert()
	case p.Word("update"):
		return p.update()
	}
	p.Words("delete")
	return p.deletion()
}

func (p *Parser) insert() *Insert {
	s := &Insert{Into: p.Name()}
	if p.Word("json") && p.beyond("INSERT JSON") {
		p.json()
	} else {
		s.Columns = bracketed(p, p.column)
		p.Words("values")
		s.Values = bracketed(p, p.given)
	}
	s.IfNotExists = p.IfNotExists()
	s.Using = p.using()
	if p.err == nil && len(s.Columns) != len(s.Values) {
		p.invalid("Unmatched column names/values")
	}
	return s
}

// json takes what follows INSERT INTO t JSON.
func (p *Parser) json() {
	switch {
	case p.isMark():
		p.mark()
	case p.token().literal == String:
		p.skip(1)
	default:
		p.Unexpected("a string or a mark")
	}
	if p.Word("default") && !p.Word("null") {
		p.Words("unset")
	}
}

// using takes USING TIMESTAMP t AND TTL t, if it comes next.
func (p *Parser) using() (u Using) {
	for more := p.Word("using"); more; more = p.Word("and") {
		field := &u.TTL
		if p.Word("timestamp") {
			field = &u.Timestamp
		} else {
			p.Words("ttl")
		}
		if *field != nil {
			p.invalid("TIMESTAMP or TTL is given twice after USING")
		}
		*field = p.integer()
	}
	return u
}

func (p *Parser) update() *Update {
	s := &Update{Table: p.Name(), Using: p.using()}
	p.Words("set")
	for more := true; more; more = p.sign(",") {
		a := p.assignment()
		for i := range s.Set {
			if !compatible(&s.Set[i], &a) {
				p.syntax("Multiple incompatible setting of column " + a.Target.Column)
			}
		}
		s.Set = append(s.Set, a)
	}
	p.Words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// compatible says whether two assignments can be in one UPDATE.
func compatible(a, b *Assignment) bool {
	switch {
	case a.Target.Column != b.Target.Column:
		return true
	case whole(a), whole(b):
		return false
	}
	return a.Target.Field == "" || a.Target.Field != b.Target.Field
}

// whole says whether an assignment sets all of a column.
func whole(a *Assignment) bool {
	return a.Operator == Assign && a.Target.Key == nil && a.Target.Field == ""
}

func (p *Parser) assignment() Assignment {
	a := Assignment{Target: p.target()}
	switch plain := a.Target.Key == nil && a.Target.Field == ""; {
	case plain && p.sign("+="):
		a.Operator = Add
	case plain && p.sign("-="):
		a.Operator = Remove
	default:
		p.expect("=")
		if plain {
			p.value(&a)
			return a
		}
	}
	a.Value = p.given()
	return a
}

// given takes a value, or a reference in a transaction.
func (p *Parser) given() Term {
	if p.isReference() {
		return p.columnReference()
	}
	return p.term()
}

// value takes what follows c =.
func (p *Parser) value(a *Assignment) {
	next := p.ahead(1)
	switch {
	case !p.isName(0):
	case p.isSign(1, "+", "-"):
		p.same(a.Target.Column, "X "+next.text+" <value>")
		p.skip(1)
		a.Operator = map[string]Operator{"+": Add, "-": Remove}[next.text]
		a.Value = p.term()
		return
	case next.literal == Integer: // c -3 is a name and a number
		p.same(a.Target.Column, "X - <value>")
		a.Operator, a.Value = Add, p.term()
		return
	case p.isReference():
		a.Value = p.columnReference()
		return
	}
	a.Value = p.simpleTerm()
	if p.isSign(0, "+") && p.isName(1) && !p.isSign(2, "(") {
		p.skip(1)
		a.Operator = Prepend
		p.same(a.Target.Column, "<value> + X")
	}
	for p.arithmetic() {
		p.simpleTerm()
	}
}

// same takes a name, which must be that of the column.
func (p *Parser) same(column, form string) {
	if p.token().text != column {
		p.syntax(fmt.Sprintf("Only expressions of the form X = %s are supported.", form))
		return
	}
	p.skip(1)
}

// target takes a column, column[key] or column.field.
func (p *Parser) target() Target {
	t := Target{Column: p.column()}
	switch {
	case p.sign("["):
		t.Key = p.key()
	case p.sign("."):
		t.Field = p.Identifier()
	}
	return t
}

func (p *Parser) deletion() *Delete {
	s := &Delete{}
	if !p.IsWord(0, "from") {
		s.Columns = Several(p, ",", p.target)
	}
	p.Words("from")
	s.From = p.Name()
	if p.Clause("using", "timestamp") {
		s.Using.Timestamp = p.integer()
	}
	p.Words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// conditions takes IF EXISTS or IF with conditions, if it comes next.
func (p *Parser) conditions() (exists bool, conditions []Relation) {
	if !p.Word("if") {
		return false, nil
	}
	// A column may be named exists.
	if p.IsWord(0, "exists") && (p.ahead(1).kind != sign || p.isSign(1, ";")) && !p.IsWord(1, "in") && !p.IsWord(1, "contains") {
		p.skip(1)
		return true, nil
	}
	return false, Several(p, "and", p.condition)
}

// batch takes what follows BEGIN.
func (p *Parser) batch() *Batch {
	s := &Batch{}
	switch {
	case p.Word("unlogged"):
		s.Kind = Unlogged
	case p.Word("counter"):
		s.Kind = Counter
	}
	p.Words("batch")
	s.Using = p.using()
	for p.isModification() {
		from := p.at
		s.Statements = append(s.Statements, p.modification())
		if p.script {
			s.Spans = append(s.Spans, p.span(from))
		}
		p.sign(";")
	}
	p.Words("apply", "batch")
	return s
}
