package settings

import (
	"slices"

	"github.com/gocql/gocql"
)

// Levels are the consistency levels of reads and writes. Cassandra answers reads at EACH_QUORUM since 3.0
// (CASSANDRA-9602). ANY is not one of them: it acknowledges a write that no replica has.
var Levels = []gocql.Consistency{
	gocql.One, gocql.Two, gocql.Three, gocql.Quorum, gocql.All, gocql.LocalQuorum, gocql.EachQuorum, gocql.LocalOne,
}

// Level says whether a level is one of Levels.
func Level(level gocql.Consistency) bool { return slices.Contains(Levels, level) }
