package cqltype_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// Values in the order of the server. internal/testutil/suite holds the same against real nodes.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, ascending := range map[string][]any{
		"tinyint":   {int8(-128), int8(-1), int8(0), int8(127)},
		"smallint":  {int16(-32768), int16(-1), int16(0), int16(32767)},
		"int":       {int32(math.MinInt32), int32(-1), int32(0), int32(1)},
		"bigint":    {int64(math.MinInt64), int64(-1), int64(0), int64(1)},
		"varint":    {int64(-70000), int64(-129), int64(-128), int64(-1), int64(0), int64(127), int64(128), int64(70000)},
		"timestamp": {int64(-1), int64(0), int64(1)},
		"float": {
			float32(math.Inf(-1)), float32(-1), float32(math.Copysign(0, -1)), float32(0), float32(1),
			float32(math.NaN()),
		},
		"double":  {math.Inf(-1), -1.0, math.Copysign(0, -1), 0.0, 1.0, math.Inf(1), math.NaN()},
		"text":    {"", "A", "a", "aa", "é"},
		"blob":    {[]byte{0}, []byte{0, 0}, []byte{127}, []byte{128}},
		"boolean": {false, true},
		"decimal": {
			inf.NewDec(-1, -100000), inf.NewDec(-15, 1), inf.NewDec(-1, 100000), inf.NewDec(0, 0), inf.NewDec(1, 9),
			inf.NewDec(149, 2),
			inf.NewDec(15, 1), inf.NewDec(2, 0), inf.NewDec(19, 0), inf.NewDec(2, -1), inf.NewDec(1, -100000),
		},
		"frozen<set<int>>":      {[]int32{}, []int32{-1}, []int32{-1, 5}, []int32{0}},
		"frozen<map<int, int>>": {map[int32]int32{}, map[int32]int32{-1: 5}, map[int32]int32{0: -1}, map[int32]int32{0: 1}},
		"frozen<list<int>>":     {[]int32{}, []int32{-1}, []int32{-1, 5}, []int32{0}},
		"timeuuid": {
			gocql.UUID{0, 0, 0, 1, 0, 0, 0x10, 0, 0x80},
			gocql.UUID{0, 0, 0, 1, 0, 0, 0x10, 0, 0xbf},
			gocql.UUID{0, 0, 0, 1, 0, 0, 0x10, 0, 0x7f},
			gocql.UUID{0, 0, 0, 0, 0, 1, 0x10, 0, 0x80},
			gocql.UUID{0, 0, 0, 0, 0, 0, 0x10, 1, 0x80},
			gocql.UUID{0, 0, 0, 0, 0, 0, 0x11, 0, 0x80},
		},
		"uuid": {
			gocql.UUID{9, 0, 0, 0, 0, 0, 0x10, 0, 0x80},
			gocql.UUID{9, 0, 0, 0, 0, 0, 0x10, 0, 0xbf},
			gocql.UUID{0, 0, 0, 0, 0, 1, 0x10, 0, 0x80},
			gocql.UUID{0, 0, 0, 0, 0, 0, 0x40, 0, 0x80},
			gocql.UUID{0x80, 0, 0, 0, 0, 0, 0x40, 0, 0x80},
			gocql.UUID{0, 0, 0, 0, 0, 0, 0x70, 0, 0x80},
		},
	} {
		typ := mustParse(t, name)
		var encoded [][]byte
		for _, v := range ascending {
			data, err := gocql.Marshal(typ.Info(), v)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			encoded = append(encoded, data)
		}
		for i, a := range encoded {
			for j, b := range encoded {
				want := slices.Compare([]int{i}, []int{j})
				if got := typ.Compare(a, b); got < 0 != (want < 0) || got > 0 != (want > 0) {
					t.Errorf("%s: %v against %v: %d, want %d", name, ascending[i], ascending[j], got, want)
				}
			}
		}
	}
}
