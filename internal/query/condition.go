package query

import (
	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Condition is the IF of a statement.
type Condition struct {
	absent, exists bool
	filters        []filter
}

// conditions reads an IF.
func (c *compiler) conditions(w *Write, rs []cql.Relation, exists bool) error {
	if exists {
		w.Condition = &Condition{exists: true}
	}
	for _, r := range rs {
		column := c.table.Column(r.Columns[0])
		switch {
		case column == nil:
			return invalid("Undefined column name %s in table %s.%s", r.Columns[0], c.table.Keyspace, c.table.Name)
		case column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering:
			return invalid("PRIMARY KEY column '%s' cannot have IF conditions", column.Name)
		case r.Field != "":
			return unsupported("conditions on fields")
		}
		f, err := c.filter(column, r)
		if err != nil {
			return err
		}
		if w.Condition == nil {
			w.Condition = &Condition{}
		}
		w.Condition.filters = append(w.Condition.filters, f)
	}
	return nil
}

// filter reads a relation that rows are held against.
func (c *compiler) filter(column *catalog.Column, r cql.Relation) (filter, error) {
	f := filter{column: column, operator: r.Operator, marked: r.Marked}
	typ := column.Type
	elems := typ.Elems()
	switch {
	case r.Operator == "CONTAINS" && len(elems) > 0:
		typ = elems[len(elems)-1]
	case r.Operator == "CONTAINS KEY" && typ.Kind() == gocql.TypeMap:
		typ = elems[0]
	case r.Operator == "CONTAINS" || r.Operator == "CONTAINS KEY":
		return f, invalid("Cannot use %s on non-collection column %s", r.Operator, column.Name)
	case r.Key != nil:
		if typ.Kind() != gocql.TypeMap {
			return f, unsupported("elements of %s in a condition", typ)
		}
		key, err := c.term(*r.Key, "key("+column.Name+")", elems[0])
		if err != nil {
			return f, err
		}
		f.key = &key
		typ = elems[1]
	}
	if r.Marked {
		t := term{name: column.Name, typ: cqltype.ListOf(typ), mark: r.Values[0].Mark}
		c.mark(t.mark, "in("+column.Name+")", t.typ)
		f.terms = []term{t}
		return f, nil
	}
	for _, v := range r.Values {
		t, err := c.term(v, column.Name, typ)
		if err != nil {
			return f, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// values are those on the right side. An element may be nil, for null.
func (f *filter) values(env *Env) ([][]byte, error) {
	var out [][]byte
	for i := range f.terms {
		b, unset, err := f.terms[i].eval(env)
		switch {
		case err != nil:
			return nil, err
		case unset:
			return nil, invalid("Invalid 'unset' value in condition")
		case f.marked:
			if b == nil {
				return nil, invalid("Invalid null list in IN condition")
			}
			return split(f.terms[i].typ, b)
		}
		out = append(out, b)
	}
	return out, nil
}

// holds says whether the relation does for a row. Null equals null in an IF, and nothing in a WHERE.
func (f *filter) holds(env *Env, v *View, condition bool) (bool, error) {
	want, err := f.values(env)
	if err != nil {
		return false, err
	}
	typ := f.column.Type
	var have []byte
	if f.key != nil {
		key, unset, err := f.key.eval(env)
		if err != nil || unset || key == nil {
			return false, invalid("Invalid null or unset value for map element access")
		}
		have, typ = v.element(f.column, key), typ.Elems()[1]
	} else {
		have = v.Value(f.column)
	}
	switch f.operator {
	case "CONTAINS", "CONTAINS KEY":
		return f.contains(have, want[0])
	case "IN":
		for _, w := range want {
			if (have == nil) == (w == nil) && (condition || w != nil) && (w == nil || typ.Compare(have, w) == 0) {
				return true, nil
			}
		}
		return false, nil
	}
	return compare(f.operator, typ, have, want[0], condition)
}

func compare(operator string, typ *cqltype.Type, have, want []byte, condition bool) (bool, error) {
	if have == nil || want == nil {
		switch {
		case !condition && want == nil:
			return false, invalid("Invalid null value for a restriction")
		case !condition:
			return false, nil
		case operator == "=":
			return have == nil && want == nil, nil
		case operator == "!=":
			return (have == nil) != (want == nil), nil
		case want == nil:
			return false, invalid("Invalid comparison with null for operator \"%s\"", operator)
		}
		return false, nil
	}
	order := typ.Compare(have, want)
	switch operator {
	case "=":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func (f *filter) contains(have, want []byte) (bool, error) {
	if want == nil {
		return false, invalid("Invalid null value for %s", f.operator)
	}
	if have == nil {
		return false, nil
	}
	parts, err := split(f.column.Type, have)
	if err != nil {
		return false, err
	}
	elems := f.column.Type.Elems()
	first, step := 0, len(elems)
	if f.operator == "CONTAINS" {
		first = step - 1
	}
	for i := first; i < len(parts); i += step {
		if elems[first].Compare(parts[i], want) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// Holds says whether the condition does for a row. there is whether the row is.
func (c *Condition) Holds(env *Env, v *View, there bool) (bool, error) {
	switch {
	case c.absent:
		return !there, nil
	case c.exists:
		return there, nil
	}
	for i := range c.filters {
		if ok, err := c.filters[i].holds(env, v, true); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// Shown are the columns of a row that the answer to a condition that did not hold has, beside [applied].
func (c *Condition) Shown(t *catalog.Table) []*catalog.Column {
	if c.absent || c.exists {
		return t.Columns
	}
	var out []*catalog.Column
	for _, column := range t.Columns {
		for _, f := range c.filters {
			if f.column == column {
				out = append(out, column)
				break
			}
		}
	}
	return out
}
