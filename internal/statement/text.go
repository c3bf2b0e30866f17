package statement

import (
	"slices"
	"strings"
)

// Names under which the values of USING clauses are bound. The brackets keep them apart from columns.
const (
	TimestampName = "[timestamp]"
	TTLName       = "[ttl]"
)

// Qualified is the name of a table in CQL text. An empty keyspace is the keyspace of the session.
func Qualified(keyspace, table string) string {
	if keyspace == "" {
		return table
	}
	return keyspace + "." + table
}

// PutText compiles a Put, with the names of what is to be bound.
func PutText(qualified string, columns []string, ttl bool) (text string, names []string) {
	marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	using, names := using(ttl)
	return "INSERT INTO " + qualified + " (" + strings.Join(columns, ",") + ") VALUES (" + marks + ")" + using, slices.Concat(columns, names)
}

// RemoveText compiles a Remove. It and [PutText] make also what comes out of storage.
func RemoveText(qualified string, keys []string) (text string, names []string) {
	using, names := using(false)
	return "DELETE FROM " + qualified + using + Where(keys), slices.Concat(names, keys)
}

// using is the clause of a write, and the names of what is bound to it.
func using(ttl bool) (text string, names []string) {
	if ttl {
		return " USING TTL ? AND TIMESTAMP ?", []string{TTLName, TimestampName}
	}
	return " USING TIMESTAMP ?", []string{TimestampName}
}

// Where is the clause of the row under a key.
func Where(keys []string) string { return " WHERE " + strings.Join(keys, "=? AND ") + "=?" }

// IncrementText compiles an Increment.
func IncrementText(qualified string, counters, keys []string) (text string, names []string) {
	set := make([]string, len(counters))
	for i, c := range counters {
		set[i] = c + "=" + c + "+?"
	}
	return "UPDATE " + qualified + " SET " + strings.Join(set, ",") + Where(keys), slices.Concat(counters, keys)
}
