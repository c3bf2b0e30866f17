package entity

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file is how rows of a query table are checked against their base rows.

// Base is the layout of the set's base table.
func (l Layout) Base() Layout { return Layout{l.Set, l.Set.Tables[0]} }

// Unconfirmable says why rows of the table cannot be checked against base rows, and because of which column, if it is one; "" if they can.
func (l Layout) Unconfirmable() (column, reason string) {
	switch {
	case l.Table == l.Set.Tables[0]:
		return "", "it is the base table, whose rows are the truth: leave Confirm out"
	case l.Set.Counts:
		return "", "its rows are counters, which may be sums of several base rows: leave Confirm out"
	}
	for _, i := range l.Table.Key {
		if c := &l.Set.Columns[i]; c.Derived != nil && c.Derived.Swept() {
			return c.Name, "a row may be under any of its functions, as they have no time from which on they are valid, and the base row does not " +
				"say under which one: give the functions a time, or leave Confirm out"
		}
	}
	return "", ""
}

// EntityColumns are the columns of the table that say which entity a row is of: its key, then what it has alongside of the base key.
func (l Layout) EntityColumns() []string {
	out := slices.Clone(l.Table.KeyNames)
	for _, name := range l.Base().Table.KeyNames {
		if slices.Contains(l.Table.ColumnNames, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// BaseKey is the physical table of the entity's base row, with the primary key of the row, of which the table of this row must have the
// columns. It is false if one of them is null.
func (r TableRow) BaseKey() (table string, key []*cqltype.Value, ok bool) {
	base, values := r.layout.Set.Tables[0], r.all()
	if key = base.KeyOf(values); !statement.Present(key) {
		return "", nil, false
	}
	if base.Rotation == nil {
		return base.Name, key, true
	}
	at := &values[base.Rotation.Clock]
	if len(at.Data) == 0 { // as Cassandra allows it in a clustering column
		return "", nil, false
	}
	clock := InstantOf(at)
	if _, err := base.Rotation.Versions[0].Bucket.text(clock); err != nil {
		return "", nil, false // no table is named so, and no base row can be there
	}
	return base.Rotated(clock), key, true
}

// ListOf is a bound list of values of one column, as IN ? takes it.
func ListOf(values []*cqltype.Value) *cqltype.Value {
	data := binary.BigEndian.AppendUint32(nil, uint32(len(values)))
	for _, v := range values {
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(v.Data))), v.Data...) // keys are at most statement.MaxKeyBytes
	}
	return &cqltype.Value{Type: cqltype.ListOf(values[0].Type), Data: data}
}
