package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/schema"
)

// kept says whether the column is one that the library keeps in base rows.
func kept(c schema.Column) bool {
	return slices.Contains(layout.KeptInBase, layout.Kept{Name: c.Name, Type: c.Type})
}

// notFrozen reports columns that are stored as several cells, lists or others, and what to do unless they are to be
// frozen.
func notFrozen(lists bool, otherwise string) func(*review, *schema.Table) {
	return func(r *review, t *schema.Table) {
		uses := r.usesOf(t)
		for _, c := range t.Columns {
			name, _, _ := ast.TypeParts(c.Type)
			if !ast.MultiCellText(c.Type) || kept(c) {
				continue
			}
			own, set := uses[c.Name], uses[""]
			if c.ReadOnly {
				set = use{}
			}
			if c.ReadOnly && own == (use{}) {
				continue
			}
			whole, parts, repeats := own.whole || set.whole, own.parts, own.repeats || set.repeats
			if lists != (name == "list" && (parts || repeats || !whole)) {
				continue
			}
			crowd := hasWord(c.Name, crowdNames) || hasWord(c.Name, heapNames)
			if parts && !lists && !whole && !crowd {
				continue // it has to be so
			}
			f := r.finding(t, "frozen<"+c.Type+">, "+otherwise, "%s is a %s that is not frozen", c.Name, name)
			switch f.Column = c.Name; {
			case !lists && crowd && (parts || !whole):
				f.Fix, f.Reason, f.Severity = "a table with a row for each", c.Name+" grows by elements, and is read as a whole", Note
			case parts && !lists:
				f.Fix, f.Severity = "write it by its elements alone: a write as a whole leaves a tombstone", Note
			case !lists && !own.updated:
				f.Severity = Note // with a row, which is seldom written again
			case whole || parts: // else nothing says how it is written
			case lists:
				f.Severity = Warning
			default:
				f.Severity = Note
			}
		}
	}
}

// heapNames are words for elements that come one by one.
var heapNames = strings.Fields("hashes items messages events orders posts comments friends contacts history transactions entries logs visits")

// use says whether a column is written as a whole, whether by its elements, and whether an UPDATE names it. repeats
// says that a whole list is written with a timestamp: when it is written again with the same one, its elements are
// there twice.
type use struct{ whole, parts, repeats, updated bool }

// usesOf are those of the columns of a table. A set of the library writes all columns as a whole, with a timestamp:
// that of no name.
func (r *review) usesOf(t *schema.Table) map[string]use {
	out := make(map[string]use)
	if slices.ContainsFunc(r.schema.Entities, func(e schema.Entity) bool { return e.Timestamped && slices.Contains(e.Tables, t.ID) }) {
		out[""] = use{whole: true, repeats: true}
	}
	for _, x := range r.sent[t] {
		for _, w := range writes(x.Statement) {
			u := out[w.column]
			u.whole, u.parts, u.repeats = u.whole || !w.part, u.parts || w.part, u.repeats || !w.part && x.Timestamped
			out[w.column] = u
		}
		for _, c := range x.Columns {
			if u := out[c]; x.Verb == "UPDATE" {
				u.updated = true
				out[c] = u
			}
		}
	}
	return out
}

func counting(t *schema.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Type == "counter" })
}

func counters(r *review) {
	for _, t := range r.tables() {
		plain := slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
			return c.Type != "counter" && (c.Kind == schema.Regular || c.Kind == schema.Static)
		})
		if counting(t) && plain {
			r.finding(t, "put the counters into a table of their own", "counters and other columns in one table, which Cassandra rejects")
		}
	}
	for _, e := range r.entities {
		i := slices.IndexFunc(e.tables, counting)
		plain := slices.ContainsFunc(e.tables, func(t *schema.Table) bool { return !counting(t) })
		if i >= 0 && plain && !e.guessed {
			r.finding(e.tables[i], "make the counters an entity of their own", "entity %s has both tables of counters and ordinary tables", e.Name)
		}
	}
	for _, b := range r.batches {
		i := slices.IndexFunc(b, func(x sent) bool { return x.counts() != b[0].counts() })
		if i > 0 && !b[0].Transaction {
			r.finding(b[i].table, "write counters on their own",
				"one batch writes counters and other columns, which Cassandra rejects").of(b[i].Query)
		}
	}
}
