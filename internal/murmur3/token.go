// Package murmur3 is the token function of Cassandra's Murmur3Partitioner.
package murmur3

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
)

// Token is the token of an encoded partition key under Cassandra's Murmur3Partitioner: the first half of 128-bit
// MurmurHash3, but with the bytes of the tail sign-extended, and with the smallest token, which stands for the start of
// the ring, taken for the greatest.
func Token(key []byte) int64 {
	var h1, h2 uint64
	tail := key
	for ; len(tail) >= 16; tail = tail[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(tail))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var k1, k2 uint64
	for i, b := range tail {
		wide := uint64(int64(int8(b))) << (8 * (i % 8))
		if i < 8 {
			k1 ^= wide
		} else {
			k2 ^= wide
		}
	}
	h1 ^= mix1(k1)
	h2 ^= mix2(k2)

	n := uint64(len(key))
	h1, h2 = h1^n, h2^n
	h1 += h2
	h2 += h1
	h1 = final(h1) + final(h2)
	if int64(h1) == math.MinInt64 {
		return math.MaxInt64
	}
	return int64(h1)
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }

func mix2(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

func final(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
