package ast

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
)

// Transaction is BEGIN TRANSACTION of Cassandra 6, of a [Script] only. Of its IF and of a SELECT without FROM it has
// the references.
type Transaction struct {
	Lets       []string    // the names of LET, whose SELECTs are the first of the statements; not nil
	Statements []Statement // Select, Insert, Update, Delete
	Spans      []Span      // of the statements
	References []Term      // also those that are values in the statements
	Places     []Span      // of the references
}

// transaction takes what follows BEGIN TRANSACTION.
func (p *parser) transaction() *Transaction {
	s := &Transaction{Lets: []string{}}
	p.outer = s
	defer func() { p.outer = nil }()
	for p.Word("let") {
		if slices.Contains(s.Lets, p.Token().Text) {
			p.Unexpected("a name that no other LET has")
		}
		name := p.Identifier()
		p.Expect("=")
		p.Expect("(")
		p.part(p.let)
		p.Expect(")")
		p.Expect(";")
		s.Lets = append(s.Lets, name)
	}
	reads := p.IsWord(0, "select")
	if reads {
		if p.isFrom() {
			p.part(p.statement)
		} else {
			p.Skip(1)
			several(p, ",", p.columnReference)
		}
		p.Expect(";")
	}
	conditional := p.Word("if")
	if conditional {
		several(p, "and", p.transactionCondition)
		p.words("then")
	}
	read := len(s.Statements)
	for p.isModification() {
		p.part(p.modification)
		p.Expect(";")
	}
	if len(s.Statements) == read && (conditional || !reads) {
		p.Unexpected("INSERT, UPDATE or DELETE")
	}
	if conditional {
		p.words("end", "if")
	}
	p.words("commit", "transaction")
	return s
}

// part takes a statement of the transaction.
func (p *parser) part(take func() Statement) {
	from := p.At
	p.outer.Statements = append(p.outer.Statements, take())
	p.outer.Spans = append(p.outer.Spans, p.span(from))
}

// let takes the SELECT of a LET.
func (p *parser) let() Statement {
	s := &Select{}
	p.words("select")
	if !p.Sign("*") {
		s.Columns = several(p, ",", func() Selector { return Selector{Term: p.selector()} })
	}
	p.words("from")
	s.From = p.name()
	p.words("where")
	s.Where = p.where()
	if p.Word("limit") {
		s.Limit = p.integer()
	}
	return s
}

// isFrom says whether the SELECT that comes next has a FROM.
func (p *parser) isFrom() bool {
	words := strings.Fields("from if insert update delete")
	n := 1
	for p.Ahead(n).Kind != cql.End && !p.IsSign(n, ";") && !slices.ContainsFunc(words, func(w string) bool {
		return p.IsWord(n, w)
	}) {
		n++
	}
	return p.IsWord(n, "from")
}

// transactionCondition takes one condition of the transaction's IF: one side is a reference, the other one a value.
func (p *parser) transactionCondition() Term {
	if !p.isReference() {
		p.term()
		if !p.IsSign(0, comparisons...) {
			p.Unexpected("a comparison")
		}
		p.Skip(1)
		return p.columnReference()
	}
	t := p.reference()
	if t.Fields != nil && !p.IsWord(0, "is") {
		p.operator(&Relation{})
		return t
	}
	p.words("is")
	p.Word("not")
	p.words("null")
	return t
}

// isReference says whether a reference comes next.
func (p *parser) isReference() bool {
	return p.outer != nil && p.IsName(0) && !p.IsSign(1, "(") && !p.isFunction()
}

// columnReference takes a reference to a column.
func (p *parser) columnReference() Term {
	t := p.reference()
	if t.Fields == nil {
		p.Expect(".")
	}
	return t
}

// reference takes the name of a LET, or a column of one. An element or a field of that is passed over.
func (p *parser) reference() Term {
	from := p.At
	let := slices.Index(p.outer.Lets, p.Token().Text)
	if let < 0 && p.outer.Lets != nil {
		p.Unexpected("the name of a LET")
	}
	t := Term{Kind: Reference, Text: p.Identifier()}
	if p.Sign(".") {
		if let >= 0 && !reads(p.outer.Statements[let].(*Select), p.Token().Text) {
			p.Unexpected("a column that LET " + t.Text + " reads")
		}
		t.Fields = []string{p.Identifier()}
		p.noPath()
	}
	p.outer.References, p.outer.Places = append(p.outer.References, t), append(p.outer.Places, p.span(from))
	return t
}

// reads says whether a SELECT has a column.
func reads(s *Select, column string) bool {
	return s.Columns == nil || slices.ContainsFunc(s.Columns, func(c Selector) bool { return hasColumn(c.Term, column) })
}

// hasColumn says whether a term of a selection has a column.
func hasColumn(t Term, column string) bool {
	return t.Kind == Column && t.Text == column || slices.ContainsFunc(t.Elems, func(t Term) bool {
		return hasColumn(t, column)
	})
}

// Bound is a statement of a transaction with a mark for each reference, as it can be prepared without the transaction.
func Bound(text string) string {
	s, _ := one(text)
	if s == nil {
		return text
	}
	for _, at := range slices.Backward(s.p.outer.Places) {
		text = text[:at.From] + "?" + text[at.To:]
	}
	return text
}

// TransactionalMode are the table options transactional_mode and transactional_migration_from in a CREATE TABLE
// statement as DESCRIBE gives it: no table of system_schema has them (seen in Cassandra 6.0-alpha2). They are empty
// where the statement does not have them.
func TransactionalMode(create string) (mode, from string) {
	table, _ := First(create).(*CreateTable)
	if table == nil {
		return "", ""
	}
	for _, o := range table.Options {
		switch o.Name {
		case "transactional_mode":
			mode = o.Text
		case "transactional_migration_from":
			from = o.Text
		}
	}
	return mode, from
}
