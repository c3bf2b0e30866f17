package coordinator

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/gocql/gocql"
)

// ReplicaError is an error of the protocol that tells about replicas.
type ReplicaError struct {
	Code               int // gocql.ErrCodeUnavailable, ErrCodeWriteTimeout or ErrCodeReadTimeout
	Level              gocql.Consistency
	Received, Required int // those that are alive, of Unavailable
	WriteType          string
	DataPresent        bool // of a read timeout
}

// Error is a text like Cassandra's.
func (r *ReplicaError) Error() string {
	if r.Code == gocql.ErrCodeUnavailable {
		return "Cannot achieve consistency level " + name(r.Level)
	}
	return fmt.Sprintf("Operation timed out - received only %d responses.", r.Received)
}

// name is that of a level; the driver's type for writes does not know all.
func name(level gocql.Consistency) string {
	if serial(level) {
		return gocql.SerialConsistency(level).String()
	}
	return level.String()
}

func unavailable(level gocql.Consistency, required, alive int) *ReplicaError {
	return &ReplicaError{Code: gocql.ErrCodeUnavailable, Level: level, Received: alive, Required: required}
}

// required is how many replicas a level asks for. It goes by the replication factor: where nodes are missing that have
// never been, there are fewer replicas than that (ReplicationFactor, ConsistencyLevel.blockFor).
func (c *Cluster) required(level gocql.Consistency, t *catalog.Table) int {
	factor := c.factor(t.Keyspace)
	switch level {
	case gocql.Any, gocql.One, gocql.LocalOne:
		return 1
	case gocql.Two:
		return 2
	case gocql.Three:
		return 3
	case gocql.All:
		return factor
	}
	return factor/2 + 1 // QUORUM, LOCAL_QUORUM, EACH_QUORUM, SERIAL and LOCAL_SERIAL
}
