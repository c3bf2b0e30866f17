// Package bucket computes the documented hash of a bucket function once more, for tests.
package bucket

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash is the bucket of encoded values, of n.
func Hash(n uint64, values ...[]byte) int32 {
	data := values[0]
	if len(values) > 1 {
		data = nil
		for _, v := range values {
			data = append(binary.BigEndian.AppendUint16(data, uint16(len(v))), v...)
			data = append(data, 0)
		}
	}
	sum := sha256.Sum256(data)
	return int32(binary.BigEndian.Uint64(sum[:8]) % n)
}
