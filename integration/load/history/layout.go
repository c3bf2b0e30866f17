package history

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/go-reflectx"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/literal"
	"github.com/denorm-go/denorm/tables"
)

// layout is the tables, and where the columns of the base table, which has them all, are in the row type.
type layout[T any] struct {
	set    *tables.Set[T]
	fields map[string][]int // of T, by column
	tables []place          // the base table first
}

// place is a table in the layout.
type place struct {
	*Table
	entity    []string // the columns of the base key
	key, rest []string // the columns of its own key, and the others
}

// The names of columns are those of gocqlx, whatever gocqlx.DefaultMapper was set to.
var mapper = reflectx.NewMapperFunc("db", reflectx.CamelToSnakeASCII)

func newLayout[T any](set *tables.Set[T], contents *Contents) (*layout[T], error) {
	described := describe.Of(set.Internal()).Tables
	if len(contents.Tables) != len(described) {
		return nil, fmt.Errorf("history: the contents are of %d tables, the set has %d", len(contents.Tables), len(described))
	}
	l, names := &layout[T]{set: set, fields: make(map[string][]int)}, mapper.TypeMap(reflect.TypeFor[T]()).Names
	var base []string // its key
	for n := range contents.Tables {
		p := place{Table: &contents.Tables[n]}
		if p.Name != described[n].Name {
			return nil, fmt.Errorf("history: the contents have table %s in place of %s", p.Name, described[n].Name)
		}
		for _, c := range p.Columns {
			field, ok := names[c.Name]
			if n == 0 && ok {
				l.fields[c.Name] = field.Index
			}
			if l.fields[c.Name] == nil {
				return nil, fmt.Errorf("history: %v or the base table lacks column %s of table %s", reflect.TypeFor[T](), c.Name, p.Name)
			}
			if c.Key {
				p.key = append(p.key, c.Name)
			} else {
				p.rest = append(p.rest, c.Name)
			}
		}
		if n == 0 {
			base = p.key
		}
		p.entity = base
		for _, c := range base {
			if !slices.Contains(p.key, c) && !slices.Contains(p.rest, c) {
				return nil, fmt.Errorf("history: table %s lacks column %s of the base key", p.Name, c)
			}
		}
		l.tables = append(l.tables, p)
	}
	return l, nil
}

// image is what a write with this timestamp puts into the columns of the base table.
func (l *layout[T]) image(row T, timestamp int64) (map[string][]byte, error) {
	l.set.SetStamp(&row, timestamp)
	values := make(map[string][]byte)
	for _, c := range l.tables[0].Columns {
		value, err := encode(&c, reflect.ValueOf(row).FieldByIndex(l.fields[c.Name]))
		if err != nil {
			return nil, fmt.Errorf("history: column %s: %w", c.Name, err)
		}
		if value != nil {
			values[c.Name] = value
		}
	}
	return values, nil
}

// encode does what the library does by another way: a fault of its own encoding is seen as a difference.
func encode(c *Column, field reflect.Value) ([]byte, error) {
	if t, ok := field.Interface().(time.Time); ok && t.IsZero() {
		return nil, nil
	}
	data, err := gocql.Marshal(c.Type.Info(), field.Interface())
	if err == nil && c.Type.MultiCell() && len(data) == 4 { // none, for Cassandra
		data = nil
	}
	return data, err
}

// id joins the base key of a row of a table.
func (p *place) id(values map[string][]byte) string {
	var id []byte
	for _, c := range p.entity {
		id = binary.AppendUvarint(id, uint64(len(values[c])))
		id = append(id, values[c]...)
	}
	return string(id)
}

// show prints some columns of a row, with their WRITETIME: of each where they differ.
func (p *place) show(r *Row, columns []string) string {
	var times, cells []string
	for _, c := range columns {
		if t := r.Times[c]; t != 0 {
			times = append(times, fmt.Sprintf("@%d", t))
		}
	}
	times = slices.Compact(times)
	for _, c := range p.Columns {
		if !slices.Contains(columns, c.Name) {
			continue
		}
		cell := c.Name + "=null"
		if value := r.Values[c.Name]; value != nil {
			cell = c.Name + "=" + literal.Of(c.Type, value)
		}
		if t := r.Times[c.Name]; t != 0 && len(times) > 1 {
			cell += fmt.Sprintf("@%d", t)
		}
		cells = append(cells, cell)
	}
	if len(times) == 1 {
		cells = append(cells, times[0])
	}
	return strings.Join(cells, " ")
}
