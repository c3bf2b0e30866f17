package writer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/tables"
)

// This file is about several conditions in one write: of sets with Compare, whose changes of one partition one lightweight transaction can
// hold, and of Transactional sets.

// all are the condition and those alongside it, in the order of the changes.
func (c *condition) all() []*entity.Conditional {
	return append([]*entity.Conditional{c.Conditional}, c.more...)
}

// inserts says whether one of the changes is an insert.
func (c *condition) inserts() bool {
	return slices.ContainsFunc(c.all(), func(one *entity.Conditional) bool { return one.Condition.Kind == entity.Insert })
}

// join adds the condition of another change to that of a write, if one transaction can hold both. Its rows get the same mark.
func (c *condition) join(timestamp int64, change tables.Change, physical func(string) string) (entity.Rendered, error) {
	r, err := change.Internal().RenderConditional(timestamp, c.Condition.Version, physical)
	if err != nil {
		return entity.Rendered{}, err
	}
	if err := together(c.Conditional, &r); err != nil {
		return entity.Rendered{}, err
	}
	c.more = append(c.more, &r)
	return r.Rendered, nil
}

// together says why two conditions cannot belong to one write.
func together(first, second *entity.Conditional) error {
	const apart = "write them one after the other"
	one, other := first.Condition, second.Condition
	switch {
	case one.Transactional && other.Transactional:
		if one.Entity == other.Entity && first.Key == second.Key {
			return errTwice(one.Entity, false)
		}
		return nil
	case one.Entity != other.Entity || one.Keyspace != other.Keyspace || one.Table != other.Table:
		return fmt.Errorf("entity %s and entity %s both have a condition: a lightweight transaction is of one table, so the two cannot "+
			"hold together; %s", one.Entity, other.Entity, apart)
	case first.Key == second.Key:
		return errTwice(one.Entity, false)
	case one.Versioned:
		return fmt.Errorf("two entities %s in one write: each of a Versioned set is decided by a transaction of its own, after what another "+
			"client left unfinished of it, so the two cannot hold together; %s", one.Entity, apart)
	case !bytes.Equal(one.PartitionKey, other.PartitionKey):
		return fmt.Errorf("two entities %s in different partitions of table %s: a lightweight transaction is of one partition, so the two "+
			"conditions cannot hold together; %s", one.Entity, one.Table, apart)
	}
	return nil
}

// remark gives the rows of several conditions the mark or version that every repeat of the request gives them, as conditionOf does for a
// single one, and returns the mutations of the write.
func (w *Writer) remark(p *plan, changes []tables.Change, mutations []*statement.Mutation) ([]*statement.Mutation, error) {
	c := p.condition
	if c == nil || len(c.more) == 0 || !w.pinned {
		return mutations, nil
	}
	if c.Condition.Transactional { // rendered again with the others, below
		mutations = nil
	}
	version := versioned.Version(p.timestamp, digestOf(c.all()))
	all := make([]*entity.Conditional, 0, 1+len(c.more))
	for _, change := range changes {
		if !change.Internal().Conditional() {
			continue
		}
		r, err := change.Internal().RenderConditional(p.timestamp, version, w.physical)
		if err != nil {
			return nil, err
		}
		all = append(all, &r)
		for m := range r.Mutations {
			mutations = append(mutations, &r.Mutations[m])
		}
	}
	c.Conditional, c.more = all[0], all[1:]
	if c.Condition.Versioned {
		c.version = version
	}
	return mutations, nil
}

// digestOf is a hash of several changes in any order, for the marks of their rows. Like [entity.Condition.Digest] it is kept by
// every version of the library: the first eight bytes of the SHA-256 of their digests, smallest first, all big-endian.
func digestOf(all []*entity.Conditional) uint64 {
	digests := make([]uint64, len(all))
	for i, c := range all {
		digests[i] = c.Condition.Digest()
	}
	slices.Sort(digests)
	var data []byte
	for _, d := range digests {
		data = binary.BigEndian.AppendUint64(data, d)
	}
	sum := sha256.Sum256(data)
	return binary.BigEndian.Uint64(sum[:])
}

// decideCompared decides the conditions of a set with Compare. An earlier outcome of Unknown says that they were sent before and may have
// been applied, as everything that comes through Resume may.
//
// If one of the rows then has the change's Mark, all were changed. Without a Mark, a row that is as the change wanted to make it may
// come from this change or from another one with the same values: the outcome stays Unknown, and whoever knows the values can tell from the row.
func (w *Writer) decideCompared(ctx context.Context, op string, all []*entity.Conditional, earlier Outcome, sent *atomic.Int32) decision {
	statements := make([]statement.Bound, len(all))
	for i, c := range all {
		statements[i] = c.Condition.Compare()
	}
	store := w.store(op, all[0].Condition.Base(), sent)
	applied, failed, err := versioned.Try(ctx, store, func(ctx context.Context) (bool, error) {
		applied, _, err := store.Transact(ctx, statements...)
		return applied, err
	})
	outcome := earlier.Then(failed)
	switch {
	case err != nil:
		return decision{outcome: outcome, err: err}
	case applied:
		return decision{outcome: Applied}
	}
	s := decision{outcome: outcome, conflict: true}
	for i, one := range all {
		c := one.Condition
		stored, err := w.stored(ctx, op, c.Base(), sent)
		if err != nil {
			return decision{outcome: outcome, conflict: outcome == NotApplied, err: err} // what was first may be this very change
		}
		if outcome == Unknown && stored != nil && c.Own(*stored) {
			return decision{outcome: Applied}
		}
		if s.err == nil && (len(all) == 1 || !c.Holds(stored)) {
			s.err = conflictAt(i, all, stored != nil)
			if stored != nil {
				s.current, _ = c.Base().Decode(*stored)
			}
		}
	}
	if s.err == nil { // all rows are as they were read again
		s.err = errChanged
	}
	return s
}

// stored reads a base row at SERIAL. It gives nil if there is none.
func (w *Writer) stored(ctx context.Context, op string, base *entity.Base, sent *atomic.Int32) (*entity.Row, error) {
	store := w.store(op, base, sent)
	row, _, err := versioned.Try(ctx, store, store.Read)
	out, _ := row.Columns.(*entity.Row)
	return out, err
}

// conflictAt says that the condition of one of several changes did not hold, and whether there is a row.
func conflictAt(i int, all []*entity.Conditional, exists bool) error {
	err := errChanged
	switch {
	case all[i].Condition.Kind == entity.Insert:
		err = errExists
	case !exists:
		err = errGone
	}
	if len(all) == 1 {
		return err
	}
	return fmt.Errorf("change %d of the %d with conditions: %w", i+1, len(all), err)
}
