package cql

import (
	"regexp"
	"strings"
)

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

// The rules of [IsTable] and [IsColumn], for messages.
const (
	ColumnRule = "lower-case letters, digits and _, a letter first, no reserved word of CQL"
	TableRule  = ColumnRule + ", at most 48"
)

var unquoted = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// IsTable says whether name can be that of a table or a keyspace, without quotes, in every version of Cassandra from
// 3.11 to 5.0. Names that go into statements are compared with it, so nothing else gets in.
func IsTable(name string) bool { return len(name) <= 48 && IsColumn(name) }

// IsColumn says the same of the name of a column.
func IsColumn(name string) bool {
	return unquoted.MatchString(name) && !reserved[name] && !reservedOnce[name] && !literals[name]
}

// Quote is a name as written in CQL: without quotes where it can.
func Quote(name string) string {
	if IsColumn(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Literal is a text as written in CQL.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Name is the name of a table, a type or an index. Keyspace is empty where none is written. Unquoted names are in
// lower case.
type Name struct{ Keyspace, Name string }

// String is the name as written in CQL.
func (n Name) String() string {
	if n.Keyspace == "" {
		return Quote(n.Name)
	}
	return Quote(n.Keyspace) + "." + Quote(n.Name)
}
