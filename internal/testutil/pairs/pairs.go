// Package pairs lists the Go types of columns, the CQL types that package tables takes for each, and values of both.
package pairs

import (
	"math"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/describe"
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

// Value is one of a Go type, for a column of a CQL type.
type Value struct {
	Go   reflect.Value
	Null bool // it is null in CQL
	Key  bool // it may be in a key
}

const (
	zeroUUID      = "00000000-0000-0000-0000-000000000000"
	greatestUUID  = "ffffffff-ffff-ffff-ffff-ffffffffffff"
	leastTime     = "00000000-0000-1000-8080-808080808080" // as the server orders them
	greatestTime  = "ffffffff-ffff-1fff-bfff-7f7f7f7f7f7f"
	greatestInet  = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
	nanosInOneDay = 24 * int64(time.Hour)
)

// integers are the bits of CQL types; of a varint 64 are used.
var integers = map[string]int{
	"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64, "varint": 64, "timestamp": 64,
	"counter": 64,
}

// texts are values as strings, by CQL type.
var texts = map[string][]string{
	"text": {"", "\x00", "a", "\U0010ffff", strings.Repeat("é", 3000)}, "ascii": {"", "\x00", "~\x7f"},
	"blob": {"", "\x00", "\xff\xfe"},
	"date": {"1970-01-01", "0000-01-01", "1969-12-31", "9999-12-31"}, "inet": {
		"0.0.0.0", "255.255.255.255", "::",
		greatestInet,
	},
	"uuid": {zeroUUID, "00000000-0000-0000-0000-000000000001", greatestUUID}, "timeuuid": {leastTime, greatestTime},
	"tinyint": {"0", "-1", "-128", "127"}, "smallint": {"0", "-1", "-32768", "32767"},
	"int":    {"0", "-1", "-2147483648", "2147483647"},
	"bigint": {"0", "-1", "-9223372036854775808", "9223372036854775807"}, "varint": {
		"0", "-1", "-9223372036854775808",
		"9223372036854775807",
	},
}

// Values are the zero value, if the CQL type has it, an empty value, if there is one, and the extremes, of a pair that
// tables.New accepts.
func Values(t reflect.Type, cql string) []Value {
	var out []Value
	for _, v := range values(t, cql) {
		value := Value{Go: reflect.ValueOf(v).Convert(t)}
		zero := value.Go.IsZero()
		switch t.Kind() {
		case reflect.Slice:
			value.Null, value.Key = zero, value.Go.Len() > 0 && (cql != "uuid" || slices.Max(value.Go.Bytes()) > 0)
		case reflect.String:
			value.Key = !zero && value.Go.String() != zeroUUID
		case reflect.Array:
			value.Key = !zero
		case reflect.Float32, reflect.Float64:
			value.Key = !math.IsNaN(value.Go.Float())
		case reflect.Struct:
			value.Null = zero && t == reflect.TypeFor[time.Time]()
			value.Key = !value.Null
		default:
			value.Key = true
		}
		out = append(out, value)
	}
	return out
}

func values(t reflect.Type, cql string) []any {
	switch t.Kind() {
	case reflect.String:
		return list(texts[cql])
	case reflect.Bool:
		return []any{false, true}
	case reflect.Float32, reflect.Float64:
		least, most := math.SmallestNonzeroFloat64, math.MaxFloat64
		if t.Bits() == 32 {
			least, most = math.SmallestNonzeroFloat32, math.MaxFloat32
		}
		return list([]float64{0, math.Copysign(0, -1), -0.1, least, math.NaN(), -most, most, math.Inf(-1), math.Inf(1)})
	case reflect.Array:
		return list(uuids(cql))
	case reflect.Slice:
		return bytesOf(t, cql)
	case reflect.Struct:
		return structs(t, cql)
	}
	if cql == "time" {
		return list([]int64{0, 1, nanosInOneDay - 1})
	}
	bits := min(t.Bits(), integers[cql])
	if t.Kind() >= reflect.Uint {
		if integers[cql] == t.Bits() && cql != "varint" {
			panic("a signed type for all values of an unsigned one")
		}
		return list([]uint64{0, 1, 1<<bits - 1})
	}
	return list([]int64{0, -1, -1 << (bits - 1), 1<<(bits-1) - 1})
}

func list[V any](values []V) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func uuids(cql string) []gocql.UUID {
	var out []gocql.UUID
	for _, s := range texts[cql] {
		id, err := gocql.ParseUUID(s)
		if err != nil {
			panic(err)
		}
		out = append(out, id)
	}
	return out
}

func bytesOf(t reflect.Type, cql string) []any {
	out := []any{[]byte(nil)}
	switch {
	case t == reflect.TypeFor[net.IP]() && cql == "inet":
		for _, s := range texts[cql] {
			ip := net.ParseIP(s)
			if short := ip.To4(); short != nil { // as it is read
				ip = short
			}
			out = append(out, []byte(ip))
		}
	case t == reflect.TypeFor[net.IP](): // of one of its lengths, or empty
		out = append(out, []byte{}, []byte{0, 0, 0, 0}, []byte(net.ParseIP(greatestInet)))
	case strings.HasSuffix(cql, "uuid"):
		for _, id := range uuids(cql) {
			out = append(out, id.Bytes())
		}
	default:
		for _, s := range texts[cql] {
			out = append(out, append([]byte{}, s...))
		}
	}
	return out
}

// huge is n times a number of 38 bytes.
func huge(n int64) *big.Int { return new(big.Int).Lsh(big.NewInt(n), 300) }

// day is so many days after 1970-01-01.
func day(n int64) time.Time { return time.Unix(n*86400, 0).UTC() }

func structs(t reflect.Type, cql string) []any {
	switch t {
	case reflect.TypeFor[big.Int]():
		return list([]big.Int{{}, *big.NewInt(-1), *big.NewInt(-129), *huge(-1), *huge(1)})
	case reflect.TypeFor[inf.Dec]():
		return list([]inf.Dec{{}, *inf.NewDec(150, 2), *inf.NewDec(-1, 2), *inf.NewDecBig(huge(-1), 1000), *inf.NewDecBig(huge(1), -1000)})
	case reflect.TypeFor[gocql.Duration]():
		return list([]gocql.Duration{
			{},
			{Months: math.MinInt32, Days: math.MinInt32, Nanoseconds: -math.MaxInt64},
			{Months: math.MaxInt32, Days: math.MaxInt32, Nanoseconds: math.MaxInt64},
		})
	}
	if cql == "date" {
		return list([]time.Time{{}, day(0), day(-1), day(math.MinInt32), day(math.MaxInt32)})
	}
	return list([]time.Time{
		{},
		time.UnixMilli(0).UTC(), time.UnixMilli(-1).UTC(), time.UnixMilli(math.MinInt64).UTC(),
		time.UnixMilli(math.MaxInt64).UTC(),
	})
}
