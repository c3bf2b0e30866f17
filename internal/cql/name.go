package cql

import "strings"

// set is a set of the words of a text.
func set(text string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		words[w] = true
	}
	return words
}

// reserved are the words that are no names unless quoted (NaN, Infinity, true and false are literals).
var reserved = set(`add allow alter and apply asc authorize batch begin by columnfamily create delete desc
		describe drop entries execute from full grant if in index insert into is keyspace limit materialized modify
		norecursive not null of on or order primary rename revoke schema select set table to token truncate unlogged update
		use using view where with`)

// literals are words that are values, and reservedOnce are reserved in one of the versions from 3.11 to 4.1
// (org.apache.cassandra.cql3, ReservedKeywords).
var literals, reservedOnce = set("true false nan infinity"), set("default mbean mbeans replace unset")

// isName says whether the token n later is a name.
func (p *parser) isName(n int) bool {
	t := p.ahead(n)
	return t.kind == quoted && t.text != "" || t.kind == word && !reserved[t.text]
}

// identifier takes a name.
func (p *parser) identifier() string {
	if !p.isName(0) {
		want := "a name"
		if t := p.token(); reserved[t.text] && t.kind == word {
			want = "a name, and a reserved word only in double quotes"
		}
		p.unexpected(want)
		return ""
	}
	t := p.token()
	p.skip(1)
	return t.text
}

// column takes the name of a column that exists: tables of old have one without a name.
func (p *parser) column() string {
	if t := p.token(); t.kind == quoted && t.text == "" {
		p.skip(1)
		return ""
	}
	return p.identifier()
}

// name takes the name of a table, a view or an index.
func (p *parser) name() Name {
	p.noMark("table")
	n := Name{Name: p.identifier()}
	if p.sign(".") {
		p.noMark("table")
		n = Name{Keyspace: n.Name, Name: p.identifier()}
	}
	return n
}

// keyspace takes the name of a keyspace.
func (p *parser) keyspace() string {
	p.noMark("keyspace")
	return p.identifier()
}

func (p *parser) noMark(what string) {
	if p.isSign(0, "?") {
		p.syntax("Bind variables cannot be used for " + what + " names")
	}
}

// table takes TABLE, if it comes next.
func (p *parser) table() bool { return p.word("table") || p.word("columnfamily") }
