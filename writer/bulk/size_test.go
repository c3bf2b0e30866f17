package bulk

import (
	"math/big"
	"reflect"
	"testing"
	"time"
)

// What a value refers to is counted with it, in full, of whatever type it is, and that ends.
func TestReferred(t *testing.T) { //nolint:paralleltest // it counts allocations
	type ring struct {
		next *ring
		data []byte
	}
	own := &ring{data: make([]byte, 1000)}
	own.next = own
	text := string(make([]byte, 1000))
	texts := make([]string, 2, 8)
	texts[0] = text
	for name, test := range map[string]struct {
		value          any
		atLeast, below int
	}{
		"number":                {int64(7), 0, 1},
		"text":                  {text, 1000, 1001},
		"blob":                  {make([]byte, 1000), 1000, 1001},
		"pointer":               {&text, 1000, 1100},
		"nil":                   {(*string)(nil), 0, 1},
		"list":                  {texts, 1000, 1100},
		"array":                 {[2]string{text, text}, 2000, 2001},
		"map":                   {map[string][]byte{text: make([]byte, 1000)}, 2000, 2100},
		"struct":                {struct{ A, B string }{text, text}, 2000, 2001},
		"any":                   {[]any{text}, 1000, 1100},
		"number without bounds": {new(big.Int).Lsh(big.NewInt(1), 8000), 1000, 1100},
		"time":                  {time.Now(), 0, 1},
		"times":                 {[]time.Time{time.Now()}, 24, 25},
		"endless":               {own, 1000, 1000 * mostReferred},
		"unset":                 {map[string]*ring{"a": nil}, 1, 100},
	} {
		if got := referred(reflect.ValueOf(test.value), mostReferred); got < test.atLeast || got >= test.below {
			t.Errorf("%s: %d bytes, want at least %d, and below %d", name, got, test.atLeast, test.below)
		}
	}
	row := reflect.ValueOf([]string{text})
	if n := testing.AllocsPerRun(10, func() { referred(row, mostReferred) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
