package writer

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The types of columns are stored as texts, and parsed they take up to 60 times as much. Whatever they are made of and however many there
// are, an error takes the memory of its own bytes, a few times, and of a mebibyte of types.
func TestStoredTypesCostInTheOrderOfTheirBytes(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const length = 64_000 // of a text; 65,536 are read
	filled := func(open, part, end string) string {
		return open + strings.TrimSuffix(strings.Repeat(part+",", length/(len(part)+1)), ",") + end
	}
	fields := func() string {
		var b strings.Builder
		for i := 0; b.Len() < length; i++ {
			fmt.Fprintf(&b, ", f%x int", i)
		}
		return "u{" + b.String()[2:] + "}"
	}
	// stored is an error with n mutations of as many columns, of type text with i elements more.
	stored := func(n, columns int, text func(i int) string) []byte {
		w := wireError{Op: "op", Timestamp: 1, Mode: FanOut, Paths: []wirePath{{}}}
		for i := range n {
			m := put(1, func(*forged) {})
			for j := range columns {
				m.Columns = append(m.Columns, forgedColumn{Name: fmt.Sprintf("c%d", j), State: 1, Type: text(i*columns + j)})
			}
			w.Paths[0].Mutations = append(w.Paths[0].Mutations, m.stored())
		}
		return sealed(w)
	}
	for name, text := range map[string]string{
		"a wide tuple":           filled("tuple<", "int", ">"),
		"tuples of one":          filled("tuple<", "tuple<int>", ">"),
		"lists":                  filled("tuple<", "list<int>", ">"),
		"maps":                   filled("tuple<", "map<int,int>", ">"),
		"a wide tuple, deep":     strings.Repeat("tuple<", 60) + filled("tuple<", "int", ">") + strings.Repeat(">", 60),
		"types of one field":     filled("tuple<", "u{a int}", ">"),
		"a type of many fields":  fields(),
		"types of several":       filled("tuple<", "u{a int,b int,c int,d int,e int,f int,g int,h int,i int,j int}", ">"),
		"types inside of a type": filled("u{a tuple<", "u{a int}", ">}"),
	} {
		same := func(int) string { return text }
		other := func(i int) string { return "tuple<" + text + strings.Repeat(",int", i) + ">" }
		for shape, test := range map[string]struct {
			data    []byte
			refused bool
		}{
			"in one mutation":            {stored(1, 64, other), true},
			"in many mutations":          {stored(64, 1, other), true},
			"one type in one mutation":   {stored(1, 64, same), false},
			"one type in many mutations": {stored(64, 1, same), false},
			"as many as are read":        {stored(4, 4, other), false},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := new(Error).UnmarshalBinary(test.data)
			runtime.ReadMemStats(&after)
			if (err != nil) != test.refused || test.refused && !strings.Contains(err.Error(), "column types of more than 1048576 characters together") {
				t.Errorf("%s, %s: %.200v", name, shape, err)
			}
			// Alone it is 64 times a mebibyte. What a sync.Pool forgets, under load or with the race detector, comes on top.
			n := uint64(len(test.data))
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 8*n+128<<20 {
				t.Errorf("%s, %s: %d KiB cost %d KiB", name, shape, n>>10, cost>>10)
			}
		}
	}
}
