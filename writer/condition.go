package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/period"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// condition is what a lightweight transaction has to decide before the rest of a write is sent, and what it decided. It is in the
// errors of the write, which several goroutines may resume at the same time, so it holds data, and nothing that is in flight.
type condition struct {
	*entity.Conditional
	more    []*entity.Conditional // of other rows of the partition, in a set with Compare: all hold, or nothing is applied
	version gocql.UUID
	tables  []string // of a Versioned entity, with their keyspaces

	decision
	attempts int // requests, in earlier calls too
	sent     int // of this call
}

// oldestInsert is how old an insert with a condition may be. A delete that followed it is remembered for twice that time.
const oldestInsert = entity.FenceTTL / 2

// conditionOf renders a change of a set with conditions.
func (w *Writer) conditionOf(p *plan, c tables.Change) (entity.Rendered, error) {
	if age := w.clock.now().Sub(time.UnixMicro(p.timestamp)); w.pinned && c.Kind() == tables.Insert && age > oldestInsert && !c.Internal().Transactional() {
		return entity.Rendered{}, fmt.Errorf("entity %s: the timestamp given to At is %v old: an insert with a condition must not be older than %v, "+
			"as a delete that is no longer remembered could hide it", c.Entity(), age.Round(time.Second), oldestInsert)
	}
	if p.condition != nil {
		return p.condition.join(p.timestamp, c, w.physical)
	}
	version := versioned.Version(p.timestamp, rand.Uint64()) //nolint:gosec // it tells writers apart, it hides nothing
	r, err := c.Internal().RenderConditional(p.timestamp, version, w.physical)
	if err == nil && w.pinned { // so that the repeat of a request knows what the first try has written
		version = versioned.Version(p.timestamp, r.Condition.Digest())
		r, err = c.Internal().RenderConditional(p.timestamp, version, w.physical)
	}
	if err != nil {
		return entity.Rendered{}, err
	}
	// All tables of the set: what another client has left unfinished may be in those that the change does not concern.
	if table := r.Condition.Base().Unplaced(); table != "" {
		return entity.Rendered{}, fmt.Errorf("table %s has no keyspace: %s", table, w.noKeyspace())
	}
	p.condition = &condition{Conditional: &r, decision: decision{outcome: NotApplied}}
	if w.pinned {
		p.condition.outcome = Unknown // an earlier try may have been applied
	}
	if r.Condition.Versioned {
		p.condition.version = version
		p.condition.tables = []string{r.Condition.Keyspace + "." + r.Condition.Table}
		for i := range r.Mutations {
			if name := r.Mutations[i].Keyspace + "." + r.Mutations[i].Table; !slices.Contains(p.condition.tables, name) {
				p.condition.tables = append(p.condition.tables, name)
			}
		}
	}
	return r.Rendered, nil
}

// commitCondition carries out the condition of a plan, and says whether it holds. If an insert has met the fence of a delete as
// young as itself, it has to be planned again above the returned timestamp.
func (w *Writer) commitCondition(ctx context.Context, p *plan) (holds bool, above int64) {
	c := p.condition
	if c.outcome == Applied {
		return true, 0
	}
	if c.Condition.Versioned && !c.Condition.Transactional {
		w.removals.wait(ctx, removalKey(c))
	}
	earlier, tokens := c.outcome, c.tokens
	var sent atomic.Int32
	all, mutations := c.all(), p.inTransaction()
	result, err := fanout.Detached(ctx, func() (decision, error) { return w.decide(ctx, p.Op, all, mutations, earlier, &sent), nil })
	switch {
	case errors.Is(err, fanout.ErrUnbegun):
		result = decision{outcome: NotApplied, err: err}
	case err != nil:
		result = decision{outcome: Unknown, err: err}
	}
	c.decision = result
	c.outcome = earlier.Then(result.outcome)
	c.err = req.MarkRefused(period.Explain(fanout.WrapTimeout(ctx, result.err), p.placeOf))
	if c.tokens == nil {
		c.tokens = tokens
	}
	c.sent = int(sent.Load())
	c.attempts += c.sent
	if c.outcome == Applied {
		c.conflict, c.err = false, nil
		p.settle()
		return true, 0
	}
	if c.err == nil {
		c.err = errChanged
	}
	if result.above > w.clock.now().Add(w.maxSkew).UnixMicro() {
		result.above = 0
		c.err = fmt.Errorf("the entity was deleted by a clock more than %v ahead of this one: writing above that would shut out all other writers", w.maxSkew)
	}
	p.settle()
	unsent := errCondition
	if c.conflict && c.outcome == NotApplied {
		unsent = errUnmet
	}
	if !p.transacted() {
		p.unsent(unsent)
	}
	return false, result.above
}

var (
	errChanged   = errors.New("another write came first: the row is not what the before-image says")
	errExists    = errors.New("the entity exists already")
	errGone      = errors.New("the entity does not exist: it was deleted meanwhile, or never inserted")
	errCondition = errors.New("the condition of the write is not known to hold")
	errUnmet     = errors.New("the condition of the write did not hold")
)

func errTaken(table string) error { return fmt.Errorf("%w: table %s", ErrTaken, table) }

// decision is what decide found.
type decision struct {
	outcome  Outcome
	conflict bool
	taken    *entity.Claim // the key that another entity has
	current  any           // the row as it is, after a conflict
	err      error
	above    int64        // the timestamp of a fence that an insert has met
	tokens   []gocql.UUID // of Releases, as they were before the transaction was first sent; none if that was another process
}

