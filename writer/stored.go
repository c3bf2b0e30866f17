package writer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// Resumes limits [Writer.Resume] to what these sets could have written, for a queue that others can write to. Another
// stored error, or one with a value outside [tables.OneOf], fails with [ErrInvalid]. Errors stored before a column, or
// a field of a user-defined type, was added are resumed. A second Resumes replaces the first. Default: any table in the
// keyspaces of the writer; the package documentation says what a forged error can then do.
func Resumes(sets ...tables.Described) Option {
	sets = slices.Clone(sets)
	return option(func(c *config) {
		if len(sets) == 0 || missingSet(sets) != nil {
			c.fail("Resumes: name at least one set, and none that is nil")
		}
		c.resumes = sets
	})
}

// missingSet says which of the sets is nil.
func missingSet(sets []tables.Described) error {
	for i, set := range sets {
		if set == nil || set.Internal() == nil {
			return fmt.Errorf("set %d is nil or a zero value: it is made by tables.New", i+1)
		}
	}
	return nil
}

// agree rejects a stored error whose parts do not all have its timestamp: no write makes such an error.
func (e *Error) agree() error {
	for _, m := range e.mutations() {
		below := m.Kind == statement.Remove && m.Timestamp == e.Timestamp-1 // of a sweep
		if m.Timestamp != e.Timestamp && !below && !isIncrement(m) {
			return errors.New("denorm: decode error: a part is of another timestamp than the whole")
		}
	}
	if e.decision == nil {
		return nil
	}
	for _, c := range e.decision.Parts {
		if v := c.Condition.Version; v != (entity.Condition{}).Version && entity.Timestamp(v) != e.Timestamp {
			return errors.New("denorm: decode error: the version is of another timestamp than the whole")
		}
	}
	return nil
}

// admit rejects an error from the future, as after a clock was set back, and a stored one that this writer could not
// have made. Otherwise whoever can write to the storage could make the writer write anywhere, or write rows with a
// future timestamp, which no later write could replace.
func (w *Writer) admit(e *Error) error {
	if w.err != nil {
		return w.err
	}
	now := w.clock.now().UnixMicro()
	latest := farthest(now, w.maxSkew) // that this writer gives
	if e.stored {
		latest = now + w.maxSkew.Microseconds()
	}
	if e.Timestamp > latest {
		return fmt.Errorf("the timestamp of the write is more than %v ahead of this clock: check the clocks of both hosts",
			w.maxSkew)
	}
	if !e.stored {
		return nil
	}
	if e.decision != nil {
		decision := *e.decision
		decision.Parts = slices.Clone(decision.Parts)
		for i, c := range decision.Parts {
			set, err := w.admitPlaces(decide.PlacesOf(c), c.DeclaredIn)
			if err != nil {
				return err
			}
			if set != nil {
				decision.Parts[i] = c.Within(set, w.physical)
			}
		}
		e.decision = &decision
	}
	for _, m := range e.mutations() {
		if isIncrement(m) {
			continue // never sent again
		}
		declared := func(s *layout.Set, physical func(string) string) (bool, string) {
			return entity.Declares(s, m, physical)
		}
		if _, err := w.admitPlaces([]decide.Place{{Keyspace: m.Keyspace, Table: m.Table}}, declared); err != nil {
			return err
		}
	}
	return nil
}

// mutations are those of the decision and of all requests.
func (e *Error) mutations() (all []*statement.Mutation) {
	if e.decision != nil {
		all = append(all, e.decision.Mutations...)
	}
	for i := range e.requests {
		all = append(all, e.requests[i].Mutations...)
	}
	return all
}

// admitPlaces rejects what is not of the sets of [Resumes] or, if there are none, not in a keyspace of the writer. The
// first place is the one that errors name. The set is the one of them that declares it.
func (w *Writer) admitPlaces(places []decide.Place, in func(*layout.Set, func(string) string) (bool, string)) (
	*layout.Set, error,
) {
	for _, p := range places {
		if keyspace := p.Keyspace; keyspace == "" {
			return nil, &nobodyError{fmt.Errorf(
				"the stored write of table %s has no keyspace, so it is not known whose rows it would write: drop it", p.Table)}
		} else if keyspace == "system" || strings.HasPrefix(keyspace, "system_") {
			return nil, &nobodyError{fmt.Errorf("the stored write is of keyspace %s, which is Cassandra's own", keyspace)}
		} else if w.resumes == nil && keyspace != w.physical("") && !w.shared.Owns(keyspace) {
			return nil, fmt.Errorf("the stored write is of keyspace %q: resume it with the writer of that tenant, or name its sets "+
				"by Resumes", keyspace)
		}
	}
	if w.resumes == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	first, fault := places[0], ""
	for _, set := range w.resumes { // several may have the table
		found, other := in(set.Internal(), w.physical)
		if found && other == "" {
			return set.Internal(), nil
		}
		fault = cmp.Or(fault, other)
	}
	if fault != "" {
		return nil, fmt.Errorf("the stored write is not as the set declares table %s.%s: %s", first.Keyspace, first.Table, fault)
	}
	if where := w.elsewhere(first.Table); where != "" {
		return nil, fmt.Errorf("the stored write is of keyspace %q, and this writer has table %s in %s: use the writer of that "+
			"keyspace", first.Keyspace, first.Table, where)
	}
	return nil, fmt.Errorf("the stored write is of table %s.%s, which no set in the option Resumes has in the keyspaces of "+
		"this writer", first.Keyspace, first.Table)
}

// elsewhere says in which keyspace the sets of [Resumes] have a table of a name, or "" if none of them has it.
func (w *Writer) elsewhere(table string) string {
	for _, set := range w.resumes {
		for _, t := range set.Internal().All() {
			if t.Name != table {
				continue
			}
			if keyspace := w.physical(t.Keyspace); keyspace != "" {
				return fmt.Sprintf("keyspace %q", keyspace)
			}
			return "no keyspace"
		}
	}
	return ""
}
