// Package cqlname says which names can stand in CQL text without quotes. Names that go into statements are held against
// it, so nothing else gets in.
package cqlname

import (
	"regexp"
	"slices"
	"strings"
)

// The rules, for messages.
const (
	ColumnRule = "lower-case letters, digits and _, a letter first, no reserved word of CQL"
	TableRule  = ColumnRule + ", at most 48"
)

var (
	table  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	column = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

	// reserved are the words that some version of Cassandra from 3.11 to 5.0 does not accept as an unquoted name
	// (org.apache.cassandra.cql3, ReservedKeywords).
	reserved = strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create default delete desc
		describe drop entries execute from full grant if in index infinity insert into is keyspace limit materialized
		mbean mbeans modify nan norecursive not null of on or order primary rename replace revoke schema select set table to
		token truncate unlogged unset update use using view where with`)
)

// Table says whether name can be that of a table or a keyspace.
func Table(name string) bool { return table.MatchString(name) && !slices.Contains(reserved, name) }

// Column says whether name can be that of a column.
func Column(name string) bool { return column.MatchString(name) && !slices.Contains(reserved, name) }
