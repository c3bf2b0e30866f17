// Package settings is what a session tells the writers and readers that use it.
package settings

import "github.com/denorm-go/denorm/retry"

// Shared is what writers and readers of a session have in common.
type Shared struct {
	Budget    *retry.Budget     // nil if each has its own
	Keyspaces map[string]string // from declared to physical ones
	Strict    bool              // every keyspace has to be in Keyspaces
	Err       error             // every option that is not valid
}

// Owns says whether a keyspace is one that Keyspaces maps to.
func (s *Shared) Owns(keyspace string) bool {
	for _, to := range s.Keyspaces {
		if to == keyspace {
			return true
		}
	}
	return false
}

// Physical is the keyspace of tables declared in the logical one, where those declared without are in that of the session. It is empty,
// and ok false, if it has to be in Keyspaces and is not.
func (s *Shared) Physical(logical, session string) (physical string, ok bool) {
	if physical, ok = s.Keyspaces[logical]; ok {
		return physical, true
	}
	if s.Strict {
		return "", false
	}
	if logical == "" {
		return session, true
	}
	return logical, true
}
