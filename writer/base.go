package writer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/cas"
	"github.com/denorm-go/denorm/internal/entity"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// transactions sends the requests that a condition takes, for one partition, and counts them.
type transactions struct {
	w         *Writer
	op        string
	partition *req.Request
	o         transaction
	sent      *atomic.Int32
}

func (w *Writer) transactions(op, keyspace string, key []byte, local bool, sent *atomic.Int32) transactions {
	return transactions{
		w: w, op: op, partition: req.New(keyspace, key, leastSilence), sent: sent,
		o: transaction{key: key, consistency: w.consistency, local: local},
	}
}

// begin begins a request, and returns the context that it is sent with.
func (r *transactions) begin(ctx context.Context) context.Context {
	r.sent.Add(1)
	r.partition.Begin(ctx)
	return r.partition
}

// Transact implements [cas.Partition].
func (r *transactions) Transact(ctx context.Context, statements ...entity.Statement) (applied bool, row map[string]any, err error) {
	applied, row, err = r.w.transact.swap(r.begin(ctx), statements, r.o)
	return applied, row, r.partition.End(err) //nolint:contextcheck // it is that of begin
}

// commit makes one attempt at a transaction of Cassandra 6.
func (r *transactions) commit(ctx context.Context, t *entity.Transaction) (*entity.Found, error) {
	found, err := r.w.transact.commit(r.begin(ctx), t, r.o)
	return found, r.partition.End(err) //nolint:contextcheck // it is that of begin
}

// read makes one attempt at reading a row.
func (r *transactions) read(ctx context.Context, s entity.Statement, dest []any, plain bool) (found bool, err error) {
	found, err = r.w.transact.read(r.begin(ctx), s, dest, plain, r.o)
	return found, r.partition.End(err) //nolint:contextcheck // it is that of begin
}

// ReadSerial implements [cas.Partition].
func (r *transactions) ReadSerial(ctx context.Context, s entity.Statement, dest []any) (found bool, err error) {
	return r.read(ctx, s, dest, false)
}

// Try implements [versioned.Store].
func (r *transactions) Try(ctx context.Context, attempt func(context.Context) error) (failed Outcome, err error) {
	failed = NotApplied
	_, err = r.w.retrier.Do(ctx, retry.Swap, func(ctx context.Context, _ int) error {
		err := attempt(ctx)
		if err != nil && retry.Classify(err, retry.Swap).Outcome != NotApplied {
			failed = Unknown
		}
		return err
	}, nil)
	return failed, err
}

// baseStore is an entity of a Versioned set on the cluster.
type baseStore struct {
	transactions
	base    *entity.Base
	plain   bool   // reads are at the writer's own consistency: what is decided, but not yet committed, they may not see
	claimed string // the Unique table that names the entity as the owner of a key, if another entity wants that
}

var _ versioned.Store = (*baseStore)(nil)

// claim is a key of a Unique table on the cluster, on behalf of an entity.
func (w *Writer) claim(op string, c *entity.Claim, own *entity.Base, sent *atomic.Int32) *cas.Claim {
	partition := w.transactions(op, c.Keyspace, c.PartitionKey, own.Local(), sent)
	return cas.NewClaim(c, &partition, func(owner *entity.Base) versioned.Store {
		store := w.store(op, owner, sent)
		store.claimed = c.Table
		return store
	})
}

func (w *Writer) store(op string, base *entity.Base, sent *atomic.Int32) *baseStore {
	keyspace, _, key := base.Place()
	store := &baseStore{transactions: w.transactions(op, keyspace, key, base.Local(), sent), base: base}
	store.o.consistency = base.Level(w.consistency)
	return store
}

// Read implements [versioned.Store].
func (s *baseStore) Read(ctx context.Context) (out versioned.Row, err error) {
	statement, dest, row := s.base.Select()
	if found, err := s.read(ctx, statement, dest, s.plain); err != nil || !found {
		return out, err
	}
	read := row()
	out = versioned.Row{Version: read.Version, Present: read.Present, Pending: read.Pending}
	if read.Present {
		out.Columns = &read
	}
	return out, nil
}

// Swap implements [versioned.Store].
func (s *baseStore) Swap(ctx context.Context, swap versioned.Swap) (reply versioned.Reply, err error) {
	after, _ := swap.After.(*entity.Row)
	applied, row, err := s.Transact(ctx, s.base.Swap(swap.Before, swap.Version, after, swap.Keys)...)
	if err != nil || applied {
		return versioned.Reply{Applied: applied}, err
	}
	reply.Version, _ = row[s.base.VersionColumn()].(gocql.UUID)
	pending, _ := row[entity.PendingColumn].(map[gocql.UUID][]byte)
	reply.Pending = slices.Collect(maps.Keys(pending))
	if swap.Before == (gocql.UUID{}) || reply.Version != swap.Before || len(reply.Pending) > 0 {
		return reply, nil
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
		read = s.base.Empty()
	}
	if reply.Err = errImage(s.base, *read); reply.Err != nil {
		return reply, nil //nolint:nilerr // the reply has it
	}
	s.base = s.base.Unimaged()
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
	var current entity.Row
	if stored, ok := row.Columns.(*entity.Row); ok {
		current = *stored
	}
	mutations, err := s.base.QueryTableMutations(current, version, keys)
	if err != nil && s.claimed != "" {
		err = fmt.Errorf("table %s has the key for an entity that gave it up: %w", s.claimed, err)
	}
	if err != nil || len(mutations) == 0 {
		return req.Stop(err)
	}
	pointers := make([]*entity.Mutation, len(mutations))
	for i := range mutations {
		pointers[i] = &mutations[i]
	}
	p := &plan{op: s.op, timestamp: versioned.Timestamp(version), mode: FanOut, requests: group(pointers)}
	once := *s.w // Try does the retries
	once.retrier = single
	p.requests = once.startFanOut(ctx, p, p.requests).wait(p.requests)
	for i := range p.requests {
		s.sent.Add(int32(p.requests[i].sent))
	}
	if !applied(p.requests) {
		// Not as an Error: what it says of its tables is not said of the write that met this one.
		failed := p.failure()
		return fmt.Errorf("finish what another client left: %s: %w", failed.Error(), errors.Join(failed.Unwrap()...))
	}
	return nil
}

// Clear implements [versioned.Store].
func (s *baseStore) Clear(ctx context.Context, versions []gocql.UUID) error {
	for _, v := range versions {
		err := s.w.transact.exec(s.begin(ctx), s.base.Clear(v, s.w.clock.now()), s.o)
		if err = s.partition.End(err); err != nil { //nolint:contextcheck // it is that of begin
			return err
		}
	}
	return nil
}
