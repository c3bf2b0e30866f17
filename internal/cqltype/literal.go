package cqltype

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

// Literal is a value as CQL text, for people: strings are quoted, and what has no short text is the hexadecimal form of its bytes.
func (t *Type) Literal(data []byte) string {
	if data == nil {
		return "null"
	}
	var into any
	switch t.kind {
	case gocql.TypeText, gocql.TypeVarchar, gocql.TypeAscii:
		return cql.Literal(string(data))
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		into = new(gocql.UUID)
	case gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTinyInt, gocql.TypeBigInt:
		into = new(int64)
	case gocql.TypeBoolean:
		into = new(bool)
	case gocql.TypeTimestamp:
		into = new(time.Time)
	default:
		return "0x" + hex.EncodeToString(data)
	}
	if err := gocql.Unmarshal(t.Info(), data, into); err != nil {
		return "0x" + hex.EncodeToString(data)
	}
	switch v := into.(type) {
	case *gocql.UUID:
		return v.String()
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *bool:
		return strconv.FormatBool(*v)
	case *time.Time:
		return "'" + v.UTC().Format("2006-01-02 15:04:05.000Z") + "'"
	}
	return ""
}
