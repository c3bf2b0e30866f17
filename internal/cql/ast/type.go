package ast

import (
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/each"
)

// Canonical is the type as system_schema spells it: text instead of varchar, no keyspaces, and frozen all that is in
// something frozen.
func Canonical(t *cql.Type) *cql.Type { return canonical(t, false) }

func canonical(t *cql.Type, inside bool) *cql.Type {
	out := &cql.Type{Kind: t.Kind, Name: t.Name, Frozen: t.Frozen}
	switch t.Kind {
	case cql.Native:
		if t.Name == "varchar" {
			out.Name = "text"
		}
	case cql.TupleType:
		out.Frozen = true // always, whatever is written
	case cql.Collection, cql.UserType:
		out.Frozen = t.Frozen || inside
	case cql.Class, cql.Vector: // frozen means nothing of a vector, and is not kept
		out.Frozen = false
	case cql.Dimension:
	}
	out.Args = each.Of(t.Args, func(a *cql.Type) *cql.Type { return canonical(a, out.Frozen) })
	return out
}

// Thawed is the type without frozen.
func Thawed(t *cql.Type) *cql.Type {
	out := *t
	out.Frozen, out.Args = false, each.Of(t.Args, Thawed)
	return &out
}

// TypeParts takes a type, as text, apart: its outermost name, whether it is frozen, and its arguments, for example map,
// false, [text int] of map<text, int>. The arguments of a vector are the type and the number of its elements.
func TypeParts(text string) (name string, frozen bool, args []string) {
	t, err := cql.ParseType(text)
	if err != nil {
		return text, false, nil
	}
	t = Canonical(t)
	if t.Kind == cql.Class {
		return t.String(), false, nil
	}
	return t.Name, t.Frozen, each.Of(t.Args, (*cql.Type).String)
}

// MultiCell says whether a value is stored as many cells, so that overwriting one costs a tombstone: a collection or a
// user-defined type that is not frozen.
func MultiCell(t *cql.Type) bool {
	return !t.Frozen && (t.Kind == cql.Collection || t.Kind == cql.UserType)
}

// MultiCellText is [MultiCell] of a type as text.
func MultiCellText(text string) bool {
	t, err := cql.ParseType(text)
	return err == nil && MultiCell(t)
}

// Users are the names of the user-defined types in the type.
func Users(t *cql.Type) []string {
	var out []string
	if t.Kind == cql.UserType {
		out = append(out, t.Name)
	}
	for _, a := range t.Args {
		out = append(out, Users(a)...)
	}
	return out
}
