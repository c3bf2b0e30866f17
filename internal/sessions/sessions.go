// Package sessions tells sessions that write from those that read: none may do both. When a large response stalls, gocql 1.7 can take
// its rest for the answers of other requests on the connection, and a write that was never answered would be acknowledged.
package sessions

import (
	"errors"
	"runtime"
	"sync"
	"weak"

	"github.com/gocql/gocql"
)

const other = "the other needs a session of its own (writer.Connect opens one), as gocql can take the rest of a large response for the answer to a write"

var (
	errReads  = errors.New("this session is used to read, by a reader or the option Reads of a writer: " + other)
	errWrites = errors.New("this session is that of a writer: " + other)
)

var roles sync.Map // of weak.Pointer[gocql.Session]: whether it writes

// Writes notes that a session writes. It is an error if it reads.
func Writes(s *gocql.Session) error { return note(s, true, errReads) }

// Reads notes that a session reads. It is an error if it writes.
func Reads(s *gocql.Session) error { return note(s, false, errWrites) }

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
