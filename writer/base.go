package writer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/gocql/gocql"
)

// baseStore is an entity of a Versioned set on the cluster.
type baseStore struct {
	cas.Row
	w       *Writer
	op      string
	claimed string // the Unique table that names the entity as the owner of a key, if another entity wants that
}

var _ versioned.Store = (*baseStore)(nil)

func (w *Writer) partition(keyspace string, key []byte, local bool, level gocql.Consistency, sent *atomic.Int32) cas.Partition {
	return cas.Partition{
		Session: w.transact, Options: cas.Options{Key: key, Consistency: level, Local: local}, Retrier: &w.sender.Retrier,
		Request: req.New(keyspace, key, fanout.LeastSilence), Sent: sent,
	}
}

// claim is a key of a Unique table on the cluster, on behalf of an entity.
func (w *Writer) claim(op string, c *entity.Claim, own *entity.Base, sent *atomic.Int32) *cas.Claim {
	partition := w.partition(c.Keyspace, c.PartitionKey, own.Local(), w.consistency, sent)
	return cas.NewClaim(c, &partition, func(owner *entity.Base) versioned.Store {
		store := w.store(op, owner, sent)
		store.claimed = c.Table
		return store
	})
}

func (w *Writer) store(op string, base *entity.Base, sent *atomic.Int32) *baseStore {
	keyspace, _, key := base.Place()
	return &baseStore{Row: cas.Row{Partition: w.partition(keyspace, key, base.Local(), base.Level(w.consistency), sent), Base: base}, w: w, op: op}
}

// Swap implements [versioned.Store].
func (s *baseStore) Swap(ctx context.Context, swap versioned.Swap) (versioned.Reply, error) {
	reply, err := s.Row.Swap(ctx, swap)
	if err != nil || reply.Applied || swap.Before == (gocql.UUID{}) || reply.Version != swap.Before || len(reply.Pending) > 0 {
		return reply, err
	}
	return s.imageOf(ctx, swap, reply)
}

// imageOf continues a swap that was not applied although the row has the version of the before-image and nothing is pending. So the
// columns that keys follow from differ. That may be a difference of bytes alone, which the swap can do without.
func (s *baseStore) imageOf(ctx context.Context, swap versioned.Swap, reply versioned.Reply) (versioned.Reply, error) {
	row, err := s.Read(ctx)
	if err != nil || row.Version != swap.Before || len(row.Pending) > 0 {
		return reply, err // another write came meanwhile
	}
	read, ok := row.Columns.(*entity.Row)
	if !ok {
		read = s.Base.Empty()
	}
	if reply.Err = errImage(s.Base, *read); reply.Err != nil {
		return reply, nil //nolint:nilerr // the reply has it
	}
	s.Base = s.Base.Unimaged()
	return s.Swap(ctx, swap)
}

// errImage says in which column a row differs from the before-image that has its version, nil if in none.
func errImage(base *entity.Base, row entity.Row) error {
	column := base.Differing(row)
	if column == "" {
		return nil
	}
	keyspace, table, _ := base.Place()
	return fmt.Errorf("%w: the before-image has the version of the row in %s.%s, and another value of column %s: "+
		"give the row as it was read, not one that was changed in place (Modify and Set.Updating note its keys first); "+
		"if it is as it was read, something else than this library writes to the table", ErrInvalid, keyspace, table, column)
}

// ApplyToQueryTables implements [versioned.Store].
func (s *baseStore) ApplyToQueryTables(ctx context.Context, row versioned.Row, version gocql.UUID, keys [][]byte) error {
	mutations, err := s.Mutations(row, version, keys)
	if err != nil && s.claimed != "" {
		err = fmt.Errorf("table %s has the key for an entity that gave it up: %w", s.claimed, err)
	}
	if err != nil || len(mutations) == 0 {
		return req.Stop(err)
	}
	pointers := make([]*statement.Mutation, len(mutations))
	for i := range mutations {
		pointers[i] = &mutations[i]
	}
	p := &plan{Write: fanout.Write{Op: s.op}, timestamp: versioned.Timestamp(version), mode: FanOut, requests: fanout.Requests(pointers)}
	alone := *s.w // Try does the retries
	alone.sender.Retrier = single
	p.requests = alone.start(ctx, p, p.mode, p.requests).Wait(p.requests)
	for i := range p.requests {
		s.Sent.Add(int32(p.requests[i].Sent))
	}
	if !fanout.AllApplied(p.requests) {
		// Not as an Error: what it says of its tables is not said of the write that met this one.
		failed := p.failure()
		return fmt.Errorf("finish what another client left: %s: %w", failed.Error(), errors.Join(failed.Unwrap()...))
	}
	return nil
}

// Clear implements [versioned.Store].
func (s *baseStore) Clear(ctx context.Context, versions []gocql.UUID) error {
	return s.Row.Clear(ctx, versions, s.w.clock.now)
}
