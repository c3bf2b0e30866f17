package wire

import (
	"crypto/md5" //nolint:gosec // the id of a prepared statement, as Cassandra makes it

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// natives are the types of the protocol that have no parameters.
var natives = map[gocql.Type]datatype.DataType{
	gocql.TypeAscii: datatype.Ascii, gocql.TypeBigInt: datatype.Bigint, gocql.TypeBlob: datatype.Blob,
	gocql.TypeBoolean: datatype.Boolean, gocql.TypeCounter: datatype.Counter, gocql.TypeDate: datatype.Date,
	gocql.TypeDecimal: datatype.Decimal, gocql.TypeDouble: datatype.Double, gocql.TypeDuration: datatype.Duration,
	gocql.TypeFloat: datatype.Float, gocql.TypeInet: datatype.Inet, gocql.TypeInt: datatype.Int,
	gocql.TypeSmallInt: datatype.Smallint, gocql.TypeVarchar: datatype.Varchar, gocql.TypeTime: datatype.Time,
	gocql.TypeTimestamp: datatype.Timestamp, gocql.TypeTimeUUID: datatype.Timeuuid, gocql.TypeTinyInt: datatype.Tinyint,
	gocql.TypeUUID: datatype.Uuid, gocql.TypeVarint: datatype.Varint,
}

// dataType is a type as the protocol describes it.
func dataType(t *cqltype.Type) datatype.DataType {
	elems := t.Elems()
	switch t.Kind() {
	case gocql.TypeList:
		return datatype.NewList(dataType(elems[0]))
	case gocql.TypeSet:
		return datatype.NewSet(dataType(elems[0]))
	case gocql.TypeMap:
		return datatype.NewMap(dataType(elems[0]), dataType(elems[1]))
	}
	return natives[t.Kind()]
}

func rowsMetadata(keyspace, table string, columns []Column) *message.RowsMetadata {
	m := &message.RowsMetadata{ColumnCount: int32(len(columns))}
	for _, c := range columns {
		m.Columns = append(m.Columns, &message.ColumnMetadata{Keyspace: keyspace, Table: table, Name: c.Name, Type: dataType(cql(c.Type))})
	}
	return m
}

// preparedResult describes a statement.
func preparedResult(id string, p statement) *message.PreparedResult {
	variables := &message.VariablesMetadata{PkIndices: p.routing}
	for _, m := range p.marks {
		variables.Columns = append(variables.Columns, &message.ColumnMetadata{
			Keyspace: p.keyspace, Table: p.table, Name: m.column, Type: dataType(m.typ),
		})
	}
	result := &message.RowsMetadata{}
	switch {
	case p.verb == "SELECT":
		result = rowsMetadata(p.keyspace, p.table, p.columns())
	case p.conditional: // what else it returns depends on whether it is applied
		result = rowsMetadata(p.keyspace, p.table, []Column{{"[applied]", "boolean"}})
	}
	return &message.PreparedResult{PreparedQueryId: []byte(id), VariablesMetadata: variables, ResultMetadata: result}
}

func statementID(keyspace, text string) string {
	sum := md5.Sum([]byte(keyspace + text)) //nolint:gosec // as above
	return string(sum[:])
}
