package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"github.com/scylladb/go-reflectx"
)

// layout says where the columns of the tables are in the base table, which has them all, and in the row type.
type layout[T any] struct {
	set     *tables.Set[T]
	columns []Column // of the base table
	fields  [][]int  // of T, by column
	tables  []place  // the base table first
}

// place is a table in the layout.
type place struct {
	*Table
	base   []int // by column: its position in the base table
	key    []int // positions of the key columns
	entity []int // positions of the columns of the base key, in its order
}

// The names of columns are those of gocqlx, whatever gocqlx.DefaultMapper was set to.
var mapper = reflectx.NewMapperFunc("db", reflectx.CamelToSnakeASCII)

func newLayout[T any](set *tables.Set[T], contents *Contents) (*layout[T], error) {
	described := set.Internal().Describe().Tables
	if len(contents.Tables) != len(described) {
		return nil, fmt.Errorf("history: the contents are of %d tables, the set has %d", len(contents.Tables), len(described))
	}
	l := &layout[T]{set: set, columns: contents.Tables[0].Columns}
	names := mapper.TypeMap(reflect.TypeFor[T]()).Names
	var key []string
	for _, c := range l.columns {
		field, ok := names[c.Name]
		if !ok {
			return nil, fmt.Errorf("history: no field of %v for column %s", reflect.TypeFor[T](), c.Name)
		}
		l.fields = append(l.fields, field.Index)
		if c.Key {
			key = append(key, c.Name)
		}
	}
	for n := range contents.Tables {
		t := &contents.Tables[n]
		if t.Name != described[n].Name {
			return nil, fmt.Errorf("history: the contents have table %s in place of %s", t.Name, described[n].Name)
		}
		p := place{Table: t, entity: make([]int, len(key))}
		found := 0
		for i, c := range t.Columns {
			at := slices.IndexFunc(l.columns, func(b Column) bool { return b.Name == c.Name })
			if at < 0 {
				return nil, fmt.Errorf("history: the base table lacks column %s of table %s", c.Name, t.Name)
			}
			p.base = append(p.base, at)
			if c.Key {
				p.key = append(p.key, i)
			}
			if k := slices.Index(key, c.Name); k >= 0 {
				p.entity[k] = i
				found++
			}
		}
		if found != len(key) {
			return nil, fmt.Errorf("history: table %s lacks a column of the base key", t.Name)
		}
		l.tables = append(l.tables, p)
	}
	return l, nil
}

// image is what a write with this timestamp puts into the columns of the base table.
func (l *layout[T]) image(row T, timestamp int64) ([][]byte, error) {
	l.set.SetStamp(&row, timestamp)
	values := make([][]byte, len(l.columns))
	for i := range l.columns {
		value, err := encode(&l.columns[i], reflect.ValueOf(row).FieldByIndex(l.fields[i]))
		if err != nil {
			return nil, fmt.Errorf("history: column %s: %w", l.columns[i].Name, err)
		}
		values[i] = value
	}
	return values, nil
}

// encode does what the library does by another way: a fault of its own encoding is seen as a difference.
func encode(c *Column, field reflect.Value) ([]byte, error) {
	if t, ok := field.Interface().(time.Time); ok && t.IsZero() {
		return nil, nil
	}
	if c.Type == nil {
		return nil, errors.New("the type of the column is not known")
	}
	data, err := gocql.Marshal(c.Type, field.Interface())
	if err == nil && c.Cells && len(data) == 4 { // none, for Cassandra
		data = nil
	}
	return data, err
}

// id joins the base key of a row of a table.
func (p *place) id(r *Row) string {
	var id []byte
	for _, i := range p.entity {
		id = binary.AppendUvarint(id, uint64(len(r.Values[i])))
		id = append(id, r.Values[i]...)
	}
	return string(id)
}

// show prints the columns of a row at these positions, with their WRITETIME: of each where they differ.
func (p *place) show(r *Row, columns []int) string {
	var last int64
	alike := true
	for _, i := range columns {
		if t := r.Times[i]; t != 0 {
			alike = alike && (last == 0 || last == t)
			last = t
		}
	}
	var b strings.Builder
	for n, i := range columns {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.Columns[i].Name + "=" + text(p.Columns[i].Type, r.Values[i]))
		if t := r.Times[i]; t != 0 && !alike {
			fmt.Fprintf(&b, "@%d", t)
		}
	}
	if alike && last != 0 {
		fmt.Fprintf(&b, " @%d", last)
	}
	return b.String()
}

// rest is the positions of the columns that are not of the key.
func (p *place) rest() []int {
	var rest []int
	for i := range p.Columns {
		if !p.Columns[i].Key {
			rest = append(rest, i)
		}
	}
	return rest
}

func text(info gocql.TypeInfo, data []byte) string {
	if data == nil {
		return "null"
	}
	if info != nil {
		if v, err := info.NewWithError(); err == nil && gocql.Unmarshal(info, data, v) == nil {
			value := reflect.ValueOf(v).Elem()
			if value.Kind() == reflect.Pointer && value.IsNil() {
				return "null"
			}
			return fmt.Sprint(value.Interface())
		}
	}
	return fmt.Sprintf("%#x", data)
}
