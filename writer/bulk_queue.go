package writer

import (
	"bytes"
	"hash/maphash"

	"github.com/denorm-go/denorm/internal/statement"
)

// bulkItem is an item that was read and is not given back.
type bulkItem struct {
	Done
	plan  *plan // nil of a change with a condition: Write makes it
	bytes int   // of the rows that its plan sends
	held  int   // of all of its rows: also that of a condition, and what is in the change and not sent
	lane  *lane
	mark  *mark

	number int        // in the order of the source
	order  []orderKey // what it is held back by; none of a change without a key
	own    [1]orderKey
	behind int  // of the lines of these keys, those in which it is not the first
	out    bool // of all lines: it is not written

	partitions []spot // by which it finds others to be written with; none if it is written alone
	taken      bool   // by a chunk
	alone      [1]*bulkItem
}

// spot is an item in the list of those that write a partition, each list a ring.
type spot struct {
	item       *bulkItem
	mutation   *statement.Mutation // the first of the partition
	hash       uint64
	prev, next *spot // nil outside of a list
}

// same says whether two items can be in one request for the partition: rows of two sets are never in one.
func (s *spot) same(other *spot) bool {
	return s.mutation.Keyspace == other.mutation.Keyspace && bytes.Equal(s.mutation.PartitionKey, other.mutation.PartitionKey) &&
		s.item.Change.Entity() == other.item.Change.Entity()
}

// bulkQueue holds items that wait.
type bulkQueue struct {
	order  bulkOrder
	ready  []*bulkItem
	shared map[uint64]*spot // the first of each list, of items that are ready
	seed   maphash.Seed
	items  int // also those in flight
	held   int // by these, in bytes
}

func newBulkQueue() *bulkQueue {
	return &bulkQueue{
		order:  bulkOrder{lines: make(map[orderKey]line), parked: make(map[orderKey]error)},
		shared: make(map[uint64]*spot), seed: maphash.MakeSeed(),
	}
}

// add adds an item, unless an earlier one parks it: then it returns the error of the earlier one.
func (q *bulkQueue) add(i *bulkItem) error {
	first, cause := q.order.enter(i)
	if cause != nil {
		return cause
	}
	q.items++
	q.held += i.held
	if first {
		q.push(i)
	}
	return nil
}

// push makes an item ready.
func (q *bulkQueue) push(i *bulkItem) {
	q.ready = append(q.ready, i)
	if i.plan == nil || !i.plan.mode.shares() || len(i.plan.counters) > 0 {
		return
	}
	i.partitions = make([]spot, len(i.plan.requests))
	for n := range i.partitions {
		s, first := &i.partitions[n], i.plan.requests[n].Mutations[0]
		*s = spot{item: i, mutation: first, hash: maphash.Bytes(q.seed, first.PartitionKey)}
		switch head := q.shared[s.hash]; {
		case head == nil:
			s.prev, s.next = s, s
			q.shared[s.hash] = s
		case head.same(s):
			s.prev, s.next = head.prev, head
			s.prev.next, s.next.prev = s, s
		}
	}
}

// shares says whether rows of several changes of such a plan may be in one request.
func (m Mode) shares() bool { return m == FanOut || m == Single || m == SamePartition }

// drop takes an item out of its lists.
func (q *bulkQueue) drop(i *bulkItem) {
	for n := range i.partitions {
		s := &i.partitions[n]
		switch s.next {
		case nil:
		case s:
			delete(q.shared, s.hash)
		default:
			s.prev.next, s.next.prev = s.next, s.prev
			if q.shared[s.hash] == s {
				q.shared[s.hash] = s.next
			}
		}
	}
	i.partitions = nil
}

// What a write of several items may have.
const (
	mostTogether      = 64
	mostTogetherBytes = 32 << 10
)

// waits says whether an item is ready.
func (q *bulkQueue) waits() bool {
	for len(q.ready) > 0 && q.ready[0].taken {
		q.ready[0], q.ready = nil, q.ready[1:]
	}
	return len(q.ready) > 0
}

// take returns the next item that is ready, with others that write the same partitions. There must be one.
func (q *bulkQueue) take() []*bulkItem {
	first := q.ready[0]
	first.taken = true
	q.ready[0], q.ready = nil, q.ready[1:]
	first.alone[0] = first
	chunk, bytes := first.alone[:], first.bytes
	for n := range first.partitions {
		own := &first.partitions[n]
		for s := own.next; s != nil && s != own; s = s.next {
			if i := s.item; !i.taken && len(chunk) < mostTogether && bytes+i.bytes <= mostTogetherBytes {
				i.taken = true
				chunk, bytes = append(chunk, i), bytes+i.bytes
			}
		}
	}
	for _, i := range chunk {
		q.drop(i)
	}
	return chunk
}

// done ends an item, and returns those that are parked by its error.
func (q *bulkQueue) done(i *bulkItem) (parked []*bulkItem) {
	q.forget(i)
	if i.Err == nil {
		q.order.leave(i, q.push)
		return nil
	}
	parked = q.order.fail(i, i.Err)
	for _, p := range parked {
		q.forget(p)
	}
	return parked
}

func (q *bulkQueue) forget(i *bulkItem) {
	q.items--
	q.held -= i.held
}

// rest returns all items, none of which is in flight, and drops them.
func (q *bulkQueue) rest() []*bulkItem {
	all := q.order.rest()
	for _, i := range q.ready {
		if !i.taken {
			all = append(all, i)
		}
	}
	q.ready, q.items, q.held = nil, 0, 0
	clear(q.shared)
	return bySource(all)
}

// measure notes what the rows of an item take, with its plan.
func (i *bulkItem) measure(p *plan) {
	for n := range p.requests {
		i.bytes += p.requests[n].Size()
	}
	if p.deciding != nil {
		for _, m := range p.decision.Mutations {
			i.bytes += m.Size()
		}
	}
	i.held = i.bytes + i.Change.Internal().Unsent()
	for n := range p.counters {
		i.held += p.counters[n].Size()
	}
	if p.deciding != nil {
		i.held += p.decision.First().Size()
	}
}

// mutationsOf are the mutations of all items.
func mutationsOf(chunk []*bulkItem) (all []*statement.Mutation) {
	for _, i := range chunk {
		for n := range i.plan.requests {
			all = append(all, i.plan.requests[n].Mutations...)
		}
	}
	return all
}
