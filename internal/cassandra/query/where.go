package query

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// where is the WHERE of a statement.
type where struct {
	table      *catalog.Table
	partition  []*restriction // by column of the partition key, nil where there is none
	clustering []*restriction // equality or IN by clustering column, nil where there is none
	from, to   *limit         // of the clustering columns after those with an equality
	tokens     []tokenLimit
	narrowed   bool     // clustering columns are restricted in any way
	filters    []filter // of a SELECT with ALLOW FILTERING
	indexed    string   // the last column that has an index
}

// restriction is = or IN of one column.
type restriction struct {
	column *catalog.Column
	terms  []term
	list   bool // IN, of more than one value or of a mark
	marked bool // IN ?: the one term is a list
	ranged bool // another operator, which no statement that writes may have for the partition key
}

// limit is a bound of clustering columns, written as a < ? or (a, b) < (?, ?).
type limit struct {
	first     int // the position of the first column
	terms     []term
	inclusive bool
	operator  string
}

type tokenLimit struct {
	operator string
	term     term
}

// filter is a relation that rows are compared with one by one.
type filter struct {
	column   *catalog.Column
	operator string
	terms    []term
	marked   bool
	key      *term
}

// relations reads a WHERE. read is whether it is that of a SELECT.
func (c *compiler) relations(rs []ast.Relation, read bool) (where, error) {
	w := where{
		table: c.table, partition: make([]*restriction, len(c.table.Partition)),
		clustering: make([]*restriction, len(c.table.Clustering)),
	}
	var ranges []*limit
	for _, r := range rs {
		var err error
		switch {
		case r.Token:
			err = c.token(&w, r, read)
		case r.Tuple:
			var l *limit
			w.narrowed = true
			if l, err = c.tuple(r); err == nil {
				ranges = append(ranges, l)
			}
		default:
			var l *limit
			if l, err = c.relation(&w, r, read); err == nil && l != nil {
				ranges = append(ranges, l)
			}
		}
		if err != nil {
			return w, err
		}
	}
	if !read {
		if err := w.whole(c.prepared); err != nil {
			return w, err
		}
	}
	return w, w.bound(ranges, read)
}

// whole says whether all of the partition key is given to a statement that writes.
func (w *where) whole(p *Prepared) error {
	var missing []string
	for i, r := range w.partition {
		if r == nil {
			missing = append(missing, w.table.Partition[i].Name)
		}
	}
	if missing != nil {
		return invalid("Some partition key parts are missing: %s", strings.Join(missing, ", "))
	}
	if slices.ContainsFunc(w.partition, func(r *restriction) bool { return r.ranged }) {
		verb := "UPDATE"
		if _, ok := p.Statement.(*ast.Delete); ok {
			verb = "DELETE"
		}
		return invalid("Only EQ and IN relation are supported on the partition key (unless you use the token() function) "+
			"for %s statements", verb)
	}
	return nil
}

// in says whether some of the restrictions are IN.
func in(rs []*restriction) bool {
	return slices.ContainsFunc(rs, func(r *restriction) bool { return r != nil && r.list })
}

// relation reads a relation of one column, and gives the range that it is of a clustering column.
func (c *compiler) relation(w *where, r ast.Relation, read bool) (*limit, error) {
	column := c.table.Column(r.Columns[0])
	if column == nil {
		return nil, invalid("Undefined column name %s in table %s.%s", r.Columns[0], c.table.Keyspace, c.table.Name)
	}
	if c.schema.Indexed(c.table.Keyspace, c.table.Name, column.Name) {
		w.indexed = column.Name
	}
	isKey := column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering
	w.narrowed = w.narrowed || column.Kind == catalog.Clustering
	if !isKey && !read {
		return nil, invalid("Non PRIMARY KEY columns found in where clause: %s ", column.Name)
	}
	if r.Field != "" || r.Operator == "LIKE" || r.Operator == "IS NOT NULL" {
		return nil, unsupported("%s in a WHERE", r.Operator)
	}
	equal := r.Operator == "=" || r.Operator == "IN"
	if isKey && equal && r.Key == nil {
		list := w.partition
		if column.Kind == catalog.Clustering {
			list = w.clustering
		}
		if list[column.Position] != nil {
			what := "an Equal"
			if r.Operator == "IN" && (r.Marked || len(r.Values) != 1) || list[column.Position].list {
				what = "a IN"
			}
			return nil, invalid("%s cannot be restricted by more than one relation if it includes %s", column.Name, what)
		}
		made, err := c.restriction(column, r)
		list[column.Position] = made
		return nil, err
	}
	if column.Kind == catalog.Clustering && strings.ContainsAny(r.Operator, "<>") {
		t, err := c.term(r.Values[0], column.Name, column.Type)
		return &limit{column.Position, []term{t}, strings.Contains(r.Operator, "="), r.Operator[:1]}, err
	}
	if !read && column.Kind == catalog.Clustering {
		return nil, unsupported("%s in the WHERE of a write", r.Operator)
	}
	if !read {
		w.partition[column.Position] = &restriction{column: column, ranged: true}
		return nil, nil
	}
	f, err := c.filter(column, r, true)
	w.filters = append(w.filters, f)
	return nil, err
}

