package ast

import (
	"slices"
	"strconv"
	"strings"
)

// options takes WITH name = value AND ..., if it comes next.
func (p *parser) options() (os []Option) {
	for more := p.Word("with"); more; more = p.Word("and") {
		os = append(os, p.option(os))
	}
	return os
}

// CompactStorage is the name of the option COMPACT STORAGE, which has no value.
const CompactStorage = "COMPACT STORAGE"

// tableOptions takes WITH of a table or a view, if it comes next.
func (p *parser) tableOptions() (order []Order, options []Option) {
	for more := p.Word("with"); more; more = p.Word("and") {
		switch {
		case p.IsWord(0, "compact") && p.IsWord(1, "storage") && p.beyond("COMPACT STORAGE"):
			p.Skip(2)
			options = append(options, Option{Name: CompactStorage, Kind: Boolean, Text: "true"})
		case p.IsWord(0, "clustering") && p.IsWord(1, "order"):
			p.words("clustering", "order", "by")
			order = append(order, bracketed(p, p.clusteringOrder)...)
		case p.IsWord(0, "dropped") && p.IsWord(1, "column") && p.beyond("DROPPED COLUMN RECORD"):
			p.words("dropped", "column", "record")
			p.definition()
			p.words("using")
			p.dropTime()
		default:
			options = append(options, p.option(options))
		}
	}
	return order, options
}

// clusteringOrder takes column ASC or column DESC; one of them must be there.
func (p *parser) clusteringOrder() Order {
	o := Order{Column: p.Identifier(), Descending: p.Word("desc")}
	if !o.Descending {
		p.words("asc")
	}
	return o
}

// option takes name = value, which others does not have yet.
func (p *parser) option(others []Option) Option {
	o := Option{Name: p.Identifier()}
	for i := range others {
		if others[i].Name == o.Name {
			p.Either("Multiple definition for property '"+o.Name+"'", "option "+o.Name+" is set twice")
		}
	}
	p.Expect("=")
	p.optionValue(&o)
	return o
}

// optionValue takes what follows the =.
func (p *parser) optionValue(o *Option) {
	if p.Sign("{") {
		o.Map = p.properties()
		return
	}
	o.Kind = p.Token().Literal
	o.Text = p.property()
}

// properties takes the entries of a map of constants, after its brace.
func (p *parser) properties() map[string]string {
	m := map[string]string{}
	for more := !p.IsSign(0, "}"); more; more = p.Sign(",") {
		key := p.property()
		p.Expect(":")
		if _, ok := m[key]; ok {
			p.Either("Multiple definition for property "+key, "entry "+strconv.Quote(key)+" is set twice")
		}
		m[key] = p.property()
	}
	p.Expect("}")
	return m
}

// property takes a constant of an option, as its text.
func (p *parser) property() string {
	if p.isTemplate() {
		return p.Identifier()
	}
	if p.isMark() {
		p.Syntax("bind variables are not supported in DDL queries")
	}
	if !p.isLiteral() {
		p.Unexpected("a literal")
		return ""
	}
	t := p.literal()
	if t.Kind == Blob {
		return "0x" + t.Text
	}
	return t.Text
}

// keyspaceAndOptions takes a keyspace and WITH, which must come next, for s.
func (p *parser) keyspaceAndOptions(s *CreateKeyspace) *CreateKeyspace {
	s.Keyspace = p.Keyspace()
	s.Durable, s.KeepDurable = true, true
	if !p.IsWord(0, "with") {
		p.words("with")
	}
	for _, o := range p.options() {
		switch {
		case o.Name == "replication" && o.Map != nil:
			s.Replication = o.Map
		case o.Name == "durable_writes" && o.Map == nil: // as Cassandra reads what is true or false
			s.Durable, s.KeepDurable = slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(o.Text)), false
		case o.Name == "replication" && o.Kind == Mark: // a template
		case o.Name == "replication", o.Name == "durable_writes":
			p.refuse("Invalid value for property '" + o.Name + "'")
		case p.Script:
			s.Unknown = append(s.Unknown, o.Name)
		default:
			p.refuse("Unknown property '" + o.Name + "'")
		}
	}
	return s
}
