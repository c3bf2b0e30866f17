package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/compare"
	"github.com/denorm-go/denorm/internal/decide/transaction"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// protocols are the kinds of decision. No other file of this package names one: what a kind does is in its package.
var protocols = map[layout.Decided]*decide.Protocol{
	layout.Compared:      &compare.Protocol,
	layout.Versioned:     &versioned.Protocol,
	layout.Transactional: &transaction.Protocol,
}

// protocolOf is how changes of a set are decided.
func protocolOf(by layout.Decided) (*decide.Protocol, error) {
	if p := protocols[by]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("changes of a set that is %v cannot be decided: this program was built without that", by)
}

// decided is what has to hold before the rest of a write is sent, nil if nothing has to, and what is known of it.
type decided struct {
	decision *decide.Decision
	known    decide.Known
}

// undecided says whether the rest of the write has to wait, or is not to be sent.
func (d *decided) undecided() bool { return d.decision != nil && d.known.Outcome != Applied }

// deciding is the decision of a plan, and what it is made with.
type deciding struct {
	decided
	env decide.Env
}

// undecided says whether the rest of the plan has to wait, or is not to be sent.
func (p *plan) undecided() bool { return p.deciding != nil && p.decided.undecided() }

// oldestInsert is how old an insert with a condition may be. A delete that followed it is remembered for twice that
// time.
const oldestInsert = entity.FenceTTL / 2

// conditions renders the changes of sets with conditions, which are the parts of the plan's decision.
func (w *Writer) conditions(p *plan, changes []tables.Change) error {
	if !slices.ContainsFunc(changes, func(c tables.Change) bool { return c.Internal().Conditional() }) {
		return nil
	}
	if err := unmixed(changes); err != nil {
		return err
	}
	p.deciding = &deciding{decided: decided{known: decide.Known{Outcome: NotApplied}}}
	version := entity.Owned(entity.Version(p.timestamp, rand.Uint64()), w.ends.Number) //nolint:gosec // it tells writers apart, it hides nothing
	if err := w.decideOn(p, changes, version); err != nil {
		return err
	}
	if !w.pinned {
		if p.decision.Parts[0].ClaimsID() {
			p.known.ID = decide.Unclaimed
		}
		return nil
	}
	p.known.Outcome = Unknown // an earlier try may have been applied
	// The version is what every repeat of the request gives the rows: so each knows what the first has written.
	version = entity.Version(p.timestamp, entity.Digest(p.decision.Parts))
	for _, part := range p.decision.Parts {
		part.SetVersion(version)
	}
	return nil
}

// decideOn makes the decision of a plan, with a version for its rows.
func (w *Writer) decideOn(p *plan, changes []tables.Change, version gocql.UUID) error {
	for _, c := range changes {
		if !c.Internal().Conditional() {
			continue
		}
		protocol, err := protocolOf(c.Internal().Set.Decided())
		if err != nil {
			return err
		}
		if age := w.clock.now().Sub(time.UnixMicro(p.timestamp)); w.pinned && c.Kind() == tables.Insert &&
			age > oldestInsert && !protocol.Lasting {
			return fmt.Errorf("entity %s: the timestamp given to At is %v old: an insert with a condition must not be older "+
				"than %v", c.Entity(), age.Round(time.Second), oldestInsert)
		}
		r, err := c.Internal().RenderConditional(p.timestamp, version, w.physical)
		if err != nil {
			return err
		}
		// All tables of the set: what another client has left unfinished may be in those that the change does not concern.
		if table := r.Condition.Base().Unplaced(); table != "" {
			return fmt.Errorf("table %s has no keyspace: %s", table, w.noKeyspace())
		}
		if p.decision == nil {
			p.decision = decide.New(protocol, &r)
		} else if err := p.decision.Add(&r); err != nil {
			return err
		}
	}
	return nil
}

// unmixed rejects a write of which a part cannot be in the transaction of the rest.
func unmixed(changes []tables.Change) error {
	whole := func(c tables.Change) bool { return c.Internal().Set.Decided() == layout.Transactional }
	one := slices.IndexFunc(changes, whole)
	other := slices.IndexFunc(changes, func(c tables.Change) bool { return !whole(c) })
	if one < 0 || other < 0 {
		return nil
	}
	return fmt.Errorf("set %s is Transactional, and set %s is not: declare %s Transactional, or write them one after "+
		"the other", changes[one].Entity(), changes[other].Entity(), changes[other].Entity())
}

var (
	errCondition = errors.New("the condition of the write is not known to hold")
	errUnmet     = errors.New("the condition of the write did not hold")
)

