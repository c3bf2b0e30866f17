// Package pairs lists the Go types of columns, the CQL types that package tables takes for each, and values of both.
package pairs

import (
	"math/big"
	"net"
	"reflect"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/describe"
	"gopkg.in/inf.v0"
)

// Defined types, each like its underlying type.
type (
	ownString  string
	ownBytes   []byte
	ownBool    bool
	ownInt8    int8
	ownInt16   int16
	ownInt32   int32
	ownInt64   int64
	ownInt     int
	ownUint8   uint8
	ownUint16  uint16
	ownUint32  uint32
	ownUint64  uint64
	ownFloat32 float32
	ownFloat64 float64
	ownUUID    [16]byte
)

// GoTypes are the types without others inside that the documentation of package tables lists, by its names.
var GoTypes = map[string]reflect.Type{
	"string": reflect.TypeFor[string](), "[]byte": reflect.TypeFor[[]byte](), "bool": reflect.TypeFor[bool](),
	"int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](), "int32": reflect.TypeFor[int32](),
	"int64": reflect.TypeFor[int64](),
	"int":   reflect.TypeFor[int](), "uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](),
	"uint32": reflect.TypeFor[uint32](),
	"uint64": reflect.TypeFor[uint64](), "float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
	"big.Int": reflect.TypeFor[big.Int](), "inf.Dec": reflect.TypeFor[inf.Dec](),
	"gocql.UUID": reflect.TypeFor[gocql.UUID](),
	"[16]byte":   reflect.TypeFor[[16]byte](), "net.IP": reflect.TypeFor[net.IP](),
	"time.Time":     reflect.TypeFor[time.Time](),
	"time.Duration": reflect.TypeFor[time.Duration](), "gocql.Duration": reflect.TypeFor[gocql.Duration](),
}

// Defined are types of one's own, by the names of GoTypes.
var Defined = map[string]reflect.Type{
	"string": reflect.TypeFor[ownString](), "[]byte": reflect.TypeFor[ownBytes](), "bool": reflect.TypeFor[ownBool](),
	"int8": reflect.TypeFor[ownInt8](), "int16": reflect.TypeFor[ownInt16](), "int32": reflect.TypeFor[ownInt32](),
	"int64": reflect.TypeFor[ownInt64](), "int": reflect.TypeFor[ownInt](), "uint8": reflect.TypeFor[ownUint8](),
	"uint16": reflect.TypeFor[ownUint16](), "uint32": reflect.TypeFor[ownUint32](), "uint64": reflect.TypeFor[ownUint64](),
	"float32": reflect.TypeFor[ownFloat32](), "float64": reflect.TypeFor[ownFloat64](),
	"[16]byte": reflect.TypeFor[ownUUID](),
}

// CQLTypes are all types without others inside.
var CQLTypes = strings.Fields("ascii bigint blob boolean counter date decimal double duration float inet int " +
	"smallint text time timestamp " +
	"timeuuid tinyint uuid varint")

// Accepts says whether a set takes a column of a Go type as a CQL type, which is empty for the one that follows from
// it; and the CQL type.
func Accepts(t reflect.Type, cql string) (string, bool) {
	row := reflect.StructOf([]reflect.StructField{
		{Name: "ID", Type: reflect.TypeFor[int64](), Tag: `db:"id"`},
		{Name: "V", Type: t, Tag: `db:"v"`},
	})
	d := declare.Declaration{Tables: []declare.Table{{Name: "cells", PartKey: []string{"id"}}}}
	if cql != "" {
		d.Types = []declare.TypeOption{{Column: "v", CQL: cql}}
	}
	s, err := declare.New("cell", row, d)
	if err != nil {
		return "", false
	}
	return strings.ReplaceAll(describe.Of(s).Tables[0].Columns[1].Type, " ", ""), true
}
