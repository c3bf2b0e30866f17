package cqltype

import (
	"fmt"
	"math/big"
	"net"
	"reflect"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

var inferred = map[reflect.Type]gocql.Type{
	reflect.TypeFor[gocql.UUID]():     gocql.TypeUUID,
	reflect.TypeFor[time.Time]():      gocql.TypeTimestamp,
	reflect.TypeFor[inf.Dec]():        gocql.TypeDecimal,
	reflect.TypeFor[big.Int]():        gocql.TypeVarint,
	reflect.TypeFor[net.IP]():         gocql.TypeInet,
	reflect.TypeFor[gocql.Duration](): gocql.TypeDuration,
}

var inferredKinds = map[reflect.Kind]gocql.Type{
	reflect.String: gocql.TypeVarchar, reflect.Bool: gocql.TypeBoolean,
	reflect.Int8: gocql.TypeTinyInt, reflect.Int16: gocql.TypeSmallInt, reflect.Int32: gocql.TypeInt,
	reflect.Int64: gocql.TypeBigInt, reflect.Int: gocql.TypeBigInt,
	reflect.Float32: gocql.TypeFloat, reflect.Float64: gocql.TypeDouble,
}

// Infer gives the CQL type a Go type stands for when nothing else is declared: string text, []byte blob, bool boolean,
// int8 to int64 tinyint to bigint, int bigint, float32 float, float64 double, gocql.UUID and [16]byte uuid, time.Time
// timestamp, inf.Dec decimal, big.Int varint, net.IP inet, gocql.Duration duration, map[K]V map, map[K]struct{} set,
// slice list; a pointer stands for its element. The user-defined types ts are frozen. Types that could mean several
// things (time.Duration, unsigned integers, types with their own MarshalCQL) are rejected: their CQL type must be
// declared.
func (ts *Types) Infer(t reflect.Type) (*Type, error) { return ts.infer(t, 0) }

// maxDepth ends the walk through a Go type that contains itself.
const maxDepth = 16

func (ts *Types) infer(t reflect.Type, depth int) (*Type, error) {
	if user := ts.Of(t); user != nil {
		return &Type{kind: gocql.TypeUDT, user: user, frozen: true}, nil
	}
	if kind, ok := inferred[t]; ok {
		return natives[kind], nil
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("no CQL type follows from Go type %s, which is nested too deep", t)
	}
	if t.Kind() == reflect.Pointer {
		return ts.infer(t.Elem(), depth+1)
	}
	// A pointer has the methods of its element too.
	if t == reflect.TypeFor[time.Duration]() || reflect.PointerTo(t).Implements(reflect.TypeFor[gocql.Marshaler]()) {
		return nil, &NoTypeError{t}
	}
	if kind, ok := inferredKinds[t.Kind()]; ok {
		return natives[kind], nil
	}
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 16 && t.Elem().Kind() == reflect.Uint8 {
			return natives[gocql.TypeUUID], nil
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return natives[gocql.TypeBlob], nil
		}
		return ts.inferCollection(gocql.TypeList, depth, t.Elem())
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0 {
			return ts.inferCollection(gocql.TypeSet, depth, t.Key())
		}
		return ts.inferCollection(gocql.TypeMap, depth, t.Key(), t.Elem())
	}
	return nil, &NoTypeError{t}
}

// basics are the Go types that the driver knows the defined types of a kind by.
var basics = map[reflect.Kind]reflect.Type{
	reflect.String: reflect.TypeFor[string](), reflect.Bool: reflect.TypeFor[bool](),
	reflect.Int8: reflect.TypeFor[int8](), reflect.Int16: reflect.TypeFor[int16](),
	reflect.Int32: reflect.TypeFor[int32](), reflect.Int64: reflect.TypeFor[int64](),
	reflect.Uint8: reflect.TypeFor[uint8](), reflect.Uint16: reflect.TypeFor[uint16](),
	reflect.Uint32: reflect.TypeFor[uint32](), reflect.Uint64: reflect.TypeFor[uint64](),
	reflect.Int: reflect.TypeFor[int](), reflect.Uint: reflect.TypeFor[uint](),
	reflect.Float32: reflect.TypeFor[float32](), reflect.Float64: reflect.TypeFor[float64](),
}

var (
	uuidType = reflect.TypeFor[gocql.UUID]()
	bytes16  = reflect.TypeFor[[16]byte]()
	byteType = reflect.TypeFor[[]byte]()
)

// Plain is the Go type to give the driver in the place of t: it knows defined types of some kinds only, and reads no
// null into a [16]byte.
func Plain(t reflect.Type) reflect.Type {
	switch {
	case t.Kind() == reflect.Array && t.ConvertibleTo(bytes16):
		return uuidType
	case t.PkgPath() == "" || t == reflect.TypeFor[net.IP]() || t == reflect.TypeFor[time.Duration]():
		return t
	case t.Kind() == reflect.Slice && t.ConvertibleTo(byteType):
		return byteType
	case basics[t.Kind()] != nil:
		return basics[t.Kind()]
	}
	return t
}

// NoTypeError says from which Go type no CQL type follows: that of the value, or of a part of it.
type NoTypeError struct{ Go reflect.Type }

func (e *NoTypeError) Error() string { return fmt.Sprintf("no CQL type follows from Go type %s", e.Go) }

func (ts *Types) inferCollection(kind gocql.Type, depth int, parts ...reflect.Type) (*Type, error) {
	elems := make([]*Type, len(parts))
	for i, part := range parts {
		e, err := ts.infer(part, depth+1)
		if err != nil {
			return nil, err
		}
		elems[i] = e.freeze()
	}
	return composed(kind, elems, false), nil
}
