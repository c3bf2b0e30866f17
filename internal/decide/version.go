package decide

import (
	"time"

	"github.com/gocql/gocql"
)

// ticks are the intervals of 100 ns, in which a timeuuid counts, of one microsecond.
const ticks = 10

// epoch is the first tick of the Unix epoch in a timeuuid, which counts from the Gregorian reform.
var epoch = time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC).UnixMicro() * -ticks

// Version is the timeuuid of a timestamp in microseconds since the Unix epoch. The random bits, of which it has room for
// 62, are what its writer recognises it by: two versions of one microsecond must not be equal.
func Version(timestamp int64, random uint64) gocql.UUID {
	var node [6]byte
	for i := range node {
		node[i] = byte(random >> (8 * i))
	}
	return gocql.TimeUUIDWith(timestamp*ticks+epoch, uint32(random>>48), node[:])
}

// Timestamp is the time in a version, in microseconds since the Unix epoch: that of the query tables' rows. For the
// zero version, it is 0.
func Timestamp(version gocql.UUID) int64 {
	if version == (gocql.UUID{}) {
		return 0
	}
	return (version.Timestamp() - epoch) / ticks
}