// decide makes the decision of a plan. If it does not hold, nothing else is sent.
func (w *Writer) decide(ctx context.Context, p *plan) {
	if p.deciding == nil {
		return
	}
	p.env = w.env(p.Op)
	p.known = p.decision.Make(ctx, &p.env, p.known)
	switch {
	case p.known.Outcome == Applied && p.known.Past:
		for i := range p.Requests { // sent again long after, they could bring back what was removed
			other := func(m *statement.Mutation) bool { return !p.decision.Follows(m.Keyspace, m.Table) }
			if !slices.ContainsFunc(p.Requests[i].Mutations, other) {
				p.Requests[i].Outcome = Applied
			}
		}
	case p.known.Outcome == Applied:
	case p.known.Conflict && p.known.Outcome == NotApplied:
		p.unsent(errUnmet)
		for i := range p.Requests {
			if p.known.Never { // earlier calls have not sent the rest either
				p.Requests[i].Outcome = NotApplied
			}
		}
	default:
		p.unsent(errCondition)
	}
}

// env is what the decisions of one call are made with.
func (w *Writer) env(op string) decide.Env {
	return decide.Env{
		Op: op, Session: w.transact, Retrier: &w.sender.Retrier, Tracer: w.tracer, Consistency: w.consistency,
		Timeout: w.timeout, Now: w.clock.now, Skew: w.maxSkew, Next: w.next, Grace: w.claimGrace, Ends: w.ends,
		FanOut: w.finishes,
	}
}

// turn waits until no other Modify by this writer is at work on the entity, in a set with conditions. The error is an
// *Error.
func (w *Writer) turn(ctx context.Context, op string, set *layout.Set, key any) (leave func(), err error) {
	if !set.Conditional() {
		return func() {}, nil
	}
	base, err := entity.BaseOf(set, key, w.physical)
	if err != nil {
		return nil, reject(op, err)
	}
	if leave, err = w.ends.Turn(ctx, base.String()+base.Key()); err != nil {
		keyspace, table, _ := base.Place()
		return nil, unread(op, keyspace, table, 0,
			fmt.Errorf("other calls of Modify for the entity by this writer have not ended: %w", err))
	}
	return leave, nil
}

// finishFor makes one attempt at what another client has left undone.
func (w *Writer) finishFor(ctx context.Context, op string, _ time.Time, mutations []*statement.Mutation) (sent int,
	err error,
) {
	p := &plan{
		Write: fanout.Write{Op: op, Requests: fanout.Requests(mutations)}, timestamp: mutations[0].Timestamp,
		mode: FanOut,
	}
	alone := *w // the decision does the retries
	alone.sender.Retrier = single
	p.Requests = alone.start(ctx, p, p.mode, p.Requests).Wait(p.Requests)
	if !p.Applied() {
		// Not as an Error: what it says of its tables is not said of the write that met this one.
		failed := p.failure()
		err = fmt.Errorf("finish what another client left: %s: %w", failed.Error(), errors.Join(failed.Unwrap()...))
	}
	return p.Sent(), err
}

// followed is what is known of a table that follows the base row; own is what its own requests say. Nothing is known
// before the decision is made, and once it holds the table gets the write in the end.
func (d *decided) followed(own Outcome, refused bool) Outcome {
	switch {
	case own == Applied:
		return Applied
	case d.known.Outcome == Applied && !refused:
		return Pending
	}
	return own.And(d.known.Outcome)
}

// results are what is known of the tables that the decision is about.
func (d *decided) results() []TableResult {
	places := d.decision.Places()
	out := make([]TableResult, len(places))
	for i, p := range places {
		out[i] = TableResult{Keyspace: p.Keyspace, Table: p.Table, Outcome: d.known.Outcome, Attempts: d.known.Attempts}
		if d.undecided() {
			out[i].Err = d.known.Err
		}
	}
	return out
}

// Wait waits until all background work of earlier writes to Versioned sets is done. Such a write returns once all
// tables have the change; the base row is marked as done after that. Call Wait after the last write, before the service
// ends. Otherwise the next write of such an entity repeats that work, at the cost of a few requests. The error is the
// error of ctx, or matches [ErrInvalid] if ctx is nil or the writer was not made by [New].
func (w *Writer) Wait(ctx context.Context) error {
	w = w.made()
	switch {
	case ctx == nil:
		return reject("Wait", errNoContext)
	case w.ends == nil: // it was not made
		return reject("Wait", w.err)
	}
	return w.ends.All(ctx)
}
