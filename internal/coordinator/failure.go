package coordinator

import (
	"fmt"

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
func (f *ReplicaError) Error() string {
	if f.Code == gocql.ErrCodeUnavailable {
		return fmt.Sprintf("Cannot achieve consistency level %v", f.Level)
	}
	return fmt.Sprintf("Operation timed out - received only %d responses.", f.Received)
}

func unavailable(level gocql.Consistency, required, alive int) *ReplicaError {
	return &ReplicaError{Code: gocql.ErrCodeUnavailable, Level: level, Received: alive, Required: required}
}

// required is how many of so many replicas a level asks for.
func required(level gocql.Consistency, replicas int) int {
	switch level {
	case gocql.Any, gocql.One, gocql.LocalOne:
		return 1
	case gocql.Two:
		return 2
	case gocql.Three:
		return 3
	case gocql.All:
		return replicas
	}
	return replicas/2 + 1 // QUORUM, LOCAL_QUORUM, EACH_QUORUM, SERIAL and LOCAL_SERIAL
}
