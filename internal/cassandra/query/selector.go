package query

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/murmur3"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// selector gives one column of a result.
type selector func(*Env, *View) []byte

// selectors reads what a SELECT gives.
func (c *compiler) selectors(s *ast.Select, r *Read) error {
	if s.Columns == nil {
		r.asked = c.table.Columns
		for _, column := range c.table.Columns {
			r.add(column.Name, column.Type, func(_ *Env, v *View) []byte { return v.Value(column) })
		}
		return nil
	}
	for _, item := range s.Columns {
		name, typ, get, err := c.selector(item.Term, r)
		if err != nil {
			return err
		}
		r.add(cmp.Or(item.As, name), typ, get)
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

func (c *compiler) selector(t ast.Term, r *Read) (string, *cqltype.Type, selector, error) {
	switch {
	case t.Kind != ast.Call && t.Kind != ast.ColumnCall && t.Kind != ast.Cast:
		column, err := c.selected(t)
		if err != nil {
			return "", nil, nil, err
		}
		r.asked = append(r.asked, column)
		return column.Name, column.Type, func(_ *Env, v *View) []byte { return v.Value(column) }, nil
	case t.Kind == ast.Cast:
	case t.Text == "count":
		if len(t.Elems) != 1 || t.Elems[0].Kind != ast.All {
			return "", nil, nil, unsupported("count of a column")
		}
		r.count = true
		return "count", bigintType, nil, nil
	case t.Text == "writetime" || t.Text == "maxwritetime" || t.Text == "ttl":
		return c.metadata(t, r)
	case t.Text == "token":
		return c.tokenOf(t, r)
	}
	t, err := withoutColumns(t)
	if err != nil {
		return "", nil, nil, err
	}
	f, typ, err := c.function(t)
	return spell(t), typ, func(e *Env, _ *View) []byte { return f(e) }, err
}

// selected is the column that a selector without function names.
func (c *compiler) selected(t ast.Term) (*catalog.Column, error) {
	if t.Kind != ast.Column {
		t = ast.Term{}
	}
	column := c.table.Column(t.Text)
	switch {
	case column == nil:
		return nil, invalid("Undefined column name %s in table %s.%s", t.Text, c.table.Keyspace, c.table.Name)
	case t.Elems != nil || t.Fields != nil:
		return nil, unsupported("elements and fields in a SELECT")
	}
	return column, nil
}

// metadata compiles writetime(c) and ttl(c).
func (c *compiler) metadata(t ast.Term, r *Read) (string, *cqltype.Type, selector, error) {
	if t.Kind != ast.ColumnCall {
		return "", nil, nil, unsupported("%s of anything but a column", t.Text)
	}
	column, err := c.selected(ast.Term{Kind: ast.Column, Text: t.Elems[0].Text})
	if err != nil {
		return "", nil, nil, err
	}
	r.asked = append(r.asked, column)
	name := fmt.Sprintf("%s(%s)", t.Text, column.Name)
	switch {
	case column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering:
		return "", nil, nil, invalid("Cannot use selection function %s on PRIMARY KEY part %s", t.Text, column.Name)
	case column.Type.MultiCell():
		return c.metadataOfMany(t.Text, name, column)
	case t.Text != "ttl":
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

// metadataOfMany compiles maxwritetime(c) and ttl(c) of a column with a cell for each element.
func (c *compiler) metadataOfMany(function, name string, column *catalog.Column) (string, *cqltype.Type, selector,
	error,
) {
	live := func(v *View) []replica.Cell {
		if row := v.holder(column); row != nil {
			return v.cells(column, row)
		}
		return nil
	}
	switch function {
	case "writetime":
		return "", nil, nil, unsupported("writetime of a collection that is not frozen")
	case "maxwritetime":
		return name, bigintType, func(_ *Env, v *View) []byte {
			cells := live(v)
			if len(cells) == 0 {
				return nil
			}
			return bigint(slices.MaxFunc(cells, func(a, b replica.Cell) int { return cmp.Compare(a.Timestamp, b.Timestamp) }).
				Timestamp)
		}, nil
	}
	return name, ttlsType, func(_ *Env, v *View) []byte {
		var parts [][]byte
		for _, cell := range live(v) {
			var left []byte
			if cell.Expires != 0 {
				left = binary.BigEndian.AppendUint32(nil, uint32(cell.Expires-v.now))
			}
			parts = append(parts, left)
		}
		if parts == nil {
			return nil
		}
		return ttlsType.Join(parts)
	}, nil
}

func (c *compiler) tokenOf(t ast.Term, r *Read) (string, *cqltype.Type, selector, error) {
	var names []string
	for i, a := range t.Elems {
		if a.Kind != ast.Column || i >= len(c.table.Partition) || a.Text != c.table.Partition[i].Name {
			return "", nil, nil, unsupported("token of anything but the partition key")
		}
		names = append(names, a.Text)
	}
	if len(names) != len(c.table.Partition) {
		return "", nil, nil, invalid("Invalid number of arguments in call to function token: %d required but %d provided",
			len(c.table.Partition), len(names))
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

// withoutColumns is a function in a SELECT that has no columns in it.
func withoutColumns(t ast.Term) (ast.Term, error) {
	out := ast.Term{Kind: ast.Call, Text: t.Text}
	switch t.Kind {
	case ast.Call:
	case ast.ColumnCall:
		return out, nil
	case ast.Cast:
		out.Text = "cast"
	default:
		return out, unsupported("functions of columns")
	}
	for _, e := range t.Elems {
		if e.Kind == ast.All {
			continue
		}
		inner, err := withoutColumns(e)
		if err != nil {
			return out, err
		}
		out.Elems = append(out.Elems, inner)
	}
	return out, nil
}

// spell is the name of a column that a function gives.
func spell(t ast.Term) string {
	var args []string
	for _, e := range t.Elems {
		args = append(args, spell(e))
	}
	return "system." + t.Text + "(" + strings.Join(args, ", ") + ")"
}
