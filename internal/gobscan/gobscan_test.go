package gobscan_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/internal/gobscan"
)

type leaf struct {
	Name  string
	Data  []byte
	State uint8
}

type tree struct {
	Op     string
	At     int64
	Share  float64
	On     bool
	ID     [16]byte
	Leaves []leaf
	Blobs  [][]byte
	One    *leaf
	Inner  []struct{ Leaves []leaf }
}

func stream(tb testing.TB, v any) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(v); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func whole() tree {
	t := tree{
		Op: "op", At: -5, Share: 0.1, On: true, ID: [16]byte{1, 255}, Leaves: []leaf{{Name: "a", Data: make([]byte, 300)}, {}},
		Blobs: [][]byte{{}, {1, 2}, nil}, One: &leaf{State: 200}, Inner: make([]struct{ Leaves []leaf }, 2),
	}
	t.Inner[1].Leaves = make([]leaf, 70_000)
	return t
}

// What is counted is what the decoder makes room for.
func TestElements(t *testing.T) {
	t.Parallel()
	for want, v := range map[int]any{16: tree{Op: "x"}, 16 + 2 + 3 + 2 + 70_000: whole(), 5: struct{ Blobs [][]byte }{make([][]byte, 5)}} {
		if got, err := gobscan.Elements(stream(t, v)); err != nil || got != want {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
}

// Types that are not stored are rejected, as is what is cut short.
func TestOtherStreams(t *testing.T) {
	t.Parallel()
	type list struct{ Next *list }
	deep := &list{}
	for range 100 {
		deep = &list{deep}
	}
	for name, v := range map[string]any{"a map": struct{ M map[string]int }{map[string]int{"a": 1}}, "a number": 5, "a slice": []int{1}, "a list": deep} {
		if n, err := gobscan.Elements(stream(t, v)); err == nil {
			t.Errorf("%s: %d elements", name, n)
		}
	}
	small := whole()
	small.Inner = nil
	data := stream(t, small)
	for n := range data {
		if _, err := gobscan.Elements(data[:n]); err == nil {
			t.Errorf("%d of %d bytes pass for the whole", n, len(data))
		}
	}
}

// A stream that defines more types and fields than anything that is stored is rejected. Its values are not looked at.
func TestDefinitionsAreBounded(t *testing.T) {
	t.Parallel()
	fields := make([]reflect.StructField, 600)
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()}
	}
	for n, refused := range map[int]bool{400: false, 499: false, 500: true, 600: true} {
		v := reflect.New(reflect.StructOf(fields[:n])).Elem().Interface()
		if _, err := gobscan.Elements(stream(t, v)); (err != nil) != refused {
			t.Errorf("%d fields: %v", n, err)
		}
	}
}

// FuzzElements: nothing panics, and what gob decodes has no more elements than were counted, or is rejected.
func FuzzElements(f *testing.F) {
	small := whole()
	small.Inner = small.Inner[:1]
	f.Add(stream(f, small))
	f.Add(stream(f, tree{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		counted, err := gobscan.Elements(data)
		if err != nil {
			return
		}
		var got tree
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&got); err != nil {
			return
		}
		n := len(got.Leaves) + len(got.Blobs) + len(got.Inner)
		for _, inner := range got.Inner {
			n += len(inner.Leaves)
		}
		if n > counted {
			t.Errorf("%d elements decoded, %d counted", n, counted)
		}
	})
}
