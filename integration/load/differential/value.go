package differential

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/literal"
)

// typ is a type of a column.
type typ struct{ *cqltype.Type }

// elem is one of the types of its elements, or of the fields of a user-defined type.
func (t typ) elem(i int) typ { return typ{t.Elems()[i]} }

// field is the name of a field of a user-defined type.
func (t typ) field(i int) string { return t.User().Fields[i].Name }

// datum is a value: its bytes, and as a literal.
type datum struct {
	bytes []byte // nil is null
	text  string
	unset bool
}

var (
	null  = datum{text: "null"}
	unset = datum{text: "null", unset: true}
)

// domains are the few values of each native type. They compare otherwise as bytes than as values.
var domains = map[string][]any{
	"int":       {-1, 0, 1, 7, -2147483648},
	"bigint":    {-1, 0, 1, 300, 9223372036854775807},
	"counter":   {1, -1, 5},
	"smallint":  {-1, 0, 1, 256},
	"tinyint":   {-1, 0, 1},
	"text":      {"", "a", "b", "ab", "é", "it's"},
	"ascii":     {"", "a", "~"},
	"blob":      {"", "\x00", "\xff", "\x00\x01", "a"},
	"boolean":   {false, true},
	"double":    {-0.5, 0.0, 1e10, 1.5},
	"float":     {float32(-0.5), float32(2)},
	"timestamp": {int64(-1), int64(0), int64(1700000000123)},
	"date":      {"1970-01-01", "1969-12-31"},
	"uuid": {
		"00000000-0000-4000-8000-000000000001", "ffffffff-ffff-4fff-bfff-ffffffffffff", "00000002-0000-1000-8000-000000000001",
	},
	"timeuuid": {
		"00000001-0000-1000-8000-000000000001", "00000001-0000-1000-8000-0000000000ff",
		"00000000-0001-1000-8000-000000000001", "ffffffff-0000-1000-bfff-000000000000",
	},
	"inet":     {"127.0.0.1", "::1"},
	"varint":   {-1, 0, 128},
	"decimal":  {inf.NewDec(-1, 1), inf.NewDec(2, 0), inf.NewDec(200, 2)},
	"time":     {int64(0), int64(1)},
	"duration": {gocql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, gocql.Duration{}},
}

func number(v int) datum {
	return datum{bytes: binary.BigEndian.AppendUint32(nil, uint32(v)), text: strconv.Itoa(v)}
}

func long(v int64) datum {
	return datum{bytes: binary.BigEndian.AppendUint64(nil, uint64(v)), text: strconv.FormatInt(v, 10)}
}

// encoded is a value as the driver encodes it, and as a literal: in any of several forms, if the type has them.
func (t typ) encoded(r *rand.Rand, v any) datum {
	b, err := gocql.Marshal(t.Info(), v)
	if err != nil {
		panic(err) // one of the values above
	}
	text := literal.Of(t.Type, b)
	forms := []string{text}
	switch t.Kind() {
	case gocql.TypeTimestamp:
		forms = append(forms, strings.Replace(text, " ", "T", 1), strconv.FormatInt(v.(int64), 10))
	case gocql.TypeTime:
		forms = append(forms, strings.Replace(text, ".000000000", "", 1))
	case gocql.TypeDuration:
		forms = append(forms, strings.Replace(text, "0ns", "0s", 1))
	case gocql.TypeDouble:
		forms = append(forms, strings.Replace(text, "e+", "e", 1))
	}
	return datum{bytes: b, text: forms[r.IntN(len(forms))]}
}

// value is some value of the type that is not null.
func (t typ) value(r *rand.Rand) datum {
	if len(t.Elems()) == 0 {
		d := domains[t.String()]
		if d == nil {
			panic("no values of type " + t.String())
		}
		return t.encoded(r, d[r.IntN(len(d))])
	}
	var out []byte
	if t.Kind() == gocql.TypeUDT {
		out = t.fields(r)
	} else {
		out = t.elements(r)
	}
	return datum{bytes: out, text: literal.Of(t.Type, out)}
}

// fields is a value of a user-defined type, in which some fields are null.
func (t typ) fields(r *rand.Rand) []byte {
	out := []byte{}
	for i := range t.Elems() {
		d := t.elem(i).value(r)
		if r.IntN(3) == 0 {
			d = null
		}
		out = cqltype.AppendValue(out, d.bytes)
	}
	return out
}

// elements is a collection, in which each key is once.
func (t typ) elements(r *rand.Rand) []byte {
	n := r.IntN(4)
	if t.Kind() != gocql.TypeList {
		n = min(n, len(domains[t.elem(0).String()]))
	}
	out := binary.BigEndian.AppendUint32(nil, 0)
	seen := make(map[string]bool)
	entries := uint32(0)
	for range n {
		first := t.elem(0).value(r)
		if t.Kind() != gocql.TypeList && seen[string(first.bytes)] {
			continue
		}
		seen[string(first.bytes)] = true
		entries++
		out = cqltype.AppendValue(out, first.bytes)
		if t.Kind() == gocql.TypeMap {
			out = cqltype.AppendValue(out, t.elem(1).value(r).bytes)
		}
	}
	binary.BigEndian.PutUint32(out, entries)
	return out
}

// several are some different values of a type, in any order.
func (t typ) several(r *rand.Rand, n int) (out []datum) {
	d := domains[t.String()]
	for _, i := range r.Perm(len(d))[:min(n, len(d))] {
		out = append(out, t.encoded(r, d[i]))
	}
	return out
}
