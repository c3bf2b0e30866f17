package tablerow

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
)

// HasStamp says whether the table has the stamp of a set with tables.Stamp.
func HasStamp(l Layout) bool {
	return l.Set.Stamp >= 0 && slices.Contains(l.Table.Columns, l.Set.Stamp)
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

// Restamp renders the stamp of this row alone, written at as.At with that time as its value, in a table that [Layout.HasStamp]. It writes no
// row marker, so a delete or an expiry that removes the rest of the row removes it too.
func (r Row) Restamp(as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	return mergeOne(x, r.layout.Table, StampColumn(r.layout), x.At, as.Last()), nil
}
