package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
)

// CQL returns the schema as text: a CREATE for everything in it, in an order in which they can be executed. The same
// schema gives the same text, and [Parse] reads it back. If a name or a text contains /* or */, a comment at the start
// says that cqlsh would misread it. Other comments list what Unread has.
func (s *Schema) CQL() string {
	var b strings.Builder
	statements := s.Statements()
	if slices.ContainsFunc(statements, marksComment) {
		b.WriteString(comment("Not for cqlsh: names or texts here have the marks of a comment in them, which it obeys even between quotes.") + "\n")
	}
	for _, u := range s.Unread {
		b.WriteString(comment(strings.TrimSpace("Left out: "+u.At.File) + " " + u.Reason))
	}
	for i, statement := range statements {
		if i > 0 || len(s.Unread) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

// Statements returns the statements of [Schema.CQL], without semicolons.
func (s *Schema) Statements() []string {
	return each.Of(s.creates(false), func(c create) string { return c.text })
}

// create is a CREATE statement.
type create struct {
	what what
	text string
}

// what is something that has a name. Things of different kinds can have the same name.
type what struct {
	kind kind
	id   ID // the name of a keyspace is ID{Keyspace: name}
}

type kind int

const (
	aKeyspace kind = iota
	aType
	aTable // or a materialized view: Cassandra rejects one of each with the same name
	anIndex
)

// creates renders everything, in the order of dependence.
func (s *Schema) creates(ifNotExists bool) []create {
	head := func(kind string) string {
		if ifNotExists {
			return "CREATE " + kind + " IF NOT EXISTS "
		}
		return "CREATE " + kind + " "
	}
	var out []create
	for _, k := range s.Keyspaces {
		if len(k.Replication) > 0 {
			out = append(out, create{what{aKeyspace, ID{Keyspace: k.Name}}, head("KEYSPACE") + k.body()})
		}
	}
	for _, t := range s.sortedTypes() {
		out = append(out, create{what{aType, t.ID}, head("TYPE") + t.body()})
	}
	for _, t := range s.Tables {
		if t.rotation == nil {
			out = append(out, create{what{aTable, t.ID}, head("TABLE") + t.body()})
		}
	}
	for _, i := range s.Indexes {
		out = append(out, create{what{anIndex, i.ID}, head(i.kind()) + i.body()})
	}
	for _, v := range s.Views {
		out = append(out, create{what{aTable, v.ID}, head("MATERIALIZED VIEW") + v.body()})
	}
	return out
}

func (k *Keyspace) body() string {
	out := cql.Quote(k.Name) + " WITH replication = " + mapLiteral(k.Replication)
	if k.NonDurable {
		out += " AND durable_writes = false"
	}
	return out
}

// sortedTypes gives the types such that each comes after those it is made of.
func (s *Schema) sortedTypes() []Type {
	var out []Type
	done := make(map[ID]bool)
	var add func(t Type)
	add = func(t Type) {
		if done[t.ID] {
			return
		}
		done[t.ID] = true
		for _, f := range t.Fields {
			typ, err := cql.ParseType(f.Type)
			if err != nil {
				continue
			}
			for _, name := range ast.Users(typ) {
				if o := named(s.Types, ID{t.Keyspace, name}); o != nil {
					add(*o)
				}
			}
		}
		out = append(out, t)
	}
	for _, t := range s.Types {
		add(t)
	}
	return out
}

func (t *Type) body() string {
	fields := each.Of(t.Fields, func(f Field) string { return "    " + f.text() })
	return t.String() + " (\n" + strings.Join(fields, ",\n") + "\n)"
}

func (t *Table) body() string { return t.String() + " " + t.Definition() }

// Definition returns what follows the name in the table's CREATE TABLE: the columns in parentheses, and the options.
func (t *Table) Definition() string {
	var b strings.Builder
	b.WriteString("(\n")
	for _, c := range t.Columns {
		b.WriteString("    " + cql.Quote(c.Name) + " " + c.Type)
		if c.Kind == Static {
			b.WriteString(" static")
		}
		if c.Mask != "" {
			b.WriteString(" MASKED WITH " + c.Mask)
		}
		b.WriteString(",\n")
	}
	b.WriteString("    PRIMARY KEY " + t.Key() + "\n)")
	options := make(map[string]string)
	maps.Copy(options, t.Options)
	if t.Fingerprint != "" {
		options[optComment] = cql.Literal(compare.Join(t.Comment(), t.Fingerprint))
	}
	return b.String() + withText(t.Columns, options)
}

// withText is WITH and what follows it, if there is anything.
func withText(columns []Column, options map[string]string) string {
	var with []string
	if order := orderText(columns); order != "" {
		with = append(with, order)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if name == ast.CompactStorage {
			with = append(with, name)
			continue
		}
		with = append(with, name+" = "+options[name])
	}
	if len(with) == 0 {
		return ""
	}
	return " WITH " + strings.Join(with, "\n    AND ")
}

// orderText is CLUSTERING ORDER BY, if it is needed.
func orderText(columns []Column) string {
	var order []string
	desc := false
	for _, c := range columns {
		if c.Kind != Clustering {
			continue
		}
		direction := " ASC"
		if c.Desc {
			direction, desc = " DESC", true
		}
		order = append(order, cql.Quote(c.Name)+direction)
	}
	if !desc {
		return ""
	}
	return "CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
}

// kind is what kind of index it is, as CREATE says it.
func (i *Index) kind() string {
	if i.Class != "" {
		return "CUSTOM INDEX"
	}
	return "INDEX"
}

func (i *Index) body() string {
	out := fmt.Sprintf("%s ON %s (%s)", cql.Quote(i.Name), ID{i.Keyspace, i.Table}, i.Target)
	if i.Class != "" {
		out += " USING " + cql.Literal(i.Class)
	}
	if len(i.Options) > 0 {
		out += " WITH OPTIONS = " + mapLiteral(i.Options)
	}
	return out
}

func (v *View) body() string {
	where := ""
	if v.Where != "" {
		where = "\n    WHERE " + v.Where
	}
	return fmt.Sprintf("%s AS\n    SELECT %s\n    FROM %s%s\n    PRIMARY KEY %s%s", v.ID, strings.Join(v.selection(), ", "),
		ID{v.Keyspace, v.Base}, where, keyText(v.Columns), withText(v.Columns, v.Options))
}

// selection is what follows SELECT.
func (v *View) selection() []string {
	if v.All {
		return []string{"*"}
	}
	return each.Of(v.Columns, func(c Column) string { return cql.Quote(c.Name) })
}
