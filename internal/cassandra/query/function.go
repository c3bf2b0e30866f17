package query

import (
	"encoding/binary"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// native is a type that has no parts.
func native(name string) *cqltype.Type {
	t, err := cqltype.Parse(name)
	if err != nil {
		panic(err) // a name in this package
	}
	return t
}

var (
	bigintType, intType, boolType = native("bigint"), native("int"), native("boolean")
	ttlsType                      = cqltype.Must("list<int>")
	uuidType, timeUUIDType        = native("uuid"), native("timeuuid")
	timestampType, dateType       = native("timestamp"), native("date")
	tupleType                     = native("tuple<blob, blob>") // any number of parts
)

// function is one that gives a value without looking at a row.
type function struct {
	typ *cqltype.Type
	do  func(*Env, []byte) []byte
}

// constants are the functions without arguments.
var constants = map[string]function{
	"now":              {timeUUIDType, func(e *Env, _ []byte) []byte { return e.timeUUID() }},
	"currenttimeuuid":  {timeUUIDType, func(e *Env, _ []byte) []byte { return e.timeUUID() }},
	"currenttimestamp": {timestampType, func(e *Env, _ []byte) []byte { return bigint(e.Now / 1000) }},
	"currentdate":      {dateType, func(e *Env, _ []byte) []byte { return day(e.Now / 1000) }},
	"uuid": {uuidType, func(e *Env, _ []byte) []byte {
		id := e.timeUUID()
		id[6] = 0x40 | id[6]&0xf
		return id
	}},
}

// conversions are the functions of a time UUID or a timestamp, both given as milliseconds.
var conversions = map[string]function{
	"totimestamp":     {timestampType, func(_ *Env, ms []byte) []byte { return ms }},
	"tounixtimestamp": {bigintType, func(_ *Env, ms []byte) []byte { return ms }},
	"todate":          {dateType, func(_ *Env, ms []byte) []byte { return day(int64(binary.BigEndian.Uint64(ms))) }},
}

// call compiles a function in place of a value of a type.
func (c *compiler) call(t ast.Term, typ *cqltype.Type) (func(*Env) []byte, error) {
	f, of, err := c.function(t)
	if err != nil {
		return nil, err
	}
	if of.Kind() != typ.Kind() && (of.Kind() != gocql.TypeTimeUUID || typ.Kind() != gocql.TypeUUID) {
		return nil, because(option.Mistyped,
			"Type error: cannot assign result of function system.%s (type %s) to a value of type %s", t.Text, of, typ)
	}
	return f, nil
}

func (c *compiler) function(t ast.Term) (func(*Env) []byte, *cqltype.Type, error) {
	if f, ok := constants[t.Text]; ok && len(t.Elems) == 0 {
		return func(e *Env) []byte { return f.do(e, nil) }, f.typ, nil
	}
	f, ok := conversions[t.Text]
	if !ok || len(t.Elems) != 1 || t.Elems[0].Kind != ast.Call {
		return nil, nil, unsupported("function %s", t.Text)
	}
	inner, of, err := c.function(t.Elems[0])
	if err != nil {
		return nil, nil, err
	}
	return func(e *Env) []byte { return f.do(e, milliseconds(of, inner(e))) }, f.typ, nil
}

// milliseconds is the time of a time UUID or a timestamp.
func milliseconds(t *cqltype.Type, b []byte) []byte {
	if t.Kind() != gocql.TypeTimeUUID {
		return b
	}
	id, err := gocql.UUIDFromBytes(b)
	if err != nil {
		return nil
	}
	return bigint(id.Time().UnixMilli())
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// day encodes the date of a time in milliseconds.
func day(ms int64) []byte {
	days := ms / (24 * 3600 * 1000)
	return binary.BigEndian.AppendUint32(nil, uint32(days+1<<31))
}

// timeUUID is a time UUID that no other call gives, of the time of the coordinator.
func (e *Env) timeUUID() []byte {
	n := e.Unique()
	id := gocql.TimeUUIDWith(ticks(e.Now), uint32(n), []byte{
		1, 2, byte(n >> 40), byte(n >> 32), byte(n >> 24),
		byte(n >> 16),
	})
	return id[:]
}

// ticks is a time in microseconds as that of a UUID: hundreds of nanoseconds since the Gregorian calendar.
func ticks(us int64) int64 {
	const calendar = 122192928000000000 // up to 1970
	return us*10 + calendar
}

// Boolean is the type of [applied].
var Boolean = boolType
