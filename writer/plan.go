package writer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// plan is what one logical write sends: its condition, if it has one, then requests and counters, all at the same time.
type plan struct {
	fanout.Write
	*deciding // comes first; nil if nothing has to hold

	key       string // of the entity, where one changes
	timestamp int64
	reason    string // why the mode
	mode      Mode
	atomic    bool   // for a set declared Atomic
	trial     bool   // it is sent to test whether the batchlog works again
	sent      int    // attempts of this call of requests that are no longer in the plan
	link      string // of a Resume: that of its error
}

// plan renders the changes, at a timestamp above the given one, and decides how they are sent. Every error means that
// the write is rejected.
func (w *Writer) plan(op string, changes []tables.Change, above int64) (*plan, error) {
	if w.err != nil {
		return nil, w.err
	}
	if op == "" {
		return nil, errNoOp
	}
	if len(changes) == 0 {
		return &plan{Write: fanout.Write{Op: op}, reason: "no changes"}, nil
	}
	timestamp, err := w.timestamp(changes, above)
	if err != nil {
		return nil, err
	}
	p := &plan{Write: fanout.Write{Op: op}, timestamp: timestamp}
	mutations, err := w.render(p, changes)
	if err != nil {
		return nil, cmp.Or(changedTwice(changes), err)
	}
	changes, mutations, counters := splitCounters(changes, mutations)
	if len(counters) > 0 {
		if err := w.refuseCounters(); err != nil {
			return nil, err
		}
		p.Counters = fanout.Requests(counters)
	}
	switch {
	case p.deciding != nil && p.decision.Whole:
		p.mode, p.reason = Transaction, p.decision.Reason
		for _, r := range fanout.Requests(mutations) {
			p.decision.Mutations = append(p.decision.Mutations, r.Mutations...)
		}
	case len(mutations) > 0:
		if err := w.choose(p, changes, mutations); err != nil {
			return nil, err
		}
	case p.deciding != nil && len(p.decision.Parts) > 1:
		p.mode, p.reason = Conditional, "rows of one partition are written, if all of their conditions hold"
	case p.deciding != nil:
		p.mode, p.reason = Conditional, "one row is written, if its condition holds"
	case len(p.Counters) > 0:
		p.mode, p.reason = Counter, "counters, which have no timestamp"
	}
	if p.deciding != nil && p.decision.Check != nil {
		if err := p.decision.Check(p.decision); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// timestamp picks the one timestamp of a write, above the given one and the stamps of all before-images.
func (w *Writer) timestamp(changes []tables.Change, above int64) (int64, error) {
	ahead := w.clock.now().UnixMicro() + w.maxSkew.Microseconds()
	for _, c := range changes {
		if !c.Internal().Valid() {
			return 0, errors.New("a change was not made by a verb of a set, or the set is nil")
		}
		s := c.Internal().StampOf()
		if s/1000 >= earliest {
			return 0, fmt.Errorf("entity %s: the stamp of the before-image is in nanoseconds: give microseconds, as in "+
				"Result.Timestamp", c.Entity())
		}
		if s > ahead {
			return 0, fmt.Errorf("entity %s: the stamp of the before-image is more than %v ahead of this clock: check the "+
				"clocks of both hosts", c.Entity(), w.maxSkew)
		}
		if c.Internal().VersionOf() != (gocql.UUID{}) && w.pinned && w.at == s {
			return 0, errors.New("At has the timestamp of the before-image's version: repeat with the before-image of the " +
				"first try")
		}
		above = max(above, s)
	}
	if !w.pinned {
		return w.clock.next(above, w.maxSkew, changes, w.physical), nil
	}
	switch {
	case w.at > ahead:
		return 0, fmt.Errorf("the timestamp given to At is more than %v ahead of this clock: give microseconds, or correct "+
			"the clock", w.maxSkew)
	case w.at < above:
		return 0, errors.New("the timestamp given to At is before the stamp of the before-image: the row would not change")
	}
	w.clock.follow(w.at, w.maxSkew, changes, w.physical)
	return w.at, nil
}

// render renders the changes. The conditions of those that have one make the decision of the plan.
func (w *Writer) render(p *plan, changes []tables.Change) (out []*statement.Mutation, err error) {
	if err := w.conditions(p, changes); err != nil {
		return nil, err
	}
	var parts []*entity.Conditional
	if p.deciding != nil {
		parts = p.decision.Parts
	}
	var seen *mixture
	if len(changes) > 1 {
		seen = &mixture{make(map[string]bool, len(changes)), make(map[[2]string]string)}
	}
	for _, c := range changes {
		var r entity.Conditional // of a change without a condition, the Rendered alone
		if c.Internal().Conditional() {
			r, parts = *parts[0], parts[1:]
		} else if r.Rendered, err = c.Internal().Render(p.timestamp, w.physical); err != nil {
			return nil, err
		}
		if seen == nil {
			p.key = r.Key
		} else if err := seen.add(c, &r); err != nil {
			return nil, err
		}
		if out == nil {
			out = make([]*statement.Mutation, 0, len(r.Mutations)*len(changes))
		}
		for m := range r.Mutations {
			if r.Mutations[m].Keyspace == "" {
				return nil, fmt.Errorf("table %s has no keyspace: %s", r.Mutations[m].Table, w.noKeyspace())
			}
			if ends, ok := r.Mutations[m].ExpiresAt(); ok && !ends.After(w.clock.now()) {
				return nil, fmt.Errorf("entity %s: by this clock the row has expired already: give it a later expiry, or Delete it",
					c.Entity())
			}
			out = append(out, &r.Mutations[m])
		}
	}
	return out, nil
}

// mixture is what the changes of one write have written so far: at one timestamp two that meet would mix.
type mixture struct {
	entities map[string]bool
	owners   map[[2]string]string // of a physical table: the entity
}

func (m *mixture) add(c tables.Change, r *entity.Conditional) error {
	for i := range r.Mutations {
		if err := m.own(r.Mutations[i].Keyspace, r.Mutations[i].Table, c.Entity()); err != nil {
			return err
		}
	}
	if r.Condition != nil { // of the base table
		if err := m.own(r.Condition.Keyspace, r.Condition.Table, c.Entity()); err != nil {
			return err
		}
	}
	return m.once(c, r.Key)
}

// once rejects a second change of the entity with that key.
func (m *mixture) once(c tables.Change, key string) error {
	key = c.Entity() + "\x00" + key
	if m.entities[key] {
		return entity.ErrTwice(c.Entity(), c.Internal().Kind)
	}
	m.entities[key] = true
	return nil
}

func (m *mixture) own(keyspace, table, name string) error {
	place := [2]string{keyspace, table}
	if other, ok := m.owners[place]; ok && other != name {
		return fmt.Errorf("table %s.%s is of entity %s and of entity %s: write them one after the other", keyspace, table,
			other, name)
	}
	m.owners[place] = name
	return nil
}

// changedTwice is the error of a write with two changes of one entity, nil if there are none: a row that cannot be
// rendered, such as one without a stamp, may be one that another change of the write has just made.
func changedTwice(changes []tables.Change) error {
	seen := mixture{entities: make(map[string]bool, len(changes))}
	for _, c := range changes {
		if key := c.Internal().Key(); key != "" {
			if err := seen.once(c, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// inKeyspaces rejects a set of which a table has no keyspace, before anything is read.
func inKeyspaces[T any](w *Writer, set *tables.Set[T]) error {
	if !w.shared.Strict {
		return nil
	}
	for _, t := range set.Internal().All() {
		if w.physical(t.Keyspace) == "" {
			return fmt.Errorf("table %s has no keyspace: %s", t.Name, w.noKeyspace())
		}
	}
	return nil
}

// noKeyspace says why a table has no keyspace.
func (w *Writer) noKeyspace() string {
	if w.shared.Strict {
		return settings.ErrUnmapped.Error() + ", and the writer by With(writer.Session(derived))"
	}
	return "the session has none; set ClusterConfig.Keyspace, Table.Keyspace or session.Keyspaces"
}

// choose decides the mode.
func (w *Writer) choose(p *plan, changes []tables.Change, mutations []*statement.Mutation) error {
	p.Requests = fanout.Requests(mutations)
	if p.deciding != nil && p.decision.Followed && len(changes) == 1 && w.choice != alwaysLogged {
		p.mode, p.reason = Conditional,
			"the set has conditions, and what a client that dies leaves undone the next write completes"
		return nil
	}
	if len(p.Requests) == 1 {
		p.mode, p.reason = Single, "one row is written, by one statement"
		if len(mutations) > 1 {
			p.mode, p.reason = SamePartition, "all rows share keyspace and partition key"
		}
		if p.deciding != nil {
			p.reason = "after the condition " + p.reason
		}
		return nil
	}
	reason, atomic := required(changes, mutations)
	switch {
	case w.choice == alwaysConcurrent && atomic:
		return errors.New("a set declared Atomic is written in logged batches, not Concurrent: use w.With(writer.Auto())")
	case w.choice == alwaysConcurrent:
		p.mode, p.reason = FanOut, "the writer has the option Concurrent"
		return nil
	case w.choice == alwaysLogged:
		reason = "the writer has the option Logged"
	case reason == "":
		p.mode, p.reason = FanOut, "one entity, without deletes"
		return nil
	}
	p.atomic, p.Strict = atomic, atomic || w.choice == alwaysLogged
	if !p.Strict && w.batchlog.down(w.clock.now()) {
		p.mode, p.reason = Fallback, reason+", but the batchlog has failed and is not trusted yet"
		return nil
	}
	p.mode, p.reason = LoggedBatch, reason
	p.Requests = []fanout.Request{{Kind: retry.LoggedBatch, Mutations: mutations, Outcome: NotApplied}}
	return nil
}

// failure is the error of a plan of which not every request is applied.
func (p *plan) failure() *Error {
	e := &Error{Op: p.Op, Timestamp: p.timestamp, Mode: p.mode, strict: p.Strict, link: p.link}
	if p.deciding != nil {
		e.decided = p.decided
	}
	e.requests = slices.Concat(p.Requests, p.Counters)
	e.Tables = e.results()
	return e
}

// unsent makes cause the reason why nothing of the plan was sent.
func (p *plan) unsent(cause error) {
	if p.deciding != nil && p.known.Err == nil {
		p.known.Err = cause
	}
	for _, requests := range [][]fanout.Request{p.Requests, p.Counters} {
		for i := range requests {
			if requests[i].Outcome != Applied {
				requests[i].Err = cause
			}
		}
	}
}

// required says why auto sends a logged batch, empty if it does not, and whether that is for a set declared Atomic.
func required(changes []tables.Change, mutations []*statement.Mutation) (reason string, atomic bool) {
	for _, c := range changes {
		if c.Internal().Set.Atomic {
			return "set " + c.Entity() + " is declared Atomic", true
		}
	}
	if len(changes) > 1 {
		return "several entities change", false
	}
	if slices.ContainsFunc(mutations, func(m *statement.Mutation) bool { return m.Kind == statement.Remove }) {
		return "deletes in several partitions", false
	}
	return "", false
}

// Counters are sent in requests of their own, alongside the rest of a write. They have no timestamp, so they are not
// idempotent: they are never sent again once they may have been counted, and never by Resume.

// splitCounters separates the counters of a write, and its changes of other things, from the rest.
func splitCounters(changes []tables.Change, mutations []*statement.Mutation) (rest []tables.Change, ordinary,
	counters []*statement.Mutation,
) {
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
		return errors.New("a counter with the option Logged, which Cassandra rejects: write counters with Auto()")
	case w.pinned:
		return errors.New("a counter with At, which has no timestamp: write counters in a Write of their own, without At")
	}
	return nil
}
