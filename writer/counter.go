package writer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// This file is about counters, which are sent in requests of their own, alongside the rest of a write. They have no timestamp,
// so they are not idempotent: they are never sent again once they may have been counted, and never by Resume.

// splitCounters separates the counters of a write, and its changes of other things, from the rest.
func splitCounters(changes []tables.Change, mutations []*statement.Mutation) (rest []tables.Change, ordinary, counters []*statement.Mutation) {
	if !slices.ContainsFunc(mutations, isIncrement) {
		return changes, mutations, nil
	}
	rest = slices.DeleteFunc(slices.Clone(changes), func(c tables.Change) bool { return c.Kind() == tables.Add })
	ordinary = slices.DeleteFunc(slices.Clone(mutations), isIncrement)
	counters = slices.DeleteFunc(slices.Clone(mutations), func(m *statement.Mutation) bool { return !isIncrement(m) })
	return rest, ordinary, counters
}

func isIncrement(m *statement.Mutation) bool { return m.Kind == statement.Increment }

// refuseCounters rejects what a write with counters could not keep.
func (w *Writer) refuseCounters() error {
	switch {
	case w.choice == alwaysLogged:
		return errors.New("a counter in a logged batch, which Cassandra rejects because a replay would count twice; and the writer " +
			"has the option Logged, so that all of a write is in the batch: write counters with Auto(), outside the batch and without its promise")
	case w.pinned:
		return errors.New("a counter with At, by which a repeated request is the same write: a counter has no timestamp, and would be " +
			"counted again; write the counters in a Write of their own, without At")
	}
	return nil
}

// Resumable reports whether [Writer.Resume] should be called: there is a table that is not Applied and holds no counters
// (counters are never sent again). It is false after every [ErrConflict], and so after [ErrTaken]: the caller was told no, and
// sending the write later could only do what is no longer expected, such as take a key that has become free meanwhile. That holds
// if the outcome is Unknown, too: another write has changed the row since, so a Resume could not tell either whether the
// condition held; [Current] or a read says how the row is. It is false if all that is left was answered by [ErrRefused]: Resume
// finishes such a write once the limit is raised, the index dropped or the permission granted. A delete of the entity undoes it, but not in sets with
// Versioned: these take no other write of the entity before.
// It is false for an error that matches [ErrInvalid], unless Resume has rejected the error for what may be a fault of the writer: see
// there. It does not know whether the write has meanwhile become too old.
func (e *Error) Resumable() bool {
	return (e.refusal == nil || e.kept) && e.open() && !e.Is(ErrConflict) && !e.wrongImage() && !e.onlyRefused()
}

// onlyRefused says whether the server refuses all that is still to be sent.
func (e *Error) onlyRefused() bool {
	if e.undecided() {
		return errors.Is(e.known.Err, ErrRefused) // the rest waits for it
	}
	return !slices.ContainsFunc(e.requests, func(p fanout.Request) bool { return resumable(p) && !errors.Is(p.Err, ErrRefused) })
}

// open says whether the write lacks anything but counters.
func (e *Error) open() bool {
	return e.undecided() || slices.ContainsFunc(e.requests, resumable)
}

func resumable(p fanout.Request) bool { return p.Kind != retry.Counter && p.Outcome != Applied }

// onlyCounters says whether all that the write lacks is counters.
func (e *Error) onlyCounters() bool { return !e.open() && !fanout.AllApplied(e.requests) }

// counted is the error of a Resume that has only counters before it.
func (e *Error) counted() *Error {
	var left []string
	for i := range e.Tables {
		if r := &e.Tables[i]; r.Counter && r.Outcome != Applied {
			left = append(left, fmt.Sprintf("%s (%v)", r.Table, r.Outcome))
		}
	}
	next := *e
	next.refusal = fmt.Errorf("nothing may be resumed: what is left are counters, and counters are never sent again: %s", strings.Join(left, ", "))
	return &next
}
