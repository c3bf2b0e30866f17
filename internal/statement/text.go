package statement

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
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
	return "INSERT INTO " + qualified + " (" + strings.Join(columns, ",") + ") VALUES (" + marks + ")" + using,
		slices.Concat(columns, names)
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

// Bound is CQL text with what is to be bound to its marks.
type Bound struct {
	Text string
	Args []any
}

// Format prints the text for every verb: printed in full a statement would show what is bound.
func (b Bound) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.Text) }

// MarshalText is the CQL text: a structured logger would show what is bound.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.Text), nil }

// Set adds the clause.
func (b Bound) Set(t Terms) Bound { return b.with(" SET ", ", ", t) }

// Where adds the clause.
func (b Bound) Where(t Terms) Bound { return b.with(" WHERE ", " AND ", t) }

// OnlyIf makes a lightweight transaction of it.
func (b Bound) OnlyIf(t Terms) Bound { return b.with(" IF ", " AND ", t) }

func (b Bound) with(clause, separator string, t Terms) Bound {
	return Bound{b.Text + clause + strings.Join(t.Texts, separator), slices.Concat(b.Args, t.Args)}
}

// InsertNew is the lightweight transaction that makes a row where there is none.
func InsertNew(table string, columns []string, args []any) Bound {
	s := Insert(table, columns, args)
	s.Text += " IF NOT EXISTS"
	return s
}

// Insert writes a row.
func Insert(table string, columns []string, args []any) Bound {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	return Bound{"INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + marks + ")", args}
}

// Terms are the terms of a SET, a WHERE or an IF, with what is bound to their marks.
type Terms struct {
	Texts []string
	Args  []any
}

// Equal adds a column that has a value.
func (t *Terms) Equal(name string, v any) {
	t.Texts, t.Args = append(t.Texts, name+" = ?"), append(t.Args, v)
}

// Null adds a column that has none.
func (t *Terms) Null(name string) { t.Texts = append(t.Texts, name+" = null") }

// KeyTerms are the terms for the row under key.
func KeyTerms(names []string, key []*cqltype.Value) (t Terms) {
	for k, name := range names {
		t.Equal(name, key[k])
	}
	return t
}
