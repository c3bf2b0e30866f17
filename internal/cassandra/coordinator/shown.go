package coordinator

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/query"
)

// shown is what the answer says of the conditions if they do not hold (ModificationStatement.buildCasFailureResultSet).
type shown struct {
	table   *catalog.Table
	batch   bool
	all     bool // columns
	columns []*catalog.Column
	onRow   bool // some condition is about a row
	rows    []*query.View
	keys    [][][]byte // of the rows
	kinds   map[string]query.Existence
	// shown where there is no row; with conditions on static columns only the first row of the partition
	static *query.View
}

// mix says whether a condition can be combined with the others for the same row (CQL3CasRequest).
func (s *shown) mix(c *query.Condition, key [][]byte) error {
	kind := c.Existence()
	rows, static := fmt.Sprintf("%q", key), c.OnStatic(len(key) < len(s.table.Clustering))
	for _, row := range []struct {
		name string
		is   bool
	}{{rows, c.OnRow() && (kind == query.Columns || !static)}, {"static", static}} {
		before, ok := s.kinds[row.name]
		if row.is {
			s.kinds[row.name] = kind
		}
		switch {
		case !row.is || !ok || before == kind:
		case before != query.Columns && kind != query.Columns:
			return invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row")
		case kind == query.Exists:
			return invalid("Cannot mix IF conditions and IF EXISTS for the same row")
		default:
			return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row")
		}
	}
	return nil
}

func (s *shown) add(c *query.Condition, view *query.View, key [][]byte, there bool) {
	s.all = s.all || c.Existence() != query.Columns
	for _, column := range c.Columns() {
		if !slices.Contains(s.columns, column) {
			s.columns = append(s.columns, column)
		}
	}
	if s.static == nil {
		s.static = view.Static()
	}
	if !c.OnRow() || len(key) < len(s.table.Clustering) {
		return
	}
	s.onRow = true
	if !there {
		return
	}
	at, found := slices.BinarySearchFunc(s.keys, key, s.table.Compare)
	if !found {
		s.keys, s.rows = slices.Insert(s.keys, at, key), slices.Insert(s.rows, at, view)
	}
}

// fill adds the rows to the answer.
func (s *shown) fill(r *Reply) {
	rows := s.rows
	if len(rows) == 0 && s.static != nil {
		rows = []*query.View{s.static}
	}
	if len(rows) == 0 {
		r.Rows = [][][]byte{{{0}}}
		return
	}
	columns := s.columns
	switch {
	case s.all:
		columns = s.table.Columns
	case s.batch:
		columns = slices.Concat(s.table.Partition, s.table.Clustering, columns)
	}
	for _, column := range columns {
		r.Columns = append(r.Columns, query.Column{Name: column.Name, Type: column.Type})
	}
	for _, v := range rows {
		row := [][]byte{{0}}
		for _, column := range columns {
			row = append(row, v.Value(column))
		}
		r.Rows = append(r.Rows, row)
	}
}
