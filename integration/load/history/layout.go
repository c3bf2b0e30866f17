package history

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/literal"
)

// image is what a write with this timestamp puts into the columns of the base table.
func (c *Contents[T]) image(row T, timestamp int64) (map[string][]byte, error) {
	c.set.SetStamp(&row, timestamp)
	values := make(map[string][]byte)
	for _, column := range c.Tables[0].Columns {
		value, err := encode(&column, reflect.ValueOf(row).FieldByIndex(c.fields[column.Name]))
		if err != nil {
			return nil, fmt.Errorf("history: column %s: %w", column.Name, err)
		}
		if value != nil {
			values[column.Name] = value
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
func (c *Contents[T]) id(values map[string][]byte) string {
	var id []byte
	for _, column := range c.Tables[0].key {
		id = binary.AppendUvarint(id, uint64(len(values[column])))
		id = append(id, values[column]...)
	}
	return string(id)
}

// show prints some columns of a row, with their WRITETIME: of each where they differ.
func (t *Table) show(r *Row, columns []string) string {
	var times, cells []string
	for _, c := range columns {
		if at := r.Times[c]; at != 0 {
			times = append(times, fmt.Sprintf("@%d", at))
		}
	}
	times = slices.Compact(times)
	for _, c := range t.Columns {
		if !slices.Contains(columns, c.Name) {
			continue
		}
		cell := c.Name + "=null"
		if value := r.Values[c.Name]; value != nil {
			cell = c.Name + "=" + literal.Of(c.Type, value)
		}
		if at := r.Times[c.Name]; at != 0 && len(times) > 1 {
			cell += fmt.Sprintf("@%d", at)
		}
		cells = append(cells, cell)
	}
	if len(times) == 1 {
		cells = append(cells, times[0])
	}
	return strings.Join(cells, " ")
}
