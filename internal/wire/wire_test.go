package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/cost"
)

type part struct {
	Name string
	Data []byte
	ID   [4]byte
}

type whole struct {
	On    bool
	State uint8
	At    int64
	Count int
	Parts []part
	Texts []string
}

// What is written is read again. Cut anywhere, or with a byte more, it is rejected.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	w := whole{
		true, 3, -1 << 63, math.MaxInt,
		[]part{{"a", []byte{0}, [4]byte{1, 2, 3, 4}}, {Data: []byte{}}},
		[]string{"", "x"},
	}
	data := Append(nil, w)
	var again whole
	if n, err := Decode(data, &again, 4); err != nil || n != 4 || !reflect.DeepEqual(again, w) {
		t.Errorf("%d elements, %v: %+v", n, err, again)
	}
	if _, err := Decode(data, &again, 3); err == nil {
		t.Error("more elements than are allowed")
	}
	for n := range data {
		if _, err := Decode(data[:n], new(whole), 4); err == nil {
			t.Errorf("%d of %d bytes pass for the whole", n, len(data))
		}
	}
	if _, err := Decode(append(data, 0), new(whole), 4); err == nil {
		t.Error("a byte more is passed over")
	}
}

// FuzzDecode reads any bytes: what that takes grows with them, and what it reads is written as it was read.
func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, whole{Parts: make([]part, 3), Texts: []string{"a"}}))
	f.Add([]byte{1, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add(append(binary.AppendUvarint([]byte{1, 1, 0, 0}, 8<<10), make([]byte, 8<<10)...)) // a part takes more than a byte
	f.Fuzz(func(t *testing.T, data []byte) {
		var w, again whole
		var err error
		cost.Bound(t, len(data), 32, func() { _, err = Decode(data, &w, 1<<20) })
		if err != nil {
			return
		}
		if _, err := Decode(Append(nil, w), &again, 1<<20); err != nil || !bytes.Equal(Append(nil, again), Append(nil, w)) {
			t.Errorf("%+v is read again as %+v: %v", w, again, err)
		}
	})
}
