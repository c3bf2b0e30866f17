package undecoded_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/undecoded"
)

// A list may say that it has fewer than no elements, and a tuple a part that is longer than itself.
func TestDecodeOfWhatTheDriverPanicsAt(t *testing.T) {
	t.Parallel()
	type pair struct {
		N     int
		Parts []int
	}
	for text, test := range map[string]struct {
		data string
		into any
	}{
		"frozen<list<int>>":                     {"\xff\xff\xff\xff", new([]int)},
		"frozen<list<frozen<set<int>>>>":        {"\x00\x00\x00\x01\x00\x00\x00\x04\xff\xff\xff\xff", new([][]int)},
		"frozen<tuple<int, frozen<list<int>>>>": {"\xff\xff\xff\xff\x00\x00\x00\x04\x80\x00\x00\x00", new(pair)},
		"frozen<tuple<int, int>>":               {"\x00\x00\x00\x09\x00", new([]int)},
	} {
		typ, err := cqltype.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var failed *undecoded.Error
		if err := undecoded.Decode("c", typ.Info(), []byte(test.data), test.into); !errors.As(err, &failed) || failed.Column != "c" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A set can be written from a Go map, and not be read into it.
func TestDecodeOfASetIntoAMap(t *testing.T) {
	t.Parallel()
	typ, err := cqltype.Parse("set<text>")
	if err != nil {
		t.Fatal(err)
	}
	err = undecoded.Decode("tags", typ.Info(), []byte("\x00\x00\x00\x01\x00\x00\x00\x01a"), new(map[string]struct{}))
	if err == nil || !strings.HasSuffix(err.Error(), "reads a set into a slice only; make the field a []string, and declare the column with "+
		`tables.Type("tags", "set<...>")`) {
		t.Error(err)
	}
}
