package entity

import (
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// Version is the column with the version of the row in the base table of a [Versioned] set, and empty in other tables.
func (l Layout) Version() string {
	if l.Table != l.Set.Tables[0] {
		return ""
	}
	return l.Set.NameOf(l.Set.Version)
}

// BaseRow is the base row with a key that [TableRow.Key] has encoded. l is the base table.
func (l Layout) BaseRow(key string, keyspace func(string) string) *Base {
	row := make([]cqltype.Value, len(l.Set.Columns))
	for k, v := range l.decodedKey(key) {
		row[l.Table.Key[k]] = *v
	}
	return l.Set.base(orDeclared(keyspace), row)
}

// TableRow is the row as one of the base table, with keys as of [Layout.Normalize].
func (b *Base) TableRow(row Row) TableRow {
	values := slices.Clone(row.values)
	for i := range values {
		if c := &b.set.Columns[i]; c.Key {
			values[i].Data = c.CQL.AsDeclared(values[i].Data)
		}
	}
	version := &cqltype.Value{Type: TimeUUID}
	if row.Version != (gocql.UUID{}) {
		version = cqltype.TimeUUID(row.Version)
	}
	values[b.set.Version] = *version
	return TableRow{layout: Layout{b.set, b.set.Tables[0]}, values: values}
}
