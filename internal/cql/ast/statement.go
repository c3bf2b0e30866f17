package ast

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cql"
)

// Statement is a pointer to one of the statements below, an [AlterTable], a [Drop] or a [Transaction].
type Statement any

// Select is SELECT.
type Select struct {
	From      cql.Name
	Distinct  bool
	Columns   []Selector // nil for *
	Where     []Relation
	GroupBy   []Term // of a [Script] only
	OrderBy   []Order
	Limit     *Term // nil without
	PerLimit  *Term // PER PARTITION LIMIT, nil without
	Filtering bool  // ALLOW FILTERING
}

// Selector is what a SELECT gives in one column of its result.
type Selector struct {
	Term
	As string
}

// Order is one column of ORDER BY.
type Order struct {
	Column     string
	Descending bool
	Near       bool // ANN OF a vector: the nearest first
}

// Insert is INSERT.
type Insert struct {
	Into        cql.Name
	Columns     []string
	Values      []Term // as many as Columns
	IfNotExists bool
	Using       Using
}

// Update is UPDATE.
type Update struct {
	Table    cql.Name
	Using    Using
	Set      []Assignment
	Where    []Relation
	IfExists bool
	If       []Relation
}

// Delete is DELETE.
type Delete struct {
	From     cql.Name
	Columns  []Target // none for whole rows
	Using    Using
	Where    []Relation
	IfExists bool
	If       []Relation
}

// Batch is BEGIN BATCH ... APPLY BATCH.
type Batch struct {
	Kind       BatchKind
	Using      Using
	Statements []Statement // Insert, Update, Delete
	Spans      []Span      // of the statements, of a [Script] only
}

// BatchKind is what is between BEGIN and BATCH.
type BatchKind uint8

// The kinds of batches.
const (
	Logged BatchKind = iota
	Unlogged
	Counter
)

// Using is USING TIMESTAMP and TTL; nil without.
type Using struct{ Timestamp, TTL *Term }

// Target is a column, an element column[key] or a field column.field.
type Target struct {
	Column string
	Key    *Term
	Field  string
}

// Assignment is one assignment of SET.
type Assignment struct {
	Target   Target
	Operator Operator
	Value    Term
}

// Operator is what an assignment does with the value.
type Operator uint8

// The operators of assignments.
const (
	Assign  Operator = iota // c = v
	Add                     // c = c + v, c += v
	Remove                  // c = c - v, c -= v
	Prepend                 // c = v + c
)

// Relation is one condition of WHERE or IF.
type Relation struct {
	Columns []string // more than one in (a, b) > (?, ?)
	Tuple   bool     // they are in brackets
	Token   bool     // token(a, b)
	Key     *Term    // column[key]
	Field   string   // column.field
	// Operator is one of = != < <= > >= IN, CONTAINS, CONTAINS KEY, LIKE, IS NOT NULL, in a [Script] also EXPR.
	Operator string
	Values   []Term // one, or those of IN (...); none for IS NOT NULL
	// Marked says of IN that its values are one mark: IN ?.
	Marked bool
}

// Is says whether the relation compares its columns as a whole, and not their token, in this way.
func (r *Relation) Is(operator string) bool {
	return r.Operator == operator && r.Key == nil && !r.Token
}

// Term is a value.
type Term struct {
	Kind TermKind
	// Text is that of a literal, without quotes of a string and without 0x of a blob, or the name of a column, a function
	// or a named mark, in lower case unless quoted.
	Text string
	// Mark is the number of a mark in the statement, or the batch, from 0.
	Mark int
	// Elems are the elements of a list, set or tuple; key, value, key, value ... of a map; the values of the fields of a
	// user-defined type; the arguments of a function; what is cast; the key of column[key].
	Elems  []Term
	Fields []string // the names of the fields of a user-defined type; the one of column.field or let.column
}

// Generated says whether the value is another one each time the statement is sent.
func (t Term) Generated() bool {
	return t.Kind == Call && slices.Contains([]string{"now", "uuid", "currenttimeuuid", "currenttimestamp"}, t.Text) ||
		slices.ContainsFunc(t.Elems, Term.Generated)
}

// Truncate is TRUNCATE.
type Truncate struct{ Table cql.Name }

// Use is USE.
type Use struct{ Keyspace string }

// CreateKeyspace is CREATE KEYSPACE, or ALTER KEYSPACE with Alter.
type CreateKeyspace struct {
	Keyspace    string
	IfNotExists bool
	Alter       bool // and IfNotExists is IF EXISTS
	Replication map[string]string
	Durable     bool     // DURABLE_WRITES, true without
	KeepDurable bool     // it is not given: ALTER KEYSPACE keeps what was
	Unknown     []string // options that Cassandra does not have, in a script
}

// ColumnDefinition is a column of CREATE TABLE or ALTER TABLE.
type ColumnDefinition struct {
	Name   string
	Type   *cql.Type
	Static bool
	Mask   string // MASKED WITH in a [Script], as text; empty without
}

// CreateTable is CREATE TABLE.
type CreateTable struct {
	Table       cql.Name
	IfNotExists bool
	Columns     []ColumnDefinition
	Partition   []string // of the primary key
	Clustering  []string
	Order       []Order // CLUSTERING ORDER BY
	Options     []Option
}

// Option is name = value of WITH. A value that is a map has Map; another has Kind and Text, as of a [Term].
type Option struct {
	Name string
	Kind TermKind
	Text string
	Map  map[string]string // nil unless it is one
}

// CreateType is CREATE TYPE, or ALTER TYPE ... ADD or RENAME with Alter.
type CreateType struct {
	Type        cql.Name
	IfNotExists bool
	Alter       bool // and IfNotExists is that of ADD; of RENAME it is IF EXISTS
	IfExists    bool // of ALTER TYPE
	Fields      []ColumnDefinition
	Rename      [][2]string // from, to; in a [Script] only
}

// CreateView is CREATE MATERIALIZED VIEW. Only what matters to those who read the schema is kept.
type CreateView struct {
	View        cql.Name
	IfNotExists bool
	From        cql.Name
	Columns     []string // nil for *
	Where       []Relation
	Text        Span // of Where, of a [Script] only
	Partition   []string
	Clustering  []string
	Order       []Order
	Options     []Option
}

// CreateIndex is CREATE INDEX.
type CreateIndex struct {
	Index       string // empty: Cassandra names it
	IfNotExists bool
	Table       cql.Name
	// Targets are the columns of the index: one, and in a [Script] a custom index may be on none, or on several.
	Targets []IndexTarget
	Using   string // the class, as 'sai'; empty without
	Options map[string]string
}

// IndexTarget is a column of an index, and what of it: keys, values, entries, full; empty without.
type IndexTarget struct{ Column, Part string }

// String is the target as written in CQL.
func (t IndexTarget) String() string {
	if t.Part == "" {
		return cql.Quote(t.Column)
	}
	return t.Part + "(" + cql.Quote(t.Column) + ")"
}
