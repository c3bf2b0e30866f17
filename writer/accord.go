package writer

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// inTransaction are the mutations that a write of Transactional sets sends with its conditions; nil of any other write.
func (p *plan) inTransaction() (out []*entity.Mutation) {
	if p.transacted() {
		for i := range p.requests {
			out = append(out, p.requests[i].mutations...)
		}
	}
	return out
}

// settle gives all tables of a transaction its outcome.
func (p *plan) settle() {
	if !p.transacted() {
		return
	}
	c := p.condition
	for i := range p.requests {
		r := &p.requests[i]
		r.outcome, r.attempts, r.err = c.outcome, c.attempts, c.err
	}
}

// commit makes one attempt at a transaction of Cassandra 6. Found is what was there before.
func (x gocqlTransactor) commit(ctx context.Context, t *entity.Transaction, o transaction) (*entity.Found, error) {
	found := t.Found()
	err := x.query(ctx, x.writes, t.Statement, o).Consistency(o.consistency).Scan(found.Dest()...)
	return found, err
}

// mostTransactions is how often a write is sent in other forms, because of what its transaction has found.
const mostTransactions = 8

// decideTransaction carries out a write of Transactional sets.
func (w *Writer) decideTransaction(
	ctx context.Context, op string, all []*entity.Conditional, mutations []*entity.Mutation, earlier Outcome, sent *atomic.Int32,
) decision {
	first := all[0].Condition
	x := transacting{
		store: w.store(op, first.Base(), sent), all: slices.Clone(all), mutations: mutations, fences: make([]gocql.UUID, len(all)),
		decision: decision{outcome: earlier},
	}
	if w.tracer.Requests() {
		ctx = w.tracer.TraceRequestStart(ctx, session.RequestStart{
			Op: op, Mode: Transaction.String(), Keyspace: first.Keyspace, Tables: tablesOf(all, mutations), Statements: []string{x.transaction().Text},
			Consistency: session.Consistency(x.store.o.consistency),
		})
	}
	x.commit(ctx)
	w.tracer.TraceRequestEnd(ctx, x.end(int(sent.Load())))
	return x.decision
}

// transacting is a write of Transactional sets under way.
type transacting struct {
	store     *baseStore
	all       []*entity.Conditional
	mutations []*entity.Mutation
	fences    []gocql.UUID // by change: the version of a deleted entity that an insert has met
	decision
}

func (x *transacting) transaction() *entity.Transaction {
	return entity.NewTransaction(x.all, x.mutations, x.fences)
}

// commit sends the transaction until it is known what has become of it. After an attempt of which nothing is known it is sent again: if that
// one was applied, the rows have its version.
func (x *transacting) commit(ctx context.Context) {
	for range mostTransactions {
		t := x.transaction()
		found, failed, err := versioned.Try(ctx, x.store, func(ctx context.Context) (*entity.Found, error) { return x.store.commit(ctx, t) })
		x.outcome = x.outcome.Then(failed)
		if err != nil {
			x.err = err
			return
		}
		again, err := x.judge(ctx, found)
		if !again {
			x.err = err
			return
		}
	}
	x.err = versioned.ErrRounds
}

// judge says what the transaction has done, by what it found, and whether it is to be sent again: with the rows of deleted entities that
// inserts have met as their conditions, if these are older, or without before-images that differ in bytes alone.
func (x *transacting) judge(ctx context.Context, found *entity.Found) (again bool, err error) {
	held := true
	for n, c := range x.all {
		cond := c.Condition
		row, exists := found.Row(n)
		holds, sure := found.Holds(n)
		if row.Version == cond.Version {
			return x.applied() // by an attempt before this one
		}
		if !sure {
			if holds, err = x.has(ctx, cond); err != nil {
				x.outcome = Unknown
				return false, err
			}
		}
		key := found.Taken(n)
		fence := cond.Kind == entity.Insert && exists && !row.Present && row.Version != (gocql.UUID{})
		held = held && holds && key == nil
		switch {
		case holds && key == nil:
		case holds || fence && key != nil:
			x.conflict, x.taken = true, key
			return false, errTaken(key.Table)
		case fence && versioned.Timestamp(row.Version) < versioned.Timestamp(cond.Version):
			x.fences[n], again = row.Version, true
		case fence && x.outcome == NotApplied:
			x.conflict, x.above = true, versioned.Timestamp(row.Version)
			return false, errExists
		case cond.Kind == entity.Delete && len(x.all) == 1 && !row.Present:
			return x.applied() // it was deleted before
		case !sure:
			if err := errImage(cond.Base(), row); err != nil {
				return false, err
			}
			x.all[n], again = c.Unimaged(), true
		default:
			x.conflict = true
			if row.Present {
				x.current, _ = cond.Base().Decode(row)
			}
			return false, conflictAt(n, x.all, row.Present)
		}
	}
	if held {
		return x.applied()
	}
	return again, nil
}

func (x *transacting) applied() (again bool, err error) {
	x.outcome = Applied
	return false, nil
}

// has says whether the base row has the version of the change now.
func (x *transacting) has(ctx context.Context, cond *entity.Condition) (bool, error) {
	store := x.store.w.store(x.store.op, cond.Base(), x.store.sent)
	store.plain = true
	row, _, err := versioned.Try(ctx, store, store.Read)
	return row.Version == cond.Version, err
}

// end is what a tracer is told.
func (x *transacting) end(attempts int) session.RequestEnd {
	end := session.RequestEnd{Outcome: x.outcome, Attempts: attempts}
	switch {
	case x.outcome == Applied:
	case x.conflict:
		end.Err, end.Reason = x.err, reasonConflict
	default:
		end.Err, end.Reason = x.err, retry.Classify(x.err, retry.Swap).Reason
	}
	return end
}

// tablesOf are the names of the tables of a transaction.
func tablesOf(all []*entity.Conditional, mutations []*entity.Mutation) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range all {
		add(c.Condition.Table)
		for _, k := range slices.Concat(c.Claims, c.Releases) {
			add(k.Table)
		}
	}
	for _, m := range mutations {
		add(m.Table)
	}
	return names
}
