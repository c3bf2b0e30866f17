package query

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/murmur3"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// selector gives one column of a result.
type selector func(*Env, *View) []byte

// selectors reads what a SELECT gives.
func (c *compiler) selectors(s *cql.Select, r *Read) error {
	if s.Columns == nil {
		r.asked = c.table.Columns
		for _, column := range c.table.Columns {
			r.add(column.Name, column.Type, func(_ *Env, v *View) []byte { return v.Value(column) })
		}
		return nil
	}
	for _, item := range s.Columns {
		name, typ, get, err := c.selector(item, r)
		if err != nil {
			return err
		}
		if item.As != "" {
			name = item.As
		}
		r.add(name, typ, get)
	}
	if r.count && len(s.Columns) > 1 {
		return unsupported("count(*) together with other columns")
	}
	return nil
}

func (r *Read) add(name string, t *cqltype.Type, get selector) {
	r.Columns = append(r.Columns, Column{name, t})
	r.selectors = append(r.selectors, get)
}

func (c *compiler) selector(s cql.Selector, r *Read) (string, *cqltype.Type, selector, error) {
	switch s.Function {
	case "":
		column, err := c.selected(s)
		if err != nil {
			return "", nil, nil, err
		}
		r.asked = append(r.asked, column)
		return column.Name, column.Type, func(_ *Env, v *View) []byte { return v.Value(column) }, nil
	case "count":
		if !s.Star {
			return "", nil, nil, unsupported("count of a column")
		}
		r.count = true
		return "count", bigintType, nil, nil
	case "writetime", "ttl":
		return c.metadata(s, r)
	case "token":
		return c.tokenOf(s, r)
	}
	t, err := asTerm(s)
	if err != nil {
		return "", nil, nil, err
	}
	f, typ, err := c.function(t)
	return spell(t), typ, func(e *Env, _ *View) []byte { return f(e) }, err
}

// selected is the column that a selector without function names.
func (c *compiler) selected(s cql.Selector) (*catalog.Column, error) {
	column := c.table.Column(s.Column)
	switch {
	case column == nil:
		return nil, invalid("Undefined column name %s in table %s.%s", s.Column, c.table.Keyspace, c.table.Name)
	case s.Key != nil || s.Field != "":
		return nil, unsupported("elements and fields in a SELECT")
	}
	return column, nil
}

// metadata compiles writetime(c) and ttl(c).
func (c *compiler) metadata(s cql.Selector, r *Read) (string, *cqltype.Type, selector, error) {
	if s.Column == "" {
		return "", nil, nil, unsupported("%s of anything but a column", s.Function)
	}
	column, err := c.selected(cql.Selector{Column: s.Column})
	if err != nil {
		return "", nil, nil, err
	}
	r.asked = append(r.asked, column)
	name := fmt.Sprintf("%s(%s)", s.Function, column.Name)
	switch {
	case column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering:
		return "", nil, nil, invalid("Cannot use selection function %s on PRIMARY KEY part %s", s.Function, column.Name)
	case column.Type.MultiCell():
		return "", nil, nil, unsupported("%s of a collection that is not frozen", s.Function)
	case s.Function == "writetime":
		return name, bigintType, func(_ *Env, v *View) []byte {
			if cell := v.cell(column); cell != nil {
				return bigint(cell.Timestamp)
			}
			return nil
		}, nil
	}
	return name, intType, func(_ *Env, v *View) []byte {
		cell := v.cell(column)
		if cell == nil || cell.Expires == 0 {
			return nil
		}
		return binary.BigEndian.AppendUint32(nil, uint32(cell.Expires-v.now))
	}, nil
}

func (c *compiler) tokenOf(s cql.Selector, r *Read) (string, *cqltype.Type, selector, error) {
	var names []string
	for i, a := range s.Args {
		if a.Function != "" || i >= len(c.table.Partition) || a.Column != c.table.Partition[i].Name {
			return "", nil, nil, unsupported("token of anything but the partition key")
		}
		names = append(names, a.Column)
	}
	if len(names) != len(c.table.Partition) {
		return "", nil, nil, invalid("Invalid number of arguments in call to function token: %d required but %d provided", len(c.table.Partition), len(names))
	}
	r.asked = append(r.asked, c.table.Partition...)
	return "system.token(" + strings.Join(names, ", ") + ")", bigintType, func(_ *Env, v *View) []byte {
		key, err := RoutingKey(v.key)
		if err != nil {
			return nil
		}
		return bigint(murmur3.Token([]byte(key)))
	}, nil
}

// asTerm is a function in a SELECT that has no columns in it.
func asTerm(s cql.Selector) (cql.Term, error) {
	if s.Function == "" {
		return cql.Term{}, unsupported("functions of columns")
	}
	t := cql.Term{Kind: cql.Call, Text: s.Function}
	for _, a := range s.Args {
		inner, err := asTerm(a)
		if err != nil {
			return t, err
		}
		t.Elems = append(t.Elems, inner)
	}
	return t, nil
}

// spell is the name of a column that a function gives.
func spell(t cql.Term) string {
	var args []string
	for _, e := range t.Elems {
		args = append(args, spell(e))
	}
	return "system." + t.Text + "(" + strings.Join(args, ", ") + ")"
}
