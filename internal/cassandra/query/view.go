package query

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/gocql/gocql"
)

// View is a row as a read in a certain second finds it.
type View struct {
	table  *catalog.Table
	key    [][]byte     // of the partition
	static *replica.Row // nil without
	row    *replica.Row // nil if only the static row is there
	now    int64        // seconds
}

// Look gives the row of a key, as a read at the time of env finds it. The second result is whether it is there.
func Look(env *Env, t *catalog.Table, partition string, key [][]byte, p *replica.Partition) (*View, bool) {
	v := &View{table: t, key: SplitKey(t, partition), now: env.seconds()}
	if p == nil {
		return v, false
	}
	v.static = p.Static
	if i, found := p.Find(key, t.Compare); found && len(key) == len(t.Clustering) {
		v.row = p.Rows[i]
	}
	if len(key) == len(t.Clustering) {
		return v, v.row != nil && v.row.Live(v.now)
	}
	return v, v.static != nil && v.static.Live(v.now)
}

// First gives the first row of a partition that a read at the time of env finds, or the static one alone. It is nil if
// there is neither.
func First(env *Env, t *catalog.Table, partition string, p *replica.Partition) *View {
	v := &View{table: t, key: SplitKey(t, partition), now: env.seconds()}
	if p == nil {
		return nil
	}
	v.static = p.Static
	if i := slices.IndexFunc(p.Rows, func(r *replica.Row) bool { return r.Live(v.now) }); i >= 0 {
		v.row = p.Rows[i]
		return v
	}
	return v.Static()
}

// Static is the static row of a partition alone, nil if there is none.
func (v *View) Static() *View {
	if v.static == nil || !v.static.Live(v.now) {
		return nil
	}
	out := *v
	out.row = nil
	return &out
}

// holder is the row that has a column.
func (v *View) holder(c *catalog.Column) *replica.Row {
	if c.Kind == catalog.Static {
		return v.static
	}
	return v.row
}

// Value is what is in a column, nil for null.
func (v *View) Value(c *catalog.Column) []byte {
	switch c.Kind {
	case catalog.PartitionKey:
		return v.key[c.Position]
	case catalog.Clustering:
		if v.row == nil {
			return nil
		}
		return v.row.Key[c.Position]
	case catalog.Regular, catalog.Static:
	}
	row := v.holder(c)
	switch {
	case row == nil:
		return nil
	case c.Type.MultiCell():
		return v.elements(c, row)
	}
	cell := row.Cell(c.Name)
	switch {
	case cell == nil || !cell.Live(v.now):
		return nil
	case cell.Shards != nil:
		return bigint(cell.Count())
	}
	return cell.Value
}

// cells are the live ones of a column, ordered by path.
func (v *View) cells(c *catalog.Column, row *replica.Row) []replica.Cell {
	var out []replica.Cell
	for _, cell := range row.Cells {
		if cell.Column == c.Name && !cell.All && cell.Live(v.now) {
			out = append(out, cell)
		}
	}
	if kind := c.Type.Kind(); kind == gocql.TypeSet || kind == gocql.TypeMap {
		elem := c.Type.Elems()[0]
		slices.SortFunc(out, func(a, b replica.Cell) int { return elem.Compare(a.Path, b.Path) })
	}
	return out
}

// elements encodes a collection, or a user-defined type, that is not frozen.
func (v *View) elements(c *catalog.Column, row *replica.Row) []byte {
	cells := v.cells(c, row)
	if len(cells) == 0 {
		return nil
	}
	var parts [][]byte
	switch c.Type.Kind() {
	case gocql.TypeUDT:
		parts = make([][]byte, len(c.Type.Elems()))
		for _, cell := range cells {
			parts[binary.BigEndian.Uint16(cell.Path)] = cell.Value
		}
		return appendParts(nil, parts)
	case gocql.TypeSet:
		for _, cell := range cells {
			parts = append(parts, cell.Path)
		}
	case gocql.TypeMap:
		for _, cell := range cells {
			parts = append(parts, cell.Path, cell.Value)
		}
	default:
		for _, cell := range cells {
			parts = append(parts, cell.Value)
		}
	}
	return appendParts(binary.BigEndian.AppendUint32(nil, uint32(len(cells))), parts)
}

// element is the value of an element of a column, nil for null.
func (v *View) element(c *catalog.Column, key []byte) []byte {
	if !c.Type.MultiCell() {
		value := v.Value(c)
		if value == nil {
			return nil
		}
		parts, err := split(c.Type, value)
		if err != nil {
			return nil
		}
		for i := 0; i+1 < len(parts); i += 2 {
			if c.Type.Elems()[0].Compare(parts[i], key) == 0 {
				return parts[i+1]
			}
		}
		return nil
	}
	if row := v.holder(c); row != nil {
		for _, cell := range v.cells(c, row) {
			if c.Type.Elems()[0].Compare(cell.Path, key) == 0 {
				return cell.Value
			}
		}
	}
	return nil
}

// cell is the cell of a column that has one, nil if it is null.
func (v *View) cell(c *catalog.Column) *merge.Cell {
	row := v.holder(c)
	if row == nil {
		return nil
	}
	if cell := row.Cell(c.Name); cell != nil && cell.Live(v.now) {
		return &cell.Cell
	}
	return nil
}
