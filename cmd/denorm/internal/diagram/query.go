package diagram

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// widest is how many letters of a query are shown.
const widest = 64

// short is what a query reads, in a few words: by user_id, newest first, limit 10. It has no value that the query is
// for.
func short(q *schema.Query, t *schema.Table) string {
	read, _ := q.Statement.(*ast.Select)
	if read == nil {
		read = &ast.Select{}
	}
	what := restrictions(q)
	switch names := selected(read); {
	case names == "":
	case strings.HasPrefix(what, by):
		what = names + " " + what
	default:
		what = names + ": " + what
	}
	var parts []string
	if q.AllowFiltering {
		parts = append(parts, "ALLOW FILTERING") // first, as the end may be cut off
	}
	parts = append(parts, what)
	if order := order(q, t); order != "" {
		parts = append(parts, order)
	}
	if read.PerLimit != nil {
		parts = append(parts, "limit "+number(read.PerLimit)+" per partition")
	}
	if read.Limit != nil {
		parts = append(parts, "limit "+number(read.Limit))
	}
	return clip(strings.Join(parts, ", "))
}

// clip cuts a text that is too long for the picture.
func clip(s string) string {
	if runes := []rune(printable.Line(s)); len(runes) > widest {
		return strings.TrimRight(string(runes[:widest-1]), " ,") + "…"
	}
	return s
}

func number(t *ast.Term) string {
	if t.Kind == ast.Integer {
		return t.Text
	}
	return "?"
}

// selected names what a query gives, if that is a column or two, or a call. Whole rows, and most of a row, have no
// name.
func selected(s *ast.Select) string {
	var names []string
	for _, c := range s.Columns {
		switch plain := c.Elems == nil && c.Fields == nil; {
		case c.Kind == ast.Column && plain:
			names = append(names, c.Text)
		case c.Kind == ast.Call && len(c.Elems) == 1 && c.Elems[0].Kind == ast.All:
			names = append(names, c.Text+"(*)")
		case (c.Kind == ast.Call || c.Kind == ast.ColumnCall) && len(c.Elems) == 1 && c.Elems[0].Kind == ast.Column && c.Elems[0].Elems == nil:
			names = append(names, c.Text+"("+c.Elems[0].Text+")")
		default:
			return ""
		}
	}
	switch {
	case len(names) > 2:
		return ""
	case s.Distinct:
		return "distinct " + strings.Join(names, ", ")
	}
	return strings.Join(names, ", ")
}

const by = "by "

// restrictions says what a query knows.
func restrictions(q *schema.Query) string {
	var equal, several, ranges, other []string
	for _, w := range q.Where {
		columns := strings.Join(w.Columns, ", ")
		switch {
		case w.Token:
			other = append(other, "range of tokens")
		case len(w.Columns) == 0:
			other = append(other, "an expression")
		case w.Is("="):
			equal = append(equal, w.Columns...)
		case w.Is("IN"):
			several = append(several, "any of several "+columns)
		case w.Key != nil:
			several = append(several, "an entry of "+columns)
		case slices.Contains([]string{"<", "<=", ">", ">="}, w.Operator):
			ranges = append(ranges, columns)
		default:
			other = append(other, columns+" "+w.Operator+" ?")
		}
	}
	var parts []string
	if equal = append(each.Once(equal), each.Once(several)...); len(equal) > 0 {
		parts = append(parts, by+strings.Join(equal, ", "))
	}
	if len(ranges) > 0 {
		parts = append(parts, "range of "+strings.Join(each.Once(ranges), " and of "))
	}
	parts = append(parts, each.Once(other)...)
	if len(parts) == 0 {
		return "all rows"
	}
	return strings.Join(parts, ", ")
}

// order says in which order rows come: as the query says, or as in the one partition that it reads if that has the
// latest first.
func order(q *schema.Query, t *schema.Table) string {
	fixed := func(name string) bool {
		return slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Is("=") && slices.Contains(w.Columns, name) })
	}
	for _, o := range q.Order {
		if !fixed(o.Column) {
			return direction(o.Column, t, o.Descending)
		}
	}
	if len(q.Order) > 0 || slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool { return !fixed(c.Name) }) {
		return ""
	}
	for _, c := range t.Of(schema.Clustering) {
		if !fixed(c.Name) {
			if c.Desc && temporal(c.Type) {
				return direction(c.Name, t, true)
			}
			return ""
		}
	}
	return ""
}

func temporal(typ string) bool {
	return slices.Contains([]string{"timeuuid", "timestamp", "date", "time"}, typ)
}

func direction(column string, t *schema.Table, down bool) string {
	words := [2]string{"by ascending " + column, "by descending " + column}
	if c := t.Column(column); c != nil && temporal(c.Type) {
		words = [2]string{"oldest first", "newest first"}
		if c.Type == "date" || c.Type == "time" {
			words = [2]string{"earliest first", "latest first"}
		}
	}
	if down {
		return words[1]
	}
	return words[0]
}
