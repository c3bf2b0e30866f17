package undecoded_test

import (
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/testutil/cost"
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
		if err := undecoded.Decode("c", typ.Info(), []byte(test.data), test.into); !errors.As(err, &failed) ||
			failed.Column != "c" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A value of 14 bytes that claims 5,000,000 elements costs what 14 bytes cost.
func TestDecodeCounts(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	data := []byte("\x00\x4c\x4b\x40\x00\x00\x00\x01a\x00\x00\x00\x01b")
	for text, into := range map[string]any{
		"frozen<list<text>>": new([]string), "frozen<set<text>>": new(map[string]bool),
		"map<text, text>": new(map[string]string),
	} {
		typ, err := cqltype.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		cost.Bound(t, len(data), 100, func() { err = undecoded.Decode("c", typ.Info(), data, into) })
		if err == nil {
			t.Errorf("%s is decoded", text)
		}
	}
}

type owned [16]byte

// What the driver writes and does not read back.
func TestDecodeOfWhatTheDriverDoesNot(t *testing.T) {
	t.Parallel()
	type tuple struct {
		N    int32
		Data *[]byte
	}
	const empty, one, null = "\x00\x00\x00\x00", "\x00\x00\x00\x01", "\xff\xff\xff\xff"
	id := strings.Repeat("\x01", 16)
	for _, test := range []struct {
		text string
		data []byte
		want any
	}{
		{"blob", nil, []byte(nil)},
		{"blob", []byte{}, []byte{}},
		{"blob", []byte{}, &[]byte{}},
		{"blob", nil, (*[]byte)(nil)},
		{"frozen<list<blob>>", []byte(one + empty), [][]byte{{}}},
		{"set<blob>", []byte(one + empty), []*[]byte{{}}},
		{"map<blob, blob>", []byte(one + empty + empty), map[string][]byte{"": {}}},
		{"frozen<tuple<int, blob>>", []byte("\x00\x00\x00\x04" + one + empty), tuple{1, &[]byte{}}},
		{"frozen<tuple<int, blob>>", []byte("\x00\x00\x00\x04" + one + null), tuple{1, nil}},
		{"frozen<tuple<int, blob>>", []byte("\x00\x00\x00\x04" + one), tuple{1, nil}},
		{"frozen<tuple<blob, blob>>", []byte(null + empty), [][]byte{nil, {}}},
		{"set<text>", []byte(one + one + "a"), map[string]struct{}{"a": {}}},
		{"frozen<list<int>>", nil, [2]int32{}},
		{"inet", nil, net.IP(nil)},
		{"frozen<tuple<inet, decimal>>", []byte(null + null), struct {
			IP  net.IP
			Dec inf.Dec
		}{}},
		{"uuid", []byte(id), owned([]byte(id))},
		{"uuid", nil, owned{}},
		{"uuid", nil, [16]byte{}},
		{"timeuuid", []byte(id), (*owned)([]byte(id))},
	} {
		typ, err := cqltype.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		into := reflect.New(reflect.TypeOf(test.want))
		if err := undecoded.Decode("c", typ.Info(), test.data, into.Interface()); err != nil ||
			!reflect.DeepEqual(into.Elem().Interface(), test.want) {
			t.Errorf("%s %x: %#v, %v, want %#v", test.text, test.data, into.Elem(), err, test.want)
		}
	}
}
