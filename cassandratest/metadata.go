package cassandratest

import (
	"crypto/md5" //nolint:gosec // the id of a prepared statement, as Cassandra makes it

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// duration is a type that has a code of its own from protocol 5 on.
var duration = datatype.NewCustom("org.apache.cassandra.db.marshal.DurationType")

// natives are the types of the protocol that have no parameters.
var natives = map[gocql.Type]datatype.DataType{
	gocql.TypeAscii: datatype.Ascii, gocql.TypeBigInt: datatype.Bigint, gocql.TypeBlob: datatype.Blob,
	gocql.TypeBoolean: datatype.Boolean, gocql.TypeCounter: datatype.Counter, gocql.TypeDate: datatype.Date,
	gocql.TypeDecimal: datatype.Decimal, gocql.TypeDouble: datatype.Double, gocql.TypeDuration: duration,
	gocql.TypeFloat: datatype.Float, gocql.TypeInet: datatype.Inet, gocql.TypeInt: datatype.Int,
	gocql.TypeSmallInt: datatype.Smallint, gocql.TypeVarchar: datatype.Varchar, gocql.TypeTime: datatype.Time,
	gocql.TypeTimestamp: datatype.Timestamp, gocql.TypeTimeUUID: datatype.Timeuuid, gocql.TypeTinyInt: datatype.Tinyint,
	gocql.TypeUUID: datatype.Uuid, gocql.TypeVarint: datatype.Varint,
}

// dataType is a type as the protocol describes it. The keyspace is that of user-defined types in it.
func dataType(keyspace string, t *cqltype.Type) datatype.DataType {
	var elems []datatype.DataType
	for _, e := range t.Elems() {
		elems = append(elems, dataType(keyspace, e))
	}
	switch t.Kind() {
	case gocql.TypeList:
		return datatype.NewList(elems[0])
	case gocql.TypeSet:
		return datatype.NewSet(elems[0])
	case gocql.TypeMap:
		return datatype.NewMap(elems[0], elems[1])
	case gocql.TypeTuple:
		return datatype.NewTuple(elems...)
	case gocql.TypeUDT:
		var names []string
		for _, f := range t.User().Fields {
			names = append(names, f.Name)
		}
		user, err := datatype.NewUserDefined(keyspace, t.User().Name, names, elems)
		if err != nil {
			panic(err) // as many names as types
		}
		return user
	}
	return natives[t.Kind()]
}

func columns(keyspace, table string, cs []query.Column) []*message.ColumnMetadata {
	out := make([]*message.ColumnMetadata, len(cs))
	for i, c := range cs {
		out[i] = &message.ColumnMetadata{Keyspace: keyspace, Table: table, Name: c.Name, Type: dataType(keyspace, c.Type)}
	}
	return out
}

// preparedResult describes a statement.
func preparedResult(id string, p *query.Prepared) *message.PreparedResult {
	table := ""
	if p.Table != nil {
		table = p.Table.Name
	}
	result := &message.RowsMetadata{} // of a write with conditions, too: what it returns depends on whether it is applied
	if p.Read != nil {
		result.Columns = columns(p.Keyspace, table, p.Read.Columns)
	}
	result.ColumnCount = int32(len(result.Columns))
	return &message.PreparedResult{
		PreparedQueryId: []byte(id), ResultMetadata: result,
		VariablesMetadata: &message.VariablesMetadata{PkIndices: p.Routing, Columns: columns(p.Keyspace, table, p.Marks)},
	}
}

func statementID(keyspace, text string) string {
	sum := md5.Sum([]byte(keyspace + text)) //nolint:gosec // as above
	return string(sum[:])
}
