package entity

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// Stamped says whether the set has [Stamp].
func (s *Set) Stamped() bool { return s.Stamp >= 0 }

// HasStamp says whether the table has the stamp of a set with [Stamp].
func (l Layout) HasStamp() bool {
	return l.Set.Stamp >= 0 && slices.Contains(l.Table.Columns, l.Set.Stamp)
}

// StampColumn is the column of [Stamp], empty without one.
func (l Layout) StampColumn() string { return l.Set.NameOf(l.Set.Stamp) }

// Stamp is that of the row in microseconds, 0 if it has none.
func (r TableRow) Stamp() int64 {
	if i := r.layout.Set.Stamp; i >= 0 && len(r.values[i].Data) == 8 {
		return int64(binary.BigEndian.Uint64(r.values[i].Data))
	}
	return 0
}

// Unstamped is the row without its stamp, for comparing what else it has.
func (r TableRow) Unstamped() TableRow {
	if i := r.layout.Set.Stamp; i >= 0 {
		r.values = slices.Clone(r.values)
		r.values[i] = cqltype.Value{}
	}
	return r
}

// Restamp renders the stamp of this row alone, written at as.At with that time as its value, in a table that [Layout.HasStamp]. It writes no
// row marker, so a delete or an expiry that removes the rest of the row removes it too.
func (r TableRow) Restamp(as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	return x.mergeOne(r.layout.Table, r.layout.StampColumn(), x.at, as.Last()), nil
}
