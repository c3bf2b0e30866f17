package tablerow

import (
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// Unfillable says why rows of the base table cannot be put into the table at their own times, and is empty if they can.
func Unfillable(l Layout) string {
	switch {
	case l.Set.Patchable() != nil:
	case l.Set.Expiry >= 0:
		return "what a entity.Patch with an expiry has written ends by itself, and a row of the base table does not say what that is"
	case len(l.Regular()) > len(Timed(l)):
		return "it has a map or set that a entity.Patch may have written, whose elements have times of their own, which cannot be read"
	}
	return ""
}

// Redeliver is [Row.Deliver] at the row's own time of a row whose columns were not all written by its last write, as a process that
// does not know a column yet writes the others alone: such a column is put at its own time, which a write that is in flight may follow.
// written is by column; one that is not in it is as old as the row, and does not expire unless the set has tables.ExpiresAt. A row without an
// expiry there that expires all the same, as by the table's default, ends in all tables when it ends in its own.
func (r Row) Redeliver(at int64, written map[string]statement.Written, nulls bool, keyspace func(string) string) ([]statement.Mutation, error) {
	out, err := r.Deliver(at, nulls, keyspace)
	if err != nil {
		return nil, err
	}
	row := statement.Written{At: at}
	for _, w := range written {
		if w.At == at && w.Ends != 0 && (row.Ends == 0 || w.Ends < row.Ends) {
			row.Ends = w.Ends
		}
	}
	for n := range out { // those that are appended are complete
		m := &out[n]
		if m.Kind != statement.Put {
			continue
		}
		t := r.layout.Set.Tables[slices.IndexFunc(r.layout.Set.Tables, func(t *layout.Table) bool { return t.Name == m.Table })]
		older, err := r.takeOlder(m, t, written, keyspace)
		if err != nil {
			return nil, err
		}
		if row.Ends != 0 && m.Expires == 0 { // once nothing remains it is not sent
			text := t.Statements(m.Keyspace, m.Table)
			m.Statement, m.Names, m.Expires = text.InsertTTL, text.TTLNames, row.Last()
			m.Args = slices.Insert(m.Args, len(t.Columns), any(cqltype.Int(statement.MaxTTL)))
		}
		out = append(out, older...)
	}
	return out, nil
}

// takeOlder takes the columns that are older than a put out of it, and gives a mutation of each.
func (r Row) takeOlder(m *statement.Mutation, t *layout.Table, written map[string]statement.Written, keyspace func(string) string) ([]statement.Mutation, error) {
	var out []statement.Mutation
	for n, i := range t.Columns {
		w, known := written[t.ColumnNames[n]]
		if n < len(t.Key) || !known || w.At >= m.Timestamp {
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

// Outside is the name of a column whose value OneOf does not list, empty if there is none: nothing can be rendered of such a row but its own
// delete.
func (r Row) Outside() string {
	for i := range r.values {
		if c := &r.layout.Set.Columns[i]; c.Rule == layout.ClosedDomain && !entity.InDomain(c, &r.values[i]) {
			return c.Name
		}
	}
	return ""
}
