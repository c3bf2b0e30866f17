package writer

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The pieces of a stream of package encoding/gob, to make such as no encoder makes.

// The numbers of gob's own types, and those of what is stored.
const (
	gobBoolType, gobIntType, gobUintType, gobStringType = 1, 2, 3, 6
	gobError, gobPaths, gobPath, gobBlobs, gobBlob      = 64, 65, 66, 67, 5
)

func gobUint(n uint64) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	whole := binary.BigEndian.AppendUint64(nil, n)
	for whole[0] == 0 {
		whole = whole[1:]
	}
	return append([]byte{byte(-len(whole))}, whole...)
}

func gobInt(n int64) []byte { return gobUint(uint64(n)<<1 ^ uint64(n>>63)) }

func gobMessage(parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(gobUint(uint64(len(body))), body...)
}

// gobNamed is a name and the number of a type.
func gobNamed(name string, id int64) []byte {
	return slices.Concat([]byte{1}, gobUint(uint64(len(name))), []byte(name), []byte{1}, gobInt(id), []byte{0})
}

type gobField struct {
	name string
	typ  int64
}

// gobStruct and gobSlice are parts of a type's definition; delta is 3 for a struct, less what comes before it.
func gobStruct(delta byte, id int64, fields ...gobField) []byte {
	out := slices.Concat([]byte{delta, 1}, gobNamed("T", id), []byte{1}, gobUint(uint64(len(fields))))
	for _, f := range fields {
		out = append(out, gobNamed(f.name, f.typ)...)
	}
	return append(out, 0)
}

func gobSlice(id, elem int64) []byte {
	return slices.Concat([]byte{2, 1}, gobNamed("S", id), []byte{1}, gobInt(elem), []byte{0})
}

func gobDefine(id int64, parts ...[]byte) []byte {
	return gobMessage(gobInt(-id), slices.Concat(parts...), []byte{0})
}

// A stream that defines a type as two things at once, or one of gob's own types again, is counted as one thing and decoded as
// the other. It does not get past the bounds.
func TestForgedTypesDoNotGetPastTheBounds(t *testing.T) {
	const n = 4 << 20
	number := func(names ...string) (out []gobField) {
		for _, name := range names {
			out = append(out, gobField{name, gobUintType})
		}
		return out
	}
	types := slices.Concat(
		gobDefine(gobError, gobStruct(3, gobError, append([]gobField{
			{"Op", gobStringType},
			{"Timestamp", gobIntType},
			{"Mode", gobUintType},
			{"Strict", gobBoolType},
			{"Paths", gobPaths},
		}, number("X", "Y", "Z")...)...)),
		gobDefine(gobPath, gobStruct(3, gobPath, gobField{"Outcome", gobUintType}, gobField{"Attempts", gobIntType}, gobField{"Err", gobStringType},
			gobField{"Mutations", gobBlobs})),
		gobDefine(gobBlobs, gobSlice(gobBlobs, gobBlob)),
	)
	empty := make([]byte, n+64) // n mutations of no bytes, a byte each
	for name, stream := range map[string][]byte{
		"a slice that is a struct": slices.Concat(types,
			gobDefine(gobPaths, gobSlice(gobPaths, gobPath), gobStruct(1, gobPaths, number("a", "b")...)),
			gobMessage(gobInt(gobError), []byte{5, 1, 1, 0, 3}, gobUint(n), empty)),
		"a string that is a struct": slices.Concat(types, gobDefine(gobPaths, gobSlice(gobPaths, gobPath)),
			gobDefine(gobStringType, gobStruct(3, gobStringType, number("a", "b", "c", "d", "e", "f", "g", "h", "i")...)),
			gobMessage(gobInt(gobError), []byte{1, 1, 'x', 4, 1, 1, 0, 3}, gobUint(n), empty)),
	} {
		t.Run(name, func(t *testing.T) {
			data := append([]byte(magic), stream...)
			data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := new(Error).UnmarshalBinary(data)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > n {
				t.Errorf("%d bytes took %d MiB: %v", len(data), took>>20, err)
			}
		})
	}
}

// What a stream defines costs the decoder memory before there is a value: a field takes a byte of the stream, and hundreds in memory.
func TestForgedDefinitionsAreBounded(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const n = 4 << 20
	wide := func(id int64, fields []byte, count uint64) []byte {
		return gobMessage(gobInt(-id), []byte{3, 1}, gobNamed("T", id), []byte{1}, gobUint(count), fields, []byte{0, 0})
	}
	named := gobNamed("x", gobBlob)
	var types []byte
	for id := int64(66); len(types) < n; id++ {
		types = append(types, gobDefine(id, gobSlice(id, gobBlob))...)
	}
	top := gobDefine(64, gobStruct(3, 64, gobField{"Op", gobStringType}))
	value := gobMessage(gobInt(64), []byte{1, 1, 'x', 0})
	for name, stream := range map[string][]byte{
		"fields without a name": slices.Concat(wide(64, make([]byte, n), n), gobMessage(gobInt(64), []byte{0})),
		"fields of another":     slices.Concat(top, wide(65, make([]byte, n), n), value),
		"fields":                slices.Concat(wide(64, slices.Repeat(named, n/8), n/8), gobMessage(gobInt(64), []byte{0})),
		"types":                 slices.Concat(top, types, value),
	} {
		data := seal(stream)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := new(Error).UnmarshalBinary(data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "defines more than") {
			t.Errorf("%s: %.100v", name, err)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 1<<20 {
			t.Errorf("%s: %d KiB cost %d KiB", name, len(data)>>10, cost>>10)
		}
	}
}
