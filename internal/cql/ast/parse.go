package ast

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
)

// Parse reads one statement; semicolons may follow it. The error is a [SyntaxError], or a [InvalidError].
func Parse(text string) (s Statement, err error) {
	if err := with(text, false, func(core *reader) {
		p := &parser{reader: core}
		s = p.statement()
		for p.Sign(";") {
		}
		p.Ended()
	}); err != nil {
		return nil, err
	}
	return s, nil
}

// parser reads statements from tokens.
type parser struct {
	*reader

	marks   int
	selects bool // there may be columns in a term
	// outer is the transaction whose statements are read, nil outside of one. Without Lets any name may name a LET.
	outer *Transaction
}

func (p *parser) statement() Statement {
	switch {
	case p.Word("select"):
		return p.selectStatement()
	case p.isModification():
		return p.modification()
	case p.Word("begin"):
		if p.Word("transaction") && p.beyond("BEGIN TRANSACTION") {
			return p.transaction()
		}
		return p.batch()
	case p.Word("truncate"):
		p.table()
		return &Truncate{Table: p.name()}
	case p.Word("use"):
		return &Use{Keyspace: p.Keyspace()}
	case p.Word("create"):
		return p.create()
	case p.Word("alter"):
		return p.alter()
	case p.Word("drop"):
		return p.drop()
	}
	p.others("", "a statement", "grant", "revoke", "list", "describe", "desc")
	return nil
}

// others fails, after a verb: at CQL that has no statement here, and at what is not CQL.
func (p *parser) others(verb, want string, known ...string) {
	if t := p.Token(); t.Kind == cql.Word && slices.Contains(known, t.Text) {
		p.unsupported(verb + strings.ToUpper(t.Text))
	}
	p.Unexpected(want)
}
