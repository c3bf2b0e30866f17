package cql

import "fmt"

// modification takes INSERT, UPDATE or DELETE.
func (p *parser) modification() Statement {
	switch {
	case p.word("insert"):
		return p.insert()
	case p.word("update"):
		return p.update()
	case p.word("delete"):
		return p.deletion()
	}
	p.unexpected("INSERT, UPDATE or DELETE")
	return nil
}

func (p *parser) insert() *Insert {
	p.words("into")
	s := &Insert{Into: p.name()}
	if p.word("json") && p.beyond("INSERT JSON") {
		p.json()
	} else {
		s.Columns = p.columns()
		p.words("values")
		p.expect("(")
		if p.isSign(0, ")") {
			p.unexpected("a value")
		}
		s.Values = p.terms(")", len(s.Columns))
	}
	s.IfNotExists = p.ifNotExists()
	s.Using = p.using()
	if p.err == nil && len(s.Columns) != len(s.Values) {
		p.invalid("Unmatched column names/values")
	}
	return s
}

// json takes what follows INSERT INTO t JSON.
func (p *parser) json() {
	switch {
	case p.isMark():
		p.mark()
	case p.token().kind == literalString:
		p.skip(1)
	default:
		p.unexpected("a string or a mark")
	}
	if p.word("default") && !p.word("null") {
		p.words("unset")
	}
}

// using takes USING TIMESTAMP t AND TTL t, if it comes next.
func (p *parser) using() Using {
	var u Using
	if !p.word("using") {
		return u
	}
	for {
		field := &u.TTL
		if p.word("timestamp") {
			field = &u.Timestamp
		} else {
			p.words("ttl")
		}
		if *field != nil {
			p.invalid("TIMESTAMP or TTL is given twice after USING")
		}
		*field = p.integer()
		if !p.word("and") {
			return u
		}
	}
}

func (p *parser) update() *Update {
	s := &Update{Table: p.name(), Using: p.using()}
	p.words("set")
	for {
		a := p.assignment()
		for i := range s.Set {
			if !compatible(&s.Set[i], &a) {
				p.syntax("Multiple incompatible setting of column " + a.Target.Column)
			}
		}
		s.Set = append(s.Set, a)
		if !p.sign(",") {
			break
		}
	}
	p.words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// compatible says whether two assignments can be in one UPDATE.
func compatible(a, b *Assignment) bool {
	if a.Target.Column != b.Target.Column {
		return true
	}
	if whole(a) || whole(b) {
		return false
	}
	return a.Target.Field == "" || a.Target.Field != b.Target.Field
}

// whole says whether an assignment sets all of a column.
func whole(a *Assignment) bool {
	return a.Operator == Assign && a.Target.Key == nil && a.Target.Field == ""
}

func (p *parser) assignment() Assignment {
	a := Assignment{Target: p.target()}
	if a.Target.Key != nil || a.Target.Field != "" {
		p.expect("=")
		a.Value = p.term()
		return a
	}
	switch {
	case p.sign("+="):
		a.Operator, a.Value = Add, p.term()
	case p.sign("-="):
		a.Operator, a.Value = Remove, p.term()
	default:
		p.expect("=")
		p.value(&a)
	}
	return a
}

// value takes what follows c =.
func (p *parser) value(a *Assignment) {
	if p.isName(0) {
		switch {
		case p.isSign(1, "+"):
			p.same(a.Target.Column, "X + <value>")
			p.skip(1)
			a.Operator, a.Value = Add, p.term()
			return
		case p.isSign(1, "-"):
			p.same(a.Target.Column, "X - <value>")
			p.skip(1)
			a.Operator, a.Value = Remove, p.term()
			return
		case p.ahead(1).kind == literalInteger: // c -3 is a name and a number
			p.same(a.Target.Column, "X - <value>")
			a.Operator, a.Value = Add, p.term()
			return
		}
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
func (p *parser) same(column, form string) {
	if p.token().text != column {
		p.syntax(fmt.Sprintf("Only expressions of the form X = %s are supported.", form))
		return
	}
	p.skip(1)
}

// target takes a column, column[key] or column.field.
func (p *parser) target() Target {
	t := Target{Column: p.column()}
	switch {
	case p.sign("["):
		t.Key = p.key()
	case p.sign("."):
		t.Field = p.identifier()
	}
	return t
}

func (p *parser) deletion() *Delete {
	s := &Delete{}
	if !p.isWord(0, "from") {
		s.Columns = []Target{p.target()}
		for p.sign(",") {
			s.Columns = append(s.Columns, p.target())
		}
	}
	p.words("from")
	s.From = p.name()
	if p.word("using") {
		p.words("timestamp")
		s.Using.Timestamp = p.integer()
	}
	p.words("where")
	s.Where = p.where()
	s.IfExists, s.If = p.conditions()
	return s
}

// conditions takes IF EXISTS or IF with conditions, if it comes next.
func (p *parser) conditions() (exists bool, conditions []Relation) {
	if !p.word("if") {
		return false, nil
	}
	// A column may be named exists.
	if p.isWord(0, "exists") && (p.ahead(1).kind != sign || p.isSign(1, ";")) && !p.isWord(1, "in") && !p.isWord(1, "contains") {
		p.skip(1)
		return true, nil
	}
	conditions = []Relation{p.condition()}
	for p.word("and") {
		conditions = append(conditions, p.condition())
	}
	return false, conditions
}

// batch takes what follows BEGIN.
func (p *parser) batch() *Batch {
	s := &Batch{}
	switch {
	case p.word("unlogged"):
		s.Kind = Unlogged
	case p.word("counter"):
		s.Kind = Counter
	}
	p.words("batch")
	s.Using = p.using()
	for p.isWord(0, "insert") || p.isWord(0, "update") || p.isWord(0, "delete") {
		from := p.at
		s.Statements = append(s.Statements, p.modification())
		if p.script {
			s.Spans = append(s.Spans, p.span(from))
		}
		p.sign(";")
	}
	p.words("apply", "batch")
	return s
}
