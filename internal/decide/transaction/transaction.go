// Package transaction decides changes of Transactional sets: one transaction of Cassandra 6 holds all conditions and
// all mutations of the write.
package transaction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// Protocol is this kind of decision.
var Protocol = decide.Protocol{
	Mode:     "transaction",
	Reason:   "the set is Transactional",
	Whole:    true,
	Versions: true,
	Lasting:  true,
	Unmet:    "not as read",
	Join:     join,
	Check:    check,
	Texts: func(d *decide.Decision) []string {
		return []string{entity.NewTransaction(d.Parts, d.Mutations, nil).Text}
	},
	Names:  names,
	Decide: commit,
}

// join says why two changes cannot be in one transaction, or nil.
func join(first, next *entity.Conditional) error {
	switch {
	case next.Condition.By != layout.Transactional:
		return errors.New("not all of its sets are Transactional")
	case first.Condition.Entity == next.Condition.Entity && first.Key == next.Key:
		return entity.ErrTwice(first.Condition.Entity, first.Condition.Kind)
	}
	return nil
}

// check says why changes are no transaction.
func check(d *decide.Decision) error {
	if key := entity.Contended(d.Parts); key != nil {
		return fmt.Errorf("two changes of one write take the same key of table %s, and one entity alone can have it",
			key.Table)
	}
	seen := make(map[string]bool)
	for _, one := range d.Parts {
		key := one.Condition.Entity + "\x00" + one.Key
		if seen[key] {
			return entity.ErrTwice(one.Condition.Entity, one.Condition.Kind)
		}
		seen[key] = true
	}
	if slices.ContainsFunc(d.Mutations, func(m *statement.Mutation) bool { return !m.Transactable() }) {
		return errors.New("a statement that cannot be in a transaction")
	}
	return nil
}

// commit sends the transaction.
func commit(ctx context.Context, env *decide.Env, d *decide.Decision, earlier decide.Known) decide.Known {
	x := transacting{
		env: env, base: env.Base(d.First().Base()), parts: slices.Clone(d.Parts), mutations: d.Mutations,
		fences: make([]gocql.UUID, len(d.Parts)),
		Known:  decide.Known{Outcome: earlier.Outcome},
	}
	x.commit(ctx)
	return x.Known
}

// mostTransactions is how often a write is sent in other forms, because of what its transaction has found.
const mostTransactions = 8

// transacting is the state of a write of Transactional sets while it is carried out.
type transacting struct {
	env       *decide.Env
	base      decide.BaseRow
	parts     []*entity.Conditional
	mutations []*statement.Mutation
	fences    []gocql.UUID // by change: the version of a deleted entity that an insert has met
	decide.Known
}

// commit sends the transaction until it is known what has become of it. After an attempt of which nothing is known it
// is sent again: if that one was applied, the rows have its version.
func (x *transacting) commit(ctx context.Context) {
	for range mostTransactions {
		t := entity.NewTransaction(x.parts, x.mutations, x.fences)
		found, failed, err := decide.Try(ctx, &x.base.Partition, func(ctx context.Context) (*entity.Found, error) {
			return x.base.Commit(ctx, t)
		})
		x.Outcome = x.Outcome.Then(failed)
		if err != nil {
			x.Err = err
			return
		}
		again, err := x.judge(ctx, found)
		if !again {
			x.Err = err
			return
		}
	}
	x.Err = decide.ErrRounds
}

// judge says what the transaction has done, by what it found, and whether it is to be sent again: with the rows of
// deleted entities that inserts have met as their conditions, if these are older, or without before-images that differ
// in bytes alone.
func (x *transacting) judge(ctx context.Context, found *entity.Found) (again bool, err error) {
	held, gone := true, true // all conditions, and all entities that are to be deleted
	for n, c := range x.parts {
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
	for n := range x.parts {
		if err := x.prevented(n, found); err != nil {
			return false, err
		}
	}
	if x.Above > 0 {
		x.Conflict = true
		return false, decide.ErrExists
	}
	for n := range x.parts { // nothing else is in the way
		switch holds, sure := found.Holds(n); {
		case holds:
			continue
		case sure:
			x.fences[n] = found.Row(n).Version
		default:
			if resend, err := x.image(ctx, n, found.Row(n)); !resend {
				return false, err
			}
		}
		again = true
	}
	return again, nil
}

// prevented is why the condition of the n-th change did not hold, if it surely did not and sending it in another form
// would not help. If an insert has met the row of a deleted entity that is younger, the write has to be made again
// above that.
func (x *transacting) prevented(n int, found *entity.Found) error {
	cond, row, key := x.parts[n].Condition, found.Row(n), found.Taken(n)
	holds, sure := found.Holds(n)
	fence := cond.Kind == entity.Insert && !row.Present && row.Version != (gocql.UUID{}) // of a deleted entity
	switch {
	case (holds || fence) && key != nil:
		x.Conflict, x.Taken = true, key
		return decide.TakenError(key.Table)
	case holds || !sure:
		return nil
	case fence && entity.Timestamp(row.Version) < entity.Timestamp(cond.Version):
		return nil
	case fence && x.Outcome == retry.NotApplied:
		x.Above = max(x.Above, entity.Timestamp(row.Version))
		return nil
	}
	x.Conflict = true
	if row.Present {
		x.Current, _ = cond.Base().Decode(row)
	}
	return decide.ConflictError(n, x.parts, row.Present)
}

// image looks again at a row that had the version of the before-image and other bytes. Whether the condition held then
// is known only if the row has one of the two versions now.
func (x *transacting) image(ctx context.Context, n int, was entity.Row) (again bool, err error) {
	cond := x.parts[n].Condition
	base := x.env.Base(cond.Base())
	base.Plain = true
	now, _, err := decide.Try(ctx, &base.Partition, base.Row)
	if err != nil {
		x.Outcome = retry.Unknown
		return false, err
	}
	if now == nil {
		now = new(entity.Row)
	}
	switch now.Version {
	case cond.Version:
		return x.applied()
	case was.Version:
	default:
		x.Outcome, x.Conflict = retry.Unknown, true
		return false, decide.ErrChanged
	}
	if err := decide.ImageError(cond.Base(), was); err != nil {
		return false, err
	}
	x.parts[n] = x.parts[n].Unimaged(was)
	return true, nil
}

func (x *transacting) applied() (again bool, err error) {
	x.Outcome = retry.Applied
	return false, nil
}

// names are the names of the tables of a transaction, with their keyspaces unless that is the one of the first change.
func names(d *decide.Decision) (names []string) {
	var places []decide.Place
	for _, c := range d.Parts {
		places = append(places, decide.PlacesOf(c)...)
	}
	for _, m := range d.Mutations {
		places = append(places, decide.Place{Keyspace: m.Keyspace, Table: m.Table})
	}
	for _, p := range each.Once(places) {
		if p.Keyspace != d.First().Keyspace {
			p.Table = p.Keyspace + "." + p.Table
		}
		names = append(names, p.Table)
	}
	return names
}
