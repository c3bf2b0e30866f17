package tablerow

import (
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file is how rows of a query table are checked against their base rows.

// BaseKey is the physical table of the entity's base row, with the primary key of the row, of which the table of this row must have the
// columns. It is false if one of them is null.
func (r Row) BaseKey() (table string, key []*cqltype.Value, ok bool) {
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
	clock := layout.InstantOf(at)
	if _, err := base.Rotation.Versions[0].Bucket.Text(clock); err != nil {
		return "", nil, false // no table is named so, and no base row can be there
	}
	return base.Rotated(clock), key, true
}