// decide runs the transactions of a condition. It may outlive the call, and so touches nothing of the plan.
func (w *Writer) decide(
	ctx context.Context, op string, all []*entity.Conditional, mutations []*statement.Mutation, earlier Outcome, sent *atomic.Int32,
) decision {
	first := all[0].Condition
	if first.Transactional {
		return w.decideTransaction(ctx, op, all, mutations, earlier, sent)
	}
	if w.tracer.Requests() { // it is told of the condition as if it were one request
		start := session.RequestStart{ // a statement with IF is not idempotent
			Op: op, Mode: Conditional.String(), Keyspace: first.Keyspace, Tables: []string{first.Table},
			Statements: conditionTexts(all), Consistency: session.Consistency(w.consistency),
		}
		ctx = w.tracer.TraceRequestStart(ctx, start)
	}
	var s decision
	if first.Versioned {
		s = w.decideVersioned(ctx, op, all[0], earlier, sent)
	} else {
		s = w.decideCompared(ctx, op, all, earlier, sent)
	}
	end := session.RequestEnd{Outcome: s.outcome, Attempts: int(sent.Load())}
	switch {
	case s.outcome == Applied || s.err == nil:
	case s.conflict:
		end.Err, end.Reason = s.err, reasonConflict
	default:
		end.Err, end.Reason = s.err, retry.Classify(s.err, retry.Swap).Reason
	}
	w.tracer.TraceRequestEnd(ctx, end)
	return s
}

func conditionTexts(all []*entity.Conditional) (texts []string) {
	for _, c := range all {
		texts = append(texts, c.Condition.Statements()...)
	}
	return texts
}

func (w *Writer) decideVersioned(ctx context.Context, op string, c *entity.Conditional, earlier Outcome, sent *atomic.Int32) decision {
	cond := c.Condition
	change := &versioned.Change{
		Store: w.store(op, cond.Base(), sent), Insert: cond.Kind == entity.Insert, Grace: w.claimGrace, Sent: earlier == Unknown,
		Swap: versioned.Swap{Before: cond.Before, Version: cond.Version, Keys: cond.Keys},
		Next: func(above int64) gocql.UUID {
			return versioned.Version(w.clock.next(above, w.maxSkew, nil, nil), rand.Uint64()) //nolint:gosec // as above
		},
	}
	if after := cond.After(); after != nil {
		change.Swap.After = after
	}
	for _, k := range c.Claims {
		change.Claims = append(change.Claims, w.claim(op, k, cond.Base(), sent))
	}
	change.Releases = w.releases(op, c, sent)
	result := change.Commit(ctx)
	s := decision{outcome: result.Outcome, err: result.Err, conflict: result.Conflict, tokens: change.Tokens}
	var taken *versioned.TakenError
	if errors.As(result.Err, &taken) {
		s.conflict = true
		if key, ok := taken.Key.(*cas.Claim); ok {
			s.taken, s.err = key.Claim, errTaken(key.Table)
		}
	}
	if result.Behind != (gocql.UUID{}) {
		s.conflict, s.above = true, versioned.Timestamp(result.Behind)
	}
	if s.conflict && s.err == nil {
		s.err = errChanged
		if change.Insert {
			s.err = errExists
		} else if !result.Row.Present {
			s.err = errGone
		}
	}
	if row, ok := result.Row.Columns.(*entity.Row); ok {
		row.Version = result.Row.Current()
		s.current, _ = cond.Base().Decode(*row)
	}
	return s
}

// releases are the keys that a change gives up.
func (w *Writer) releases(op string, c *entity.Conditional, sent *atomic.Int32) []versioned.Key {
	keys := make([]versioned.Key, len(c.Releases))
	for i, k := range c.Releases {
		keys[i] = w.claim(op, k, c.Condition.Base(), sent)
	}
	return keys
}

const reasonConflict = "conflict"

// follows says whether a table is a query table of the entity that the condition is about, which anyone who meets the
// entity brings to the state of its base row. The other tables of the write are of other entities.
func (c *condition) follows(r *TableResult) bool {
	return c.Condition.Versioned && !c.Condition.Transactional && slices.Contains(c.tables, r.Keyspace+"."+r.Table)
}

// followed is what is known of such a table; own is what its own requests say. Nothing is known before the condition is
// decided, and once it holds the table gets the write in the end.
func (c *condition) followed(own Outcome, refused bool) Outcome {
	switch {
	case own == Applied:
		return Applied
	case c.outcome == Applied && !refused:
		return Pending
	}
	return own.And(c.outcome)
}

// results are what is known of the base tables.
func (c *condition) results() (out []TableResult) {
	known := fanout.NewIndex(len(c.more))
	for _, one := range c.all() {
		r := TableResult{Keyspace: one.Condition.Keyspace, Table: one.Condition.Table, Outcome: c.outcome, Attempts: c.attempts, Err: c.err}
		if c.outcome == Applied {
			r.Err = nil
		}
		same := func(i int) bool { return out[i].Keyspace == r.Keyspace && out[i].Table == r.Table }
		if fanout.Find(known, r.Keyspace, r.Table, len(out), same) == len(out) {
			out = append(out, r)
		}
	}
	return out
}
