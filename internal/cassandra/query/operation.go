package query

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// operation is what a statement does with one column.
type operation struct {
	column   *catalog.Column
	operator ast.Operator
	key      *term // of one element
	path     []byte
	value    term
	deletes  bool // DELETE column
}

// stamp is what the cells of a statement have in common.
type stamp struct {
	timestamp, expires int64
	env                *Env
}

// assign compiles column = value and the like.
func (c *compiler) assign(target ast.Target, operator ast.Operator, value *ast.Term) (operation, error) {
	column := c.table.Column(target.Column)
	if column == nil {
		return operation{}, invalid("Undefined column name %s in table %s.%s", target.Column, c.table.Keyspace, c.table.Name)
	}
	if column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering {
		if value == nil {
			return operation{}, invalid("Invalid identifier %s for deletion (should not be a PRIMARY KEY part)", column.Name)
		}
		return operation{}, invalid("PRIMARY KEY part %s found in SET part", column.Name)
	}
	op := operation{column: column, operator: operator, deletes: value == nil}
	typ, name := column.Type, column.Name
	kind, many := typ.Kind(), typ.MultiCell()
	var err error
	switch {
	case target.Key != nil:
		elems := typ.Elems()
		switch {
		case !many || kind == gocql.TypeUDT:
			return op, invalid("Invalid operation (%s[...]) for %s column %s", name,
				map[bool]string{true: "non-frozen", false: "frozen"}[many], name)
		case kind == gocql.TypeList:
			return op, unsupported("elements of lists by their index, which Cassandra reads before it writes")
		case kind == gocql.TypeSet && value != nil:
			return op, invalid("Invalid operation (%s[...] = ...) for set column %s", name, name)
		}
		key, err := c.term(*target.Key, "key("+name+")", elems[0])
		if err != nil {
			return op, err
		}
		op.key = &key
		typ, name = elems[len(elems)-1], "value("+name+")"
	case target.Field != "":
		if kind != gocql.TypeUDT || !many {
			return op, invalid("Invalid operation (%s.%s) for column %s", name, target.Field, name)
		}
		i := typ.User().Field(target.Field)
		if i < 0 {
			return op, invalid("UDT column %s does not have a field named %s", name, target.Field)
		}
		op.path = binary.BigEndian.AppendUint16(nil, uint16(i))
		typ, name = typ.User().Fields[i].Type, name+"."+target.Field
	case kind == gocql.TypeCounter:
		if value != nil && operator != ast.Add && operator != ast.Remove {
			return op, invalid("Cannot set the value of counter column %s (counters can only be incremented/decremented, not "+
				"set)", name)
		}
	case operator != ast.Assign:
		if typ, err = c.collection(column, operator); err != nil {
			return op, err
		}
	}
	if value == nil {
		return op, nil
	}
	op.value, err = c.term(*value, name, typ)
	return op, err
}

// collection says what is added to or removed from a collection.
func (c *compiler) collection(column *catalog.Column, operator ast.Operator) (*cqltype.Type, error) {
	typ := column.Type
	switch kind := typ.Kind(); {
	case kind != gocql.TypeList && kind != gocql.TypeSet && kind != gocql.TypeMap:
		sign := map[ast.Operator]string{ast.Add: "+", ast.Remove: "-"}[operator]
		return nil, invalid("Invalid operation (%s = %[1]s %[2]s ?) for non counter column %[1]s", column.Name, sign)
	case !typ.MultiCell():
		return nil, invalid("Invalid operation for frozen collection column %s", column.Name)
	case kind == gocql.TypeList && operator == ast.Remove:
		return nil, unsupported("the removal of values from a list, which Cassandra reads before it writes")
	case kind != gocql.TypeList && operator == ast.Prepend:
		return nil, invalid("Invalid operation for %s column %s", typ, column.Name)
	case kind == gocql.TypeMap && operator == ast.Remove:
		return cqltype.SetOf(typ.Elems()[0]), nil
	}
	return typ, nil
}

// apply adds to a row what the operation does.
func (op *operation) apply(row *replica.Row, s stamp) error {
	name := op.column.Name
	var value []byte
	if !op.deletes {
		b, unset, err := op.value.eval(s.env)
		if err != nil || unset {
			return err
		}
		value = b
	}
	set := func(path, value []byte) {
		cell := merge.Cell{Timestamp: s.timestamp, Value: value, Expires: s.expires}
		if value == nil {
			cell.Expires = 0
		}
		row.Set(replica.Cell{Column: name, Path: path, Cell: cell})
	}
	many := op.column.Type.MultiCell()
	switch {
	case op.path != nil:
		set(op.path, value)
		return nil
	case op.key != nil:
		key, unset, err := op.key.eval(s.env)
		if err == nil && (unset || key == nil) {
			err = invalid("Invalid null or unset key of column %s", name)
		}
		if err == nil {
			set(solid(key), value)
		}
		return err
	case !many:
		set(nil, value)
		return nil
	}
	if op.deletes || op.operator == ast.Assign {
		all := s.timestamp
		if !op.deletes { // it must not cover the new elements (UpdateParameters.setComplexDeletionTimeForOverwrite)
			all--
		}
		row.Set(replica.Cell{Column: name, All: true, Cell: merge.Cell{Timestamp: all}})
	}
	if value == nil {
		return nil
	}
	return op.elements(value, set, s)
}

// elements sets those of a collection that is not frozen.
func (op *operation) elements(value []byte, set func(path, value []byte), s stamp) error {
	parts, err := split(op.column.Type, value)
	if err != nil {
		return err
	}
	switch kind := op.column.Type.Kind(); {
	case op.operator == ast.Remove:
		for _, p := range parts {
			set(solid(p), nil)
		}
	case kind == gocql.TypeSet:
		for _, p := range parts {
			set(solid(p), []byte{})
		}
	case kind == gocql.TypeMap:
		for i := 0; i+1 < len(parts); i += 2 {
			set(solid(parts[i]), solid(parts[i+1]))
		}
	case kind == gocql.TypeUDT:
		for i, p := range parts {
			if p != nil {
				set(binary.BigEndian.AppendUint16(nil, uint16(i)), p)
			}
		}
	default:
		if op.operator == ast.Prepend {
			slices.Reverse(parts)
		}
		for _, p := range parts {
			set(op.listPath(s.env), solid(p))
		}
	}
	return nil
}

// listPath is a time UUID that orders after those before it; for an element that is put in front, before them.
func (op *operation) listPath(env *Env) []byte {
	n := env.Unique()
	at := ticks(env.Now)
	if op.operator == ast.Prepend {
		at = -int64(n)
	}
	path := binary.BigEndian.AppendUint64(nil, uint64(at)^1<<63)
	return binary.BigEndian.AppendUint64(path, n)
}

// solid is bytes that are not nil.
func solid(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
