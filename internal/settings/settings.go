// Package settings is what a session tells the writers and readers that use it. These are in other packages, and nobody
// else should depend on these types: so they are internal.
package settings

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// Shared is what writers and readers of a session have in common.
type Shared struct {
	Budget    *Budget           // nil if each has its own
	Keyspaces map[string]string // from declared to physical ones
	Tracer    *Tracer           // that all report to; nil if none was given
	Strict    bool              // every keyspace has to be in Keyspaces
	LocalDC   string            // the datacentre that all requests go to; empty if they may go to several
	Err       error             // every option that is not valid
}

// Tracer is what session.Trace was given: a session.Tracer, or nil for none.
type Tracer struct{ Given any }

// Use takes the settings of another session, and gives their error. If they have no budget or no
// tracer, the present one stays.
func (s *Shared) Use(other Shared) error {
	other.Budget, other.Tracer = cmp.Or(other.Budget, s.Budget), cmp.Or(other.Tracer, s.Tracer)
	*s = other
	return s.Err
}

// Owns says whether a keyspace is one that Keyspaces maps to.
func (s *Shared) Owns(keyspace string) bool {
	return slices.Contains(slices.Collect(maps.Values(s.Keyspaces)), keyspace)
}

// ErrUnmapped says why a table has no keyspace.
var ErrUnmapped = errors.New("the one it is declared in is not in the map of session.Keyspaces (StrictKeyspaces): " +
	"map it by Session.With")

// Physical is the keyspace of tables declared in the logical one, where those declared without are in that of the
// session. The error says that it has to be in Keyspaces and is not.
func (s *Shared) Physical(logical, session string) (string, error) {
	if physical, ok := s.Keyspaces[logical]; ok {
		return physical, nil
	}
	if s.Strict {
		return "", ErrUnmapped
	}
	return cmp.Or(logical, session), nil
}
