package cqltype_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
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
			if s := typ.Literal(data); len(s) > 100+50*len(data) {
				t.Fatalf("%s: %d bytes give %d", text, len(data), len(s))
			}
			typ.Compare(data, other)
			typ.Same(data, other)
			typ.Exceeds(data)
		}
	}
}
