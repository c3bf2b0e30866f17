package tables_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/wire"
)

// Bytes of storage that somebody else may have written cost in the order of what they are, in memory and in time: what
// a few bytes blow up to is rejected before there is room made for it, and in an error that does not repeat it.
func TestStoredMutationCostsWhatItHolds(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", f%x int", i)
		}
		return "u{" + b.String()[2:] + "}"
	}
	key := storedColumn{"id", 2, "text", []byte("a"), 0}
	named := func(n int) []storedColumn {
		out := []storedColumn{key}
		for i := range n {
			out = append(out, storedColumn{Name: fmt.Sprintf("c%x", i)})
		}
		return out
	}
	const tuple = 12_000
	wide := "tuple<" + strings.TrimSuffix(strings.Repeat("int,", tuple), ",") + ">"
	nested := []byte{0}
	for range 51 {
		nested = append(binary.BigEndian.AppendUint32(nil, uint32(len(nested))), nested...)
	}
	for name, test := range map[string]struct {
		columns []storedColumn
		refused string
	}{
		"a value of no such type": {
			[]storedColumn{key, {"u", 2, strings.Repeat("tuple<", 50) + wide + strings.Repeat(">", 50), nested, 0}},
			"column u: inside a tuple",
		},
		"empty columns":          {make([]storedColumn, 4<<20), "too many elements"},
		"unset columns":          {named(1_000_000), "too many elements"},
		"as many as are allowed": {named(999_999), ""},
		"a type of many fields": {
			[]storedColumn{key, {"u", 1, fields(60_000), nil, 0}},
			"a type of more than 65536 characters",
		},
		"fields as are allowed":   {[]storedColumn{key, {"u", 1, fields(5_000), nil, 0}}, ""},
		"many fields, many times": {append(named(0), repeated(storedColumn{"u", 1, fields(5_000), nil, 0}, 10)...), ""},
		"wide in deep": {[]storedColumn{
			key,
			{"u", 1, strings.Repeat("tuple<", 50) + wide + strings.Repeat(">", 50), nil, 0},
		}, ""},
		"a long word": {[]storedColumn{key, {"u", 1, strings.Repeat("x", 60_000), nil, 0}}, "CQL type"},
	} {
		w := storedMutation{
			Kind: uint8(statement.Put), Keyspace: "shop", Table: "things", Timestamp: 1, Keys: 1, Part: 1,
			Columns: test.columns,
		}
		data := wire.Append(nil, w)
		var m statement.Mutation
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := m.UnmarshalBinary(data)
		runtime.ReadMemStats(&after)
		switch {
		case (err == nil) != (test.refused == ""), err != nil && !strings.Contains(err.Error(), test.refused):
			t.Errorf("%s: %.200v, want %q", name, err, test.refused)
		case err != nil && len(err.Error()) > 500:
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if cost, limit := after.TotalAlloc-before.TotalAlloc, uint64(200*len(data)+1<<20); cost > limit {
			t.Errorf("%s: %d KiB cost %d KiB", name, len(data)>>10, cost>>10)
		}
	}
}

// repeated gives the column n times, under names of its own.
func repeated(c storedColumn, n int) []storedColumn {
	out := make([]storedColumn, n)
	for i := range out {
		out[i] = c
		out[i].Name = fmt.Sprintf("%s%d", c.Name, i)
	}
	return out
}
