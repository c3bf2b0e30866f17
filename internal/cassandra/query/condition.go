package query

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Condition is the IF of a statement.
type Condition struct {
	absent, exists bool
	filters        []filter
}

// conditions reads an IF.
func (c *compiler) conditions(w *Write, rs []ast.Relation, exists bool) error {
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
		f, err := c.filter(column, r, false)
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

// filter reads a relation that rows are compared with.
func (c *compiler) filter(column *catalog.Column, r ast.Relation, read bool) (filter, error) {
	f := filter{column: column, operator: r.Operator, marked: r.Marked}
	typ := column.Type
	elems := typ.Elems()
	switch {
	case read && r.Key != nil && typ.Kind() == gocql.TypeMap && !typ.MultiCell():
		return f, invalid("Map-entry equality predicates on frozen map column %s are not supported", column.Name)
	case read && typ.Kind() == gocql.TypeUDT && typ.MultiCell():
		return f, invalid("Non-frozen UDT column '%s' (%s) cannot be restricted by any relation", column.Name,
			typ.User().Name)
	case read && typ.MultiCell() && r.Key == nil && !strings.HasPrefix(r.Operator, "CONTAINS"):
		return f, invalid("Collection column '%s' (%s) cannot be restricted by a '%s' relation", column.Name, typ, r.Operator)
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
	// The right side of CONTAINS is an element, and not a collection.
	if condition && f.key == nil && typ.MultiCell() && typ.Kind() != gocql.TypeUDT &&
		!strings.HasPrefix(f.operator, "CONTAINS") {
		if err = f.loose(want); err != nil {
			return false, err
		}
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
	if condition && f.key != nil && have != nil && want[0] != nil && f.ordered() {
		order, err := orderOfElements(f.column.Type.Elems()[0], typ, have, want[0])
		return decides(f.operator, order), err
	}
	return compare(f.operator, typ, have, want[0], condition)
}

// ordered says whether the relation is about an order.
func (f *filter) ordered() bool { return strings.ContainsAny(f.operator[:1], "<>") }

// orderOfElements orders values of a map, in a condition. Cassandra 5.0 does it by the type of the keys: m['a'] > -1 is
// false where m['a'] is 7, since bytes of text have no sign.
func orderOfElements(keys, values *cqltype.Type, a, b []byte) (int, error) {
	switch keys.Kind() {
	case values.Kind():
		return values.Compare(a, b), nil
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii, gocql.TypeBlob:
		return bytes.Compare(a, b), nil
	case gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
		if len(a) > 0 && len(b) > 0 && a[0] != b[0] {
			return cmp.Compare(int8(a[0]), int8(b[0])), nil
		}
		return bytes.Compare(a, b), nil
	}
	return 0, unsupported("an order of the values of a map whose keys are of type %s", keys)
}

// loose puts null in place of collections without elements, as which they are stored if they are not frozen. They have
// no order.
func (f *filter) loose(want [][]byte) error {
	for i, w := range want {
		if w == nil || binary.BigEndian.Uint32(w) > 0 {
			continue
		}
		if f.ordered() {
			return invalid("Invalid comparison with an empty %s for operator \"%s\"", driver.TypeName(f.column.Type.Kind()),
				f.operator)
		}
		want[i] = nil
	}
	return nil
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
	return decides(operator, typ.Compare(have, want)), nil
}

// decides says whether what is in that order is in the relation.
func decides(operator string, order int) bool {
	switch operator {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
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
	all := true
	for i := range c.filters {
		ok, err := c.filters[i].holds(env, v, true)
		if err != nil {
			return false, err
		}
		all = all && ok
	}
	return all, nil
}

// Existence is what a condition is.
type Existence uint8

// The kinds of conditions.
const (
	Columns   Existence = iota // IF column = value
	Exists                     // IF EXISTS
	NotExists                  // IF NOT EXISTS
)

// Existence says whether it is IF EXISTS or IF NOT EXISTS.
func (c *Condition) Existence() Existence {
	switch {
	case c.absent:
		return NotExists
	case c.exists:
		return Exists
	}
	return Columns
}

// OnRow says whether it is about a row, and not about static columns only.
func (c *Condition) OnRow() bool {
	return c.absent || c.exists || slices.ContainsFunc(c.filters, func(f filter) bool {
		return f.column.Kind != catalog.Static
	})
}

// OnStatic says whether it is about the static row, also. partly is whether the statement has no clustering columns.
func (c *Condition) OnStatic(partly bool) bool {
	if c.absent || c.exists {
		return partly
	}
	return slices.ContainsFunc(c.filters, func(f filter) bool { return f.column.Kind == catalog.Static })
}

// Columns are those that it is about, as the answer to one that did not hold has them: static ones come last
// (ColumnConditions.getColumns).
func (c *Condition) Columns() []*catalog.Column {
	var regular, static []*catalog.Column
	for _, f := range c.filters {
		if f.column.Kind == catalog.Static {
			static = append(static, f.column)
		} else {
			regular = append(regular, f.column)
		}
	}
	return append(regular, static...)
}