func (c *compiler) restriction(column *catalog.Column, r ast.Relation) (*restriction, error) {
	out := &restriction{column: column, list: r.Operator == "IN" && (r.Marked || len(r.Values) != 1), marked: r.Marked}
	if r.Marked {
		t := term{name: column.Name, typ: column.Type, mark: r.Values[0].Mark}
		c.mark(t.mark, "in("+column.Name+")", cqltype.ListOf(column.Type))
		out.terms = []term{t}
		return out, nil
	}
	for _, v := range r.Values {
		t, err := c.term(v, column.Name, column.Type)
		if err != nil {
			return nil, err
		}
		out.terms = append(out.terms, t)
	}
	return out, nil
}

// tuple reads (a, b) > (?, ?).
func (c *compiler) tuple(r ast.Relation) (*limit, error) {
	if !strings.ContainsAny(r.Operator, "<>") || len(r.Values) != 1 || r.Values[0].Kind != ast.Tuple ||
		len(r.Values[0].Elems) != len(r.Columns) {
		return nil, unsupported("%s of several columns", r.Operator)
	}
	l := &limit{inclusive: strings.Contains(r.Operator, "="), operator: r.Operator[:1]}
	for i, name := range r.Columns {
		column := c.table.Column(name)
		if column == nil || column.Kind != catalog.Clustering {
			return nil, invalid("Multi-column relations can only be applied to clustering columns but was applied to: %s", name)
		}
		if i == 0 {
			l.first = column.Position
		} else if column.Position != l.first+i {
			return nil, invalid("Clustering columns must appear in the PRIMARY KEY order in multi-column relations: %s", name)
		}
		if column.Descending != c.table.Clustering[l.first].Descending {
			return nil, unsupported("a relation of columns of different order")
		}
		t, err := c.term(r.Values[0].Elems[i], name, column.Type)
		if err != nil {
			return nil, err
		}
		l.terms = append(l.terms, t)
	}
	return l, nil
}

func (c *compiler) token(w *where, r ast.Relation, read bool) error {
	if !read || len(r.Columns) != len(c.table.Partition) {
		return invalid("The token() function must be applied to all partition key components or none of them")
	}
	for i, name := range r.Columns {
		if c.table.Partition[i].Name != name {
			return invalid("The token function arguments must be in the partition key order: %s", name)
		}
	}
	t, err := c.term(r.Values[0], "partition key token", bigintType)
	w.tokens = append(w.tokens, tokenLimit{r.Operator, t})
	return err
}

