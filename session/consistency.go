package session

import "github.com/gocql/gocql"

// Consistency is how many replicas a request waits for. Its numbers are the native protocol's.
type Consistency uint16

// The levels of reads and writes. ANY is not one of them: it acknowledges writes that no replica has.
const (
	One         = Consistency(gocql.One)
	Two         = Consistency(gocql.Two)
	Three       = Consistency(gocql.Three)
	Quorum      = Consistency(gocql.Quorum)
	All         = Consistency(gocql.All)
	LocalQuorum = Consistency(gocql.LocalQuorum)
	EachQuorum  = Consistency(gocql.EachQuorum)
	LocalOne    = Consistency(gocql.LocalOne)
)

// String returns the name in CQL, such as LOCAL_QUORUM.
func (c Consistency) String() string { return gocql.Consistency(c).String() }
