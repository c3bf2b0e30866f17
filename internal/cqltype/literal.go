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
	switch t.kind {
	case gocql.TypeText, gocql.TypeVarchar, gocql.TypeAscii:
		return cql.Literal(string(data))
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		return literal(t, data, gocql.UUID.String)
	case gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTinyInt, gocql.TypeBigInt:
		return literal(t, data, func(n int64) string { return strconv.FormatInt(n, 10) })
	case gocql.TypeBoolean:
		return literal(t, data, strconv.FormatBool)
	case gocql.TypeTimestamp:
		return literal(t, data, func(at time.Time) string { return "'" + at.UTC().Format("2006-01-02 15:04:05.000Z") + "'" })
	}
	return hexadecimal(data)
}

// literal is the text of a value that the driver decodes.
func literal[T any](t *Type, data []byte, text func(T) string) string {
	var value T
	if err := gocql.Unmarshal(t.Info(), data, &value); err != nil {
		return hexadecimal(data)
	}
	return text(value)
}

func hexadecimal(data []byte) string { return "0x" + hex.EncodeToString(data) }
