package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Contents is what the tables of a set hold, the base table first.
type Contents struct{ Tables []Table }

// Table is what one table holds.
type Table struct {
	Name    string
	Columns []Column
	Rows    []Row
}

// Column is a column of a [Table].
type Column struct {
	Name string
	Key  bool // of the primary key
	// Cells says that the column is a collection that is not frozen: it has a WRITETIME for each element, which is not
	// looked at.
	Cells bool
	Type  gocql.TypeInfo
}

// Row is a row of a [Table].
type Row struct {
	Values [][]byte // encoded, by column; nil is null
	Times  []int64  // WRITETIME by column, in microseconds; 0 where there is none
}

// time is the WRITETIME of the youngest cell, 0 if the row has none.
func (r *Row) time() int64 {
	var t int64
	for _, at := range r.Times {
		t = max(t, at)
	}
	return t
}

// Read reads the tables of set in full, at ALL: what one replica has is seen. Tables declared without keyspace are in that
// of the session. A failed read is repeated until the context ends.
func Read[T any](ctx context.Context, session *gocql.Session, set *tables.Set[T]) (*Contents, error) {
	contents := new(Contents)
	for _, d := range set.Internal().Describe().Tables {
		var t Table
		err := sleep.Until(ctx, 500*time.Millisecond, func() (err error) {
			t, err = readTable(ctx, session, d)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read table %s at ALL: %w", d.Name, err)
		}
		contents.Tables = append(contents.Tables, t)
	}
	return contents, nil
}

func readTable(ctx context.Context, session *gocql.Session, d entity.TableDescription) (Table, error) {
	t := Table{Name: d.Name}
	var selected []string
	for _, c := range d.Columns {
		column := Column{Name: c.Name, Key: c.Kind != "regular", Cells: cells(c.Type)}
		t.Columns = append(t.Columns, column)
		selected = append(selected, c.Name)
	}
	for _, c := range t.Columns {
		if c.timed() {
			selected = append(selected, "WRITETIME("+c.Name+")")
		}
	}
	name := d.Name
	if d.Keyspace != "" {
		name = d.Keyspace + "." + name
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	iter := session.Query("SELECT " + strings.Join(selected, ", ") + " FROM " + name).Consistency(gocql.All).PageSize(1000).
		WithContext(ctx).Iter()
	if live := iter.Columns(); len(live) == len(selected) {
		for i := range t.Columns {
			t.Columns[i].Type = live[i].TypeInfo
		}
	}
	for {
		row := Row{Values: make([][]byte, len(t.Columns)), Times: make([]int64, len(t.Columns))}
		if !iter.Scan(row.into(t.Columns)...) {
			return t, iter.Close()
		}
		t.Rows = append(t.Rows, row)
	}
}

func (c *Column) timed() bool { return !c.Key && !c.Cells }

// cells says whether a CQL type is a collection that is not frozen.
func cells(cql string) bool {
	return slices.ContainsFunc([]string{"list<", "set<", "map<"}, func(prefix string) bool { return strings.HasPrefix(cql, prefix) })
}

// into is where a row is scanned to: its values, then its times.
func (r *Row) into(columns []Column) []any {
	to := make([]any, 0, 2*len(columns))
	for i := range columns {
		to = append(to, (*encoded)(&r.Values[i]))
	}
	for i := range columns {
		if columns[i].timed() {
			to = append(to, &r.Times[i])
		}
	}
	return to
}

// encoded is a value as the server sends it.
type encoded []byte

// UnmarshalCQL implements gocql.Unmarshaler.
func (e *encoded) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	if data != nil {
		*e = append(make([]byte, 0, len(data)), data...)
	}
	return nil
}