// bound puts the ranges of clustering columns together, and says whether the restrictions are such that can be looked
// up.
func (w *where) bound(ranges []*limit, read bool) error {
	for _, l := range ranges {
		for i := range l.terms {
			switch name := w.table.Clustering[l.first+i].Name; {
			case w.clustering[l.first+i] == nil:
			case len(l.terms) == 1:
				return invalid("%s cannot be restricted by more than one relation if it includes an Equal", name)
			default:
				return invalid("Column \"%s\" cannot be restricted by both an equality and an inequality relation", name)
			}
		}
	}
	equal := 0
	for equal < len(w.clustering) && w.clustering[equal] != nil {
		equal++
	}
	for i := equal; i < len(w.clustering); i++ {
		r := w.clustering[i]
		switch {
		case r == nil:
		case read: // a filter, if that is allowed
			w.filters = append(w.filters, filter{column: r.column, operator: "IN", terms: r.terms, marked: r.marked})
			w.clustering[i] = nil
		default:
			return invalid("PRIMARY KEY column \"%s\" cannot be restricted as preceding column \"%s\" is not restricted",
				w.table.Clustering[i].Name, w.table.Clustering[equal].Name)
		}
	}
	for _, l := range ranges {
		side := &w.from
		if (l.operator == "<") != w.table.Clustering[l.first].Descending {
			side = &w.to
		}
		switch {
		case l.first != equal && !read:
			return invalid("PRIMARY KEY column \"%s\" cannot be restricted as preceding column \"%s\" is not restricted",
				w.table.Clustering[l.first].Name, w.table.Clustering[min(equal, len(w.table.Clustering)-1)].Name)
		case l.first != equal:
			if len(l.terms) > 1 {
				return unsupported("a relation of several columns after one that has none")
			}
			op := l.operator
			if l.inclusive {
				op += "="
			}
			w.filters = append(w.filters, filter{column: w.table.Clustering[l.first], operator: op, terms: l.terms})
		case *side != nil:
			return invalid("More than one restriction was found for the %s bound on %s",
				map[bool]string{true: "end", false: "start"}[l.operator == "<"],
				w.table.Clustering[l.first].Name)
		default:
			*side = l
		}
	}
	return nil
}

// keys are the values of = or IN, without duplicates, in the order of the column.
func (r *restriction) keys(env *Env) ([][]byte, error) {
	var out [][]byte
	add := func(b []byte, unset bool) error {
		switch {
		case unset:
			return invalid("Invalid unset value for column %s", r.column.Name)
		case b == nil:
			return invalid("Invalid null value in condition for column %s", r.column.Name)
		}
		out = append(out, b)
		return nil
	}
	for i := range r.terms {
		b, unset, err := r.terms[i].eval(env)
		if err != nil {
			return nil, err
		}
		if !r.marked {
			if err := add(b, unset); err != nil {
				return nil, err
			}
			continue
		}
		if b == nil || unset {
			return nil, invalid("Invalid null value for IN restriction on column %s", r.column.Name)
		}
		parts, err := split(cqltype.ListOf(r.column.Type), b)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if err := add(p, false); err != nil {
				return nil, err
			}
		}
	}
	if len(out) < 2 {
		return out, nil
	}
	return sorted(r.column.Type, out, 1), nil
}

// product gives the combinations of the values of restrictions, in order.
func product(env *Env, rs []*restriction) ([][][]byte, error) {
	out := [][][]byte{nil}
	for _, r := range rs {
		keys, err := r.keys(env)
		if err != nil {
			return nil, err
		}
		if len(keys) == 1 {
			for i := range out {
				out[i] = append(out[i], keys[0])
			}
			continue
		}
		var next [][][]byte
		for _, prefix := range out {
			for _, k := range keys {
				next = append(next, append(prefix[:len(prefix):len(prefix)], k))
			}
		}
		out = next
	}
	return out, nil
}

// span is the range of rows that has a prefix, and lies between the limits.
func (w *where) span(env *Env, prefix [][]byte) (replica.Range, error) {
	out := replica.Range{
		From: replica.Bound{Prefix: prefix, Inclusive: true},
		To:   replica.Bound{Prefix: prefix, Inclusive: true},
	}
	for _, side := range []struct {
		limit *limit
		bound *replica.Bound
	}{{w.from, &out.From}, {w.to, &out.To}} {
		if side.limit == nil {
			continue
		}
		values := prefix[:len(prefix):len(prefix)]
		for i := range side.limit.terms {
			b, unset, err := side.limit.terms[i].eval(env)
			if err != nil {
				return out, err
			}
			if unset || b == nil {
				return out, invalid("Invalid null value in condition for column %s", side.limit.terms[i].name)
			}
			values = append(values, b)
		}
		*side.bound = replica.Bound{Prefix: values, Inclusive: side.limit.inclusive}
	}
	return out, nil
}
