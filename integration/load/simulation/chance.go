package simulation

import (
	"math/rand/v2"

	"github.com/gocql/gocql"
)

// mix makes a number of others that says nothing about them.
func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h ^= p
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// chance is a source of random numbers of its own.
func chance(parts ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(parts...), 1))
}

// uuid is a random one.
func uuid(random *rand.Rand) gocql.UUID {
	var id gocql.UUID
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	return id
}
