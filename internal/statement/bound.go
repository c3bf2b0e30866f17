package statement

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
)

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
