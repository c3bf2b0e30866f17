package cql

import "strings"

// WordSet is a set of the words of a text.
func WordSet(text string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		words[w] = true
	}
	return words
}

// reserved are the words that are no names unless quoted (NaN, Infinity, true and false are literals).
var reserved = WordSet(`add allow alter and apply asc authorize batch begin by columnfamily create delete desc
		describe drop entries execute from full grant if in index insert into is keyspace limit materialized modify
		norecursive not null of on or order primary rename revoke schema select set table to token truncate unlogged update
		use using view where with`)

// literals are words that are values, and reservedOnce are reserved in one of the versions from 3.11 to 4.1
// (org.apache.cassandra.cql3, ReservedKeywords).
var literals, reservedOnce = WordSet("true false nan infinity"), WordSet("default mbean mbeans replace unset")

// IsName says whether the token n later is a name.
func (p *Parser) IsName(n int) bool {
	t := p.Ahead(n)
	return t.Kind == Quoted && t.Text != "" || t.Kind == Word && !reserved[t.Text]
}

// Identifier takes a name.
func (p *Parser) Identifier() string {
	if !p.IsName(0) {
		want := "a name"
		if t := p.Token(); reserved[t.Text] && t.Kind == Word {
			want = "a name, and a reserved word only in double quotes"
		}
		p.Unexpected(want)
		return ""
	}
	t := p.Token()
	p.Skip(1)
	return t.Text
}

// Keyspace takes the name of a keyspace.
func (p *Parser) Keyspace() string {
	p.NoMark("keyspace")
	return p.Identifier()
}

// NoMark fails at a mark, which cannot stand for a name.
func (p *Parser) NoMark(what string) {
	if p.IsSign(0, "?") {
		p.Syntax("Bind variables cannot be used for " + what + " names")
	}
}
