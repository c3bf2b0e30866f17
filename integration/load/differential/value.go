package differential

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
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

func encoded(t gocql.Type, v any, text string) datum {
	b, err := gocql.Marshal(driver.NativeType(t), v)
	if err != nil {
		panic(err) // one of the values below
	}
	return datum{bytes: b, text: text}
}

// domains are the few values of each native type. They compare otherwise as bytes than as values.
var domains = map[string][]datum{
	"int":      integers(4, -1, 0, 1, 7, -2147483648),
	"bigint":   integers(8, -1, 0, 1, 300, 9223372036854775807),
	"counter":  integers(8, 1, -1, 5),
	"smallint": integers(2, -1, 0, 1, 256),
	"tinyint":  integers(1, -1, 0, 1),
	"text":     texts("", "a", "b", "ab", "é", "it''s"),
	"ascii":    texts("", "a", "~"),
	"blob":     {blob(""), blob("\x00"), blob("\xff"), blob("\x00\x01"), blob("a")},
	"boolean":  {{bytes: []byte{0}, text: "false"}, {bytes: []byte{1}, text: "true"}},
	"double": {
		encoded(gocql.TypeDouble, -0.5, "-0.5"), encoded(gocql.TypeDouble, 0.0, "0"), encoded(gocql.TypeDouble, 1e10, "1e10"),
		encoded(gocql.TypeDouble, 1.5, "1.5"),
	},
	"float":     {encoded(gocql.TypeFloat, float32(-0.5), "-0.5"), encoded(gocql.TypeFloat, float32(2), "2")},
	"timestamp": {timestamp(-1, "-1"), timestamp(0, "'1970-01-01T00:00:00.000Z'"), timestamp(1700000000123, "1700000000123")},
	"date":      {{bytes: []byte{0x80, 0, 0, 0}, text: "'1970-01-01'"}, {bytes: []byte{0x7f, 0xff, 0xff, 0xff}, text: "'1969-12-31'"}},
	"uuid": {
		identifier("00000000-0000-4000-8000-000000000001"), identifier("ffffffff-ffff-4fff-bfff-ffffffffffff"),
		identifier("00000002-0000-1000-8000-000000000001"),
	},
	"timeuuid": {
		identifier("00000001-0000-1000-8000-000000000001"), identifier("00000001-0000-1000-8000-0000000000ff"),
		identifier("00000000-0001-1000-8000-000000000001"), identifier("ffffffff-0000-1000-bfff-000000000000"),
	},
	"inet":    {{bytes: []byte{127, 0, 0, 1}, text: "'127.0.0.1'"}, {bytes: append(make([]byte, 15), 1), text: "'::1'"}},
	"varint":  {{bytes: []byte{0xff}, text: "-1"}, {bytes: []byte{0}, text: "0"}, {bytes: []byte{0, 0x80}, text: "128"}},
	"decimal": {{bytes: []byte{0, 0, 0, 1, 0xff}, text: "-0.1"}, {bytes: []byte{0, 0, 0, 0, 2}, text: "2"}, {bytes: []byte{0, 0, 0, 2, 0, 200}, text: "2.00"}},
	"time":    {encoded(gocql.TypeTime, int64(0), "'00:00:00'"), encoded(gocql.TypeTime, int64(1), "'00:00:00.000000001'")},
	"duration": {
		encoded(gocql.TypeDuration, gocql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, "1mo2d3ns"), encoded(gocql.TypeDuration, gocql.Duration{}, "0s"),
	},
}

func integers(size int, values ...int64) (out []datum) {
	for _, v := range values {
		out = append(out, datum{bytes: binary.BigEndian.AppendUint64(nil, uint64(v))[8-size:], text: strconv.FormatInt(v, 10)})
	}
	return out
}

func number(v int) datum { return integers(4, int64(v))[0] }
func long(v int64) datum { return integers(8, v)[0] }

func texts(values ...string) (out []datum) {
	for _, v := range values {
		out = append(out, datum{bytes: []byte(strings.ReplaceAll(v, "''", "'")), text: "'" + v + "'"})
	}
	return out
}

func blob(s string) datum { return datum{bytes: []byte(s), text: "0x" + hex.EncodeToString([]byte(s))} }

func timestamp(ms int64, text string) datum {
	return datum{bytes: binary.BigEndian.AppendUint64(nil, uint64(ms)), text: text}
}

func identifier(s string) datum {
	id, err := gocql.ParseUUID(s)
	if err != nil {
		panic(err) // one of those above
	}
	return datum{bytes: id.Bytes(), text: s}
}

// value is some value of the type that is not null.
func (t typ) value(r *rand.Rand) datum {
	if len(t.Elems()) == 0 {
		d := domains[t.String()]
		if d == nil {
			panic("no values of type " + t.String())
		}
		return d[r.IntN(len(d))]
	}
	if t.Kind() == gocql.TypeUDT {
		return t.fieldsOf(r)
	}
	n := r.IntN(4)
	if t.Kind() != gocql.TypeList { // each key once
		n = min(n, len(domains[t.elem(0).String()]))
	}
	var entries []string
	out := binary.BigEndian.AppendUint32(nil, 0)
	seen := make(map[string]bool)
	for range n {
		first := t.elem(0).value(r)
		if t.Kind() != gocql.TypeList && seen[string(first.bytes)] {
			continue
		}
		seen[string(first.bytes)] = true
		entry := first.text
		out = cqltype.AppendValue(out, first.bytes)
		if t.Kind() == gocql.TypeMap {
			second := t.elem(1).value(r)
			entry += ": " + second.text
			out = cqltype.AppendValue(out, second.bytes)
		}
		entries = append(entries, entry)
	}
	binary.BigEndian.PutUint32(out, uint32(len(entries)))
	text := strings.Join(entries, ", ")
	if t.Kind() == gocql.TypeList {
		return datum{bytes: out, text: "[" + text + "]"}
	}
	return datum{bytes: out, text: "{" + text + "}"}
}

// fieldsOf is a value of a user-defined type, in which some fields are null.
func (t typ) fieldsOf(r *rand.Rand) datum {
	out := []byte{}
	var parts []string
	for i := range t.Elems() {
		d := t.elem(i).value(r)
		if r.IntN(3) == 0 {
			d = null
		}
		out = cqltype.AppendValue(out, d.bytes)
		parts = append(parts, t.field(i)+": "+d.text)
	}
	return datum{bytes: out, text: "{" + strings.Join(parts, ", ") + "}"}
}

// several are some different values of a type, in any order.
func (t typ) several(r *rand.Rand, n int) []datum {
	d := slices.Clone(domains[t.String()])
	r.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
	return d[:min(n, len(d))]
}
