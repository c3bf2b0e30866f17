package tablerow

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Unfillable says why rows of the base table cannot be put into the table at their own times, and is empty if they can.
func Unfillable(l Layout) string {
	switch {
	case l.Set.Patchable() != nil:
	case l.Set.Expiry >= 0:
		return "what a Patch with an expiry has written ends by itself, and a row of the base table does not say " +
			"what that is"
	case len(l.Table.Columns)-len(l.Table.Key) > len(Timed(l)):
		return "it has a map or set that a Patch may have written, whose elements have times of their own, which " +
			"cannot be read"
	}
	return ""
}

// Redeliver is [Row.Deliver] at the row's own time of a row whose columns were not all written by its last write, as a
// process that does not know a column yet writes the others alone: such a column is put at its own time, which a write
// that is in flight may follow. written is by column; one that is not in it is as old as the row, and does not expire
// unless the set has tables.ExpiresAt. A row without an expiry there that expires all the same, as by the table's
// default, ends in all tables when it ends in its own.
func (r Row) Redeliver(at int64, written map[string]statement.Written, nulls bool,
	keyspace func(string) string,
) ([]statement.Mutation, error) {
	out, err := r.Deliver(at, nulls, keyspace)
	if err != nil {
		return nil, err
	}
	row, known := statement.Written{At: at}, false
	for _, w := range written {
		if w.At == at && (!known || lasts(w, row)) {
			row.Ends, known = w.Ends, true
		}
	}
	var all []statement.Mutation
	for n := range out {
		m := &out[n]
		if m.Kind != statement.Put {
			all = append(all, *m)
			continue
		}
		t := r.layout.Set.Tables[slices.IndexFunc(r.layout.Set.Tables, func(t *layout.Table) bool {
			return t.Name == m.Table
		})]
		apart, err := r.takeApart(m, t, written, row.Ends, keyspace)
		if err != nil {
			return nil, err
		}
		if row.Ends != 0 && m.Expires == 0 { // once nothing remains it is not sent
			text := t.Statements(m.Keyspace, m.Table)
			m.Statement, m.Names, m.Expires = text.InsertTTL, text.TTLNames, row.Last()
			m.Args = slices.Insert(m.Args, len(t.Columns), any(cqltype.Int(statement.MaxTTL)))
		}
		all = append(append(all, *m), apart...) // a table is complete before the next one
	}
	return all, nil
}

// lasts says whether a cell ends later than another one.
func lasts(a, b statement.Written) bool { return b.Ends != 0 && (a.Ends == 0 || a.Ends > b.Ends) }

// takeApart takes the columns that are older than a put, or end earlier than its row, out of it, and gives a mutation
// of each. What says by itself when it ends, does so as a whole.
func (r Row) takeApart(m *statement.Mutation, t *layout.Table, written map[string]statement.Written, ends int64,
	keyspace func(string) string,
) ([]statement.Mutation, error) {
	var out []statement.Mutation
	for n, i := range t.Columns {
		w, known := written[t.ColumnNames[n]]
		earlier := m.Expires == 0 && w.At == m.Timestamp && w.Ends != ends
		if n < len(t.Key) || !known || w.At >= m.Timestamp && !earlier {
			continue
		}
		x, err := r.renderer(entity.Patch, w.At, keyspace)
		if err != nil {
			return nil, err
		}
		out = append(out, mergeOne(x, t, t.ColumnNames[n], &r.values[i], w.Last()))
		m.Args[n] = gocql.UnsetValue
	}
	return out, nil
}

// Outside is the name of a column whose value OneOf does not list, empty if there is none: nothing can be rendered of
// such a row but its own delete.
func (r Row) Outside() string {
	for i := range r.values {
		if c := &r.layout.Set.Columns[i]; c.Rule == layout.ClosedDomain && !entity.InDomain(c, &r.values[i]) {
			return c.Name
		}
	}
	return ""
}

// Cell renders what a patch of one column puts into a table for the entity of the row, which is of a set that takes
// [entity.Patch]. from has the value; without it the column alone becomes null. Neither this nor a value that expires
// writes a row marker. A collection that is not frozen cannot be put so.
func (r Row) Cell(name string, from *Row, to Layout, as statement.Written,
	keyspace func(string) string,
) (statement.Mutation, error) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	s, t := r.layout.Set, to.Table
	c := slices.IndexFunc(s.Columns, func(c layout.Column) bool { return c.Name == name })
	switch {
	case from == nil:
		return mergeOne(x, t, name, &cqltype.Value{Type: s.Columns[c].CQL}, 0), nil
	case as.Ends != 0:
		return mergeOne(x, t, name, &from.values[c], as.Last()), nil
	}
	p, key := x.Place(t), t.KeyOf(x.Before)
	m := x.Mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.Keyspace, p.Name),
		append(slices.Clone(t.KeyNames), name), false)
	m.Args = append(statement.AppendArgs(nil, key), &from.values[c], x.At)
	return m, nil
}

