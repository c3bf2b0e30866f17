package session

import (
	"errors"
	"runtime"
	"sync"
	"weak"

	"github.com/gocql/gocql"
)

const other = "writes and reads need a session of gocql each (session.Open opens both), as gocql can take the rest of a large response for " +
	"the answer to a write"

var (
	errReads  = errors.New("the session of the writes is one that reads: " + other)
	errWrites = errors.New("the session of the reads is one that writes: " + other)
)

// roles tells sessions that write from those that read: none may do both. When a large response stalls, gocql 1.7 can take the rest of
// it for the answers to other requests on the connection, and would acknowledge a write that was never answered (fixed in no release
// of gocql 1; see scylladb/gocql pull request 593).
var roles sync.Map // of weak.Pointer[gocql.Session]: whether it writes

// noteWrites notes that a session writes. It is an error if it reads.
func noteWrites(s *gocql.Session) error { return note(s, true, errReads) }

// noteReads notes that a session reads. It is an error if it writes.
func noteReads(s *gocql.Session) error { return note(s, false, errWrites) }

func note(s *gocql.Session, writes bool, otherwise error) error {
	if s == nil {
		return nil
	}
	key := weak.Make(s)
	role, known := roles.LoadOrStore(key, writes)
	if !known {
		runtime.AddCleanup(s, func(key weak.Pointer[gocql.Session]) { roles.Delete(key) }, key)
	}
	if role != writes {
		return otherwise
	}
	return nil
}
