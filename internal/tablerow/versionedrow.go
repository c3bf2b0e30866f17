package tablerow

import (
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
)

// BaseRow is the base row with a key that [Row.Key] has encoded. l is the base table.
func BaseRow(l Layout, key string, keyspace func(string) string) *entity.Base {
	row := make([]cqltype.Value, len(l.Set.Columns))
	for k, v := range decodedKey(l, key) {
		row[l.Table.Key[k]] = *v
	}
	return entity.NewBase(l.Set, entity.OrDeclared(keyspace), row)
}

// ClaimOf is the claim of the entity with an encoded base key to an encoded key of the table, which is [Layout.Unique].
func ClaimOf(l Layout, owner, key string, keyspace func(string) string) *entity.Claim {
	return entity.NewClaim(l.Table, decodedKey(l, key), BaseRow(l.Base(), owner, keyspace))
}

// OfBase is the row as one of the base table, with keys as of [Normalize].
func OfBase(b *entity.Base, row entity.Row) Row {
	values := slices.Clone(row.Values)
	for i := range values {
		if c := &b.Set.Columns[i]; c.Key {
			values[i].Data = AsDeclared(c.CQL, values[i].Data)
		}
	}
	version := &cqltype.Value{Type: entity.TimeUUID}
	if row.Version != (gocql.UUID{}) {
		version = cqltype.TimeUUID(row.Version)
	}
	values[b.Set.Version] = *version
	return Row{layout: Layout{Set: b.Set, Table: b.Set.Tables[0]}, values: values}
}