// PutCell renders a value of a column of the row alone, encoded. It writes no row marker, so a delete that removes the
// rest of the row removes it too.
func (r Row) PutCell(name string, value []byte, as statement.Written, keyspace func(string) string) (statement.Mutation,
	error,
) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	return mergeOne(x, r.layout.Table, name, &cqltype.Value{Type: r.layout.Column(name).CQL, Data: value}, as.Last()), nil
}

// mergeOne is a Merge that puts one column of the row at hand into t.
func mergeOne(x *entity.Renderer, t *layout.Table, name string, v *cqltype.Value, expiresAt int64) statement.Mutation {
	key := t.KeyOf(x.Before)
	m := x.Mutation(x.Place(t), statement.Merge, key)
	m.SetMerge(t.KeyNames, key, x.At, []statement.MergeColumn{{Name: name, Kind: statement.PutColumn, Value: v}},
		expiresAt)
	return m
}

// KeyRow renders the row of the entity in a table, with its key and what leads to the base row alone: what an Insert
// leaves there of an entity whose other columns in that table are absent, or of a table that has no others. as is when
// it was written.
func (r Row) KeyRow(to Layout, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	p, key := x.Place(to.Table), to.Table.KeyOf(x.Before)
	m := x.Mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.Keyspace, p.Name), to.EntityColumns(), as.Ends != 0)
	m.Args, m.Expires = statement.AppendArgs(nil, key), as.Last()
	for _, i := range to.Table.Leads {
		m.Args = append(m.Args, &x.Before[i])
	}
	if as.Ends != 0 {
		m.Args = append(m.Args, cqltype.Int(statement.MaxTTL))
	}
	m.Args = append(m.Args, x.At)
	return m, nil
}

// HasStamp says whether the table has the stamp of a set with tables.Stamp.
func HasStamp(l Layout) bool {
	return l.Set.Stamp >= 0 && slices.Contains(l.Table.Columns, l.Set.Stamp)
}

// NotNull are the columns of Compare whose fields cannot be nil: in a row that has null there no condition holds.
func NotNull(l Layout) (out []string) {
	for _, i := range l.Set.Compared {
		if l.Set.Columns[i].NeverAbsent() {
			out = append(out, l.Set.NameOf(i))
		}
	}
	return out
}

// StampColumn is the column of tables.Stamp, empty without one.
func StampColumn(l Layout) string { return l.Set.NameOf(l.Set.Stamp) }

// Stamp is that of the row in microseconds, 0 if it has none.
func (r Row) Stamp() int64 {
	if i := r.layout.Set.Stamp; i >= 0 && len(r.values[i].Data) == 8 {
		return int64(binary.BigEndian.Uint64(r.values[i].Data))
	}
	return 0
}

// Unstamped is the row without its stamp, for comparing what else it has.
func (r Row) Unstamped() Row {
	if i := r.layout.Set.Stamp; i >= 0 {
		r.values = slices.Clone(r.values)
		r.values[i] = cqltype.Value{}
	}
	return r
}

// Restamp renders the stamp of this row alone, with as.At as its value, or its expiry, written at as.At in a table
// that has the column. It writes no row marker, so a delete or an expiry that removes the rest of the row removes it
// too.
func (r Row) Restamp(column string, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	value := cqltype.BigInt(as.At).Data
	if column == ExpiryColumn(r.layout) {
		value, _ = r.Value(column)
	}
	return r.PutCell(column, value, as, keyspace)
}

// ExpiryColumn is the column of tables.ExpiresAt, empty without one.
func ExpiryColumn(l Layout) string { return l.Set.NameOf(l.Set.Expiry) }

// Unexpiring says whether the table has the column of tables.ExpiresAt, and the row null in it.
func (r Row) Unexpiring() bool {
	v, has := r.Value(ExpiryColumn(r.layout))
	return has && v == nil
}

// Expiring is the row with an expiry, in milliseconds, which is rounded down to a second.
func (r Row) Expiring(at int64) Row {
	r.values = slices.Clone(r.values)
	r.values[r.layout.Set.Expiry].Data = binary.BigEndian.AppendUint64(nil, uint64(at-at%1000))
	return r
}
