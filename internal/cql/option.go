package cql

import (
	"slices"
	"strconv"
	"strings"
)

// Options takes WITH name = value AND ..., if it comes next.
func (p *Parser) Options() (os []Option) {
	for more := p.Word("with"); more; more = p.Word("and") {
		os = append(os, p.option(os))
	}
	return os
}

// tableOptions takes WITH of a table or a view, if it comes next.
func (p *Parser) tableOptions() (order []Order, options []Option) {
	for more := p.Word("with"); more; more = p.Word("and") {
		switch {
		case p.IsWord(0, "compact") && p.IsWord(1, "storage"):
			p.refuse("COMPACT STORAGE tables are not allowed starting with version 4.0")
		case p.IsWord(0, "clustering") && p.IsWord(1, "order"):
			p.Words("clustering", "order", "by")
			order = append(order, bracketed(p, p.clusteringOrder)...)
		default:
			options = append(options, p.option(options))
		}
	}
	return order, options
}

// clusteringOrder takes column ASC or column DESC; one of them must be there.
func (p *Parser) clusteringOrder() Order {
	o := Order{Column: p.Identifier(), Descending: p.Word("desc")}
	if !o.Descending {
		p.Words("asc")
	}
	return o
}

// option takes name = value, which others does not have yet.
func (p *Parser) option(others []Option) Option {
	o := Option{Name: p.Identifier()}
	for i := range others {
		if others[i].Name == o.Name {
			p.either("Multiple definition for property '"+o.Name+"'", "option "+o.Name+" is set twice")
		}
	}
	p.expect("=")
	p.optionValue(&o)
	return o
}

// optionValue takes what follows the =.
func (p *Parser) optionValue(o *Option) {
	if p.sign("{") {
		o.Map = p.properties()
		return
	}
	o.Kind = p.token().literal
	o.Text = p.property()
}

// properties takes the entries of a map of constants, after its brace.
func (p *Parser) properties() map[string]string {
	m := map[string]string{}
	for more := !p.isSign(0, "}"); more; more = p.sign(",") {
		key := p.property()
		p.expect(":")
		if _, ok := m[key]; ok {
			p.either("Multiple definition for property "+key, "entry "+strconv.Quote(key)+" is set twice")
		}
		m[key] = p.property()
	}
	p.expect("}")
	return m
}

// property takes a constant of an option, as its text.
func (p *Parser) property() string {
	if p.isMark() {
		p.syntax("bind variables are not supported in DDL queries")
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

// KeyspaceAndOptions takes a keyspace and WITH, which must come next.
func (p *Parser) KeyspaceAndOptions(s *CreateKeyspace) {
	s.Keyspace = p.Keyspace()
	s.Durable, s.KeepDurable = true, true
	if !p.IsWord(0, "with") {
		p.Words("with")
	}
	for _, o := range p.Options() {
		switch {
		case o.Name == "replication" && o.Map != nil:
			s.Replication = o.Map
		case o.Name == "durable_writes" && o.Map == nil: // as Cassandra reads what is true or false
			s.Durable, s.KeepDurable = slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(o.Text)), false
		case o.Name == "replication", o.Name == "durable_writes":
			p.refuse("Invalid value for property '" + o.Name + "'")
		default:
			p.refuse("Unknown property '" + o.Name + "'")
		}
	}
}
