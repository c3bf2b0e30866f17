package cqltype_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/literal"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// Values come from servers and files: no bytes end the process, and a text is no longer than the bytes allow.
func TestAnyBytesOfAType(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"int", "text", "blob", "decimal", "varint", "duration", "date", "time", "timestamp", "inet", "uuid", "boolean",
		"list<int>", "set<text>", "map<text, decimal>", "map<int, frozen<list<duration>>>", "tuple<int, text>",
		"frozen<tuple<int, frozen<map<int, int>>>>", "u{a int, b frozen<map<int, int>>}",
	} {
		typ, err := cqltype.ParseDefinition(text)
		if err != nil {
			t.Error(text, err)
			continue
		}
		random := rand.New(rand.NewPCG(1, 2))
		some := func() (out []byte) {
			counts := []uint32{0, 1, 2, 3, 4, 0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000}
			for range random.IntN(6) {
				if random.IntN(2) == 0 {
					out = binary.BigEndian.AppendUint32(out, counts[random.IntN(len(counts))])
					continue
				}
				for range random.IntN(9) {
					out = append(out, byte(random.Uint32()))
				}
			}
			return out
		}
		for range 5000 {
			data, other := some(), some()
			if s := literal.Of(typ, data); len(s) > 100+50*len(data) {
				t.Fatalf("%s: %d bytes give %d", text, len(data), len(s))
			}
			typ.Compare(data, other)
			typ.Same(data, other)
			typ.Exceeds(data)
			if out := tablerow.AsDeclared(typ, data); len(out) > 100+50*len(data) {
				t.Fatalf("%s: %d bytes become %d", text, len(data), len(out))
			}
		}
	}
}

// Numbers of more than 64 KiB are printed as their bytes: in decimal digits a few MiB would take seconds.
func TestLiteralOfAHugeNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"varint", "decimal", "list<decimal>", "map<int, varint>"} {
		typ, err := cqltype.ParseDefinition(text)
		if err != nil {
			t.Fatal(err)
		}
		for size, huge := range map[int]bool{64 << 10: false, 64<<10 + 1: true} {
			data := bytes.Repeat([]byte{1}, size)
			if strings.Contains(text, "decimal") {
				clear(data[:4]) // the scale
			}
			switch text {
			case "list<decimal>":
				data = append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1}, uint32(size)), data...)
			case "map<int, varint>":
				data = append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7}, uint32(size)), data...)
			}
			if got := literal.Of(typ, data); strings.Contains(got, "0x") != huge {
				t.Errorf("%s of %d bytes: %.40s", text, size, got)
			}
		}
	}
}
