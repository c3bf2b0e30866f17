package history

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/go-reflectx"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/qb"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/literal"
	"github.com/denorm-go/denorm/tables"
)

// Contents is what the tables of a set hold, the base table first.
type Contents[T any] struct {
	Tables []Table

	set    *tables.Set[T]
	fields map[string][]int // of T, by column of the base table, which has them all
}

// Table is what one table holds.
type Table struct {
	Name    string
	Columns []Column
	Rows    []Row

	keyspace  string   // as declared
	key, rest []string // the columns of its own key, and the others
}

// Column is a column of a [Table].
type Column struct {
	Name string
	Key  bool // of the primary key
	Type *cqltype.Type
}

// Row is a row of a [Table].
type Row struct {
	Values map[string][]byte // encoded, by column; without those that are null
	Times  map[string]int64  // WRITETIME by column, in microseconds; without those that have none
}

// time is the WRITETIME of the youngest cell, 0 if the row has none.
func (r *Row) time() int64 {
	var t int64
	for _, at := range r.Times {
		t = max(t, at)
	}
	return t
}

// Columns are named as gocqlx names them, whatever gocqlx.DefaultMapper was set to.
var mapper = reflectx.NewMapperFunc("db", reflectx.CamelToSnakeASCII)

// Describe returns the contents of a set of which nothing was read. It fails if a column is no field of T: buckets are
// not supported.
func Describe[T any](set *tables.Set[T]) (*Contents[T], error) {
	c, names := &Contents[T]{set: set, fields: make(map[string][]int)}, mapper.TypeMap(reflect.TypeFor[T]()).Names
	for _, d := range describe.Of(set.Internal()).Tables {
		t := Table{Name: d.Name, keyspace: d.Keyspace}
		for _, column := range d.Columns {
			if column.ReadOnly { // no write puts anything there
				continue
			}
			parsed, err := cqltype.Parse(column.Type)
			if err != nil {
				return nil, fmt.Errorf("history: column %s of table %s: %w", column.Name, d.Name, err)
			}
			field, ok := names[column.Name]
			if !ok {
				return nil, fmt.Errorf("history: %v lacks column %s of table %s", reflect.TypeFor[T](), column.Name, d.Name)
			}
			c.fields[column.Name] = field.Index
			key := column.Kind != "regular"
			t.Columns = append(t.Columns, Column{Name: column.Name, Key: key, Type: parsed})
			if key {
				t.key = append(t.key, column.Name)
			} else {
				t.rest = append(t.rest, column.Name)
			}
		}
		c.Tables = append(c.Tables, t)
	}
	return c, nil
}

// Read reads the tables of set in full, at ALL: what one replica has is seen. Tables declared without keyspace are in
// that of the session. A failed read is repeated until the context ends.
func Read[T any](ctx context.Context, session *gocql.Session, set *tables.Set[T]) (*Contents[T], error) {
	contents, err := Describe(set)
	if err != nil {
		return nil, err
	}
	for i := range contents.Tables {
		t := &contents.Tables[i]
		if err := sleep.Until(ctx, 500*time.Millisecond, func() error { return t.read(ctx, session) }); err != nil {
			return nil, fmt.Errorf("read table %s at ALL: %w", t.Name, err)
		}
	}
	return contents, nil
}

func (t *Table) read(ctx context.Context, session *gocql.Session) error {
	var selected []string
	for _, c := range t.Columns {
		selected = append(selected, c.Name)
		if c.timed() {
			selected = append(selected, "WRITETIME("+c.Name+")")
		}
	}
	name := t.Name
	if t.keyspace != "" {
		name = t.keyspace + "." + name
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	iter := session.Query("SELECT " + strings.Join(selected, ", ") + " FROM " + name).Consistency(gocql.All).PageSize(1000).
		WithContext(ctx).Iter()
	t.Rows = nil
	for {
		values, times, to := make([]Encoded, len(t.Columns)), make([]int64, len(t.Columns)), []any(nil)
		for i := range values {
			to = append(to, &values[i])
			if t.Columns[i].timed() {
				to = append(to, &times[i])
			}
		}
		if !iter.Scan(to...) {
			return iter.Close()
		}
		row := Row{Values: make(map[string][]byte), Times: make(map[string]int64)}
		for i, c := range t.Columns {
			if values[i] != nil {
				row.Values[c.Name] = values[i]
			}
			if times[i] != 0 {
				row.Times[c.Name] = times[i]
			}
		}
		t.Rows = append(t.Rows, row)
	}
}

// timed says whether the column has a WRITETIME. A collection that is not frozen has one for each element, which is not
// looked at.
func (c *Column) timed() bool { return !c.Key && !c.Type.MultiCell() }

// Encoded is a value as the server sends it, nil if it is null.
type Encoded []byte

// UnmarshalCQL implements gocql.Unmarshaler.
func (e *Encoded) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	if data != nil {
		*e = append(make([]byte, 0, len(data)), data...)
	}
	return nil
}

// All reads columns of a table in full, at ALL, into rows whose fields have their names.
func All[T any](ctx context.Context, session *gocql.Session, table string, columns ...string) (rows []T, err error) {
	return rows, qb.Select(table).Columns(columns...).QueryContext(ctx, gocqlx.NewSession(session)).Consistency(gocql.All).SelectRelease(&rows)
}

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
