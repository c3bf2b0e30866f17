package ring

import (
	"encoding/binary"
	"math/bits"
)

// Token is where a partition is on the ring, by Cassandra's Murmur3Partitioner: the first half of the 128 bits of
// MurmurHash3, with the error that bytes of the tail are taken as signed.
func Token(key []byte) int64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	rest := key
	for ; len(rest) >= 16; rest = rest[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(rest))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(rest[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var k1, k2 uint64
	for i, b := range rest {
		signed := uint64(int64(int8(b)))
		if i < 8 {
			k1 ^= signed << (8 * i)
		} else {
			k2 ^= signed << (8 * (i - 8))
		}
	}
	h2 ^= mix2(k2)
	h1 ^= mix1(k1)
	h1 ^= uint64(len(key))
	h2 ^= uint64(len(key))
	h1 += h2
	h2 += h1
	h1, h2 = final(h1), final(h2)
	h1 += h2
	if int64(h1) == -1<<63 { // the smallest token belongs to no partition
		return 1<<63 - 1
	}
	return int64(h1)
}

func final(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	k ^= k >> 33
	k *= 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
