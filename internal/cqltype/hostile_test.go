package cqltype_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// hostileTypes are types whose values have parts, whose sizes stand in the value.
var hostileTypes = []string{
	"frozen<list<int>>", "frozen<set<text>>", "frozen<map<text, int>>", "frozen<tuple<int, frozen<list<double>>>>",
	"decimal", "varint",
	"timeuuid", "frozen<list<frozen<set<frozen<map<int, blob>>>>>>",
}

func hostile(tb testing.TB) (out []*cqltype.Type) {
	tb.Helper()
	for _, text := range hostileTypes {
		t, err := cqltype.Parse(text)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, t)
	}
	return out
}

// A collection that says that it has four billion elements, and has none, is compared at once.
func TestCompareOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, typ := range hostile(t) {
		done := make(chan int, 1)
		go func() { done <- typ.Compare([]byte{0xff, 0xff, 0xff, 0xff}, []byte{0xff, 0xff, 0xff, 0xff}) }()
		select {
		case c := <-done:
			if c != 0 {
				t.Errorf("%s: a value is not equal to itself: %d", typ, c)
			}
		case <-time.After(2 * time.Second):
			t.Errorf("%s: compared for more than two seconds", typ)
		}
	}
}

// FuzzCompare compares any bytes: nothing panics, the order does not depend on which comes first, and a value is the
// same as itself.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7}, []byte{0, 0, 0, 2, 0, 0, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{0xff, 0xff, 0xff, 0xfe})
	f.Add([]byte{0, 0, 0, 1, 5}, []byte{0, 0, 0, 9, 0xff, 5})
	types := hostile(f)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, typ := range types {
			if x, y := typ.Compare(a, b), typ.Compare(b, a); x != -y {
				t.Errorf("%s: %x and %x: %d, the other way %d", typ, a, b, x, y)
			}
			if !typ.Same(a, a) {
				t.Errorf("%s: %x is not the same as itself", typ, a)
			}
		}
	})
}
