package writer

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// inTransaction are the mutations that a write of Transactional sets sends with its conditions; nil of any other write.
func (p *plan) inTransaction() (out []*statement.Mutation) {
	if p.transacted() {
		for i := range p.requests {
			out = append(out, p.requests[i].Mutations...)
		}
	}
	return out
}

// placeOf is the keyspace of a table that the condition of the write is about, or that its transaction writes.
func (p *plan) placeOf(name string) (keyspace string, rotates bool) {
	for _, c := range p.condition.all() {
		for _, place := range placesOf(c) {
			if place[1] == name {
				return place[0], false
			}
		}
	}
	for _, m := range p.inTransaction() {
		if m.Table == name {
			return m.Keyspace, m.Rotates
		}
	}
	return "", false
}

// settle gives all tables of a transaction its outcome.
func (p *plan) settle() {
	if !p.transacted() {
		return
	}
	c := p.condition
	for i := range p.requests {
		r := &p.requests[i]
		r.Outcome, r.Attempts, r.Err = c.outcome, c.attempts, c.err
	}
}

// mostTransactions is how often a write is sent in other forms, because of what its transaction has found.
const mostTransactions = 8

// decideTransaction carries out a write of Transactional sets.
func (w *Writer) decideTransaction(
	ctx context.Context, op string, all []*entity.Conditional, mutations []*statement.Mutation, earlier Outcome, sent *atomic.Int32,
) decision {
	first := all[0].Condition
	x := transacting{
		store: w.store(op, first.Base(), sent), all: slices.Clone(all), mutations: mutations, fences: make([]gocql.UUID, len(all)),
		decision: decision{outcome: earlier},
	}
	if w.tracer.Requests() {
		ctx = w.tracer.TraceRequestStart(ctx, session.RequestStart{
			Op: op, Mode: Transaction.String(), Keyspace: first.Keyspace, Tables: tablesOf(all, mutations), Statements: []string{x.transaction().Text},
			Consistency: session.Consistency(x.store.Options.Consistency),
		})
	}
	x.commit(ctx)
	w.tracer.TraceRequestEnd(ctx, x.end(int(sent.Load())))
	return x.decision
}

// transacting is the state of a write of Transactional sets while it is carried out.
type transacting struct {
	store     *baseStore
	all       []*entity.Conditional
	mutations []*statement.Mutation
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
		found, failed, err := versioned.Try(ctx, x.store, func(ctx context.Context) (*entity.Found, error) { return x.store.Commit(ctx, t) })
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
	held, gone := true, true // all conditions, and all entities that are to be deleted
	for n, c := range x.all {
		row := found.Row(n)
		if row.Version == c.Condition.Version { // by an attempt before this one
			return x.applied()
		}
		holds, _ := found.Holds(n)
		held = held && holds && found.Taken(n) == nil
		gone = gone && c.Condition.Kind == entity.Delete && !row.Present
	}
	if held || gone {
		return x.applied()
	}
	for n := range x.all {
		if err := x.prevented(n, found); err != nil {
			return false, err
		}
	}
	if x.above > 0 {
		x.conflict = true
		return false, errExists
	}
	for n := range x.all { // nothing else is in the way
		resend, err := x.overcome(ctx, n, found)
		if err != nil || x.outcome == Applied {
			return false, err
		}
		again = again || resend
	}
	return again, nil
}

// fence says whether an insert has met the row of a deleted entity.
func (x *transacting) fence(n int, row entity.Row) bool {
	return x.all[n].Condition.Kind == entity.Insert && !row.Present && row.Version != (gocql.UUID{})
}

// prevented is why the condition of the n-th change did not hold, if it surely did not and sending it in another form would not help. If an insert
// has met the row of a deleted entity that is younger, the write has to be made again above that.
func (x *transacting) prevented(n int, found *entity.Found) error {
	cond, row, key := x.all[n].Condition, found.Row(n), found.Taken(n)
	holds, sure := found.Holds(n)
	fence := x.fence(n, row)
	switch {
	case (holds || fence) && key != nil:
		x.conflict, x.taken = true, key
		return errTaken(key.Table)
	case holds || !sure:
		return nil
	case fence && versioned.Timestamp(row.Version) < versioned.Timestamp(cond.Version):
		return nil
	case fence && x.outcome == NotApplied:
		x.above = max(x.above, versioned.Timestamp(row.Version))
		return nil
	}
	x.conflict = true
	if row.Present {
		x.current, _ = cond.Base().Decode(row)
	}
	return conflictAt(n, x.all, row.Present)
}

// overcome puts the n-th change into the form in which its condition may hold, if it did not, and says whether to send it.
func (x *transacting) overcome(ctx context.Context, n int, found *entity.Found) (again bool, err error) {
	switch holds, sure := found.Holds(n); {
	case holds:
		return false, nil
	case !sure:
		return x.image(ctx, n, found.Row(n))
	}
	x.fences[n] = found.Row(n).Version
	return true, nil
}

// image looks again at a row that had the version of the before-image and other bytes. Whether the condition held then is known only if the row
// has one of the two versions now.
func (x *transacting) image(ctx context.Context, n int, was entity.Row) (again bool, err error) {
	cond := x.all[n].Condition
	store := x.store.w.store(x.store.op, cond.Base(), x.store.Sent)
	store.Plain = true
	now, _, err := versioned.Try(ctx, store, store.Read)
	switch {
	case err != nil:
		x.outcome = Unknown
		return false, err
	case now.Version == cond.Version:
		return x.applied()
	case now.Version != was.Version:
		x.outcome, x.conflict = Unknown, true
		return false, errChanged
	}
	if err := errImage(cond.Base(), was); err != nil {
		return false, err
	}
	x.all[n] = x.all[n].Unimaged(was)
	return true, nil
}

func (x *transacting) applied() (again bool, err error) {
	x.outcome = Applied
	return false, nil
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

// tablesOf are the names of the tables of a transaction, with their keyspaces unless that is the one of the first change.
func tablesOf(all []*entity.Conditional, mutations []*statement.Mutation) (names []string) {
	own := all[0].Condition.Keyspace
	add := func(keyspace, name string) {
		if keyspace != own {
			name = keyspace + "." + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range all {
		add(c.Condition.Keyspace, c.Condition.Table)
		for _, k := range slices.Concat(c.Claims, c.Releases) {
			add(k.Keyspace, k.Table)
		}
	}
	for _, m := range mutations {
		add(m.Keyspace, m.Table)
	}
	return names
}
