package bulk

import (
	"bytes"
	"hash/maphash"

	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/writer"
)

// entry is an item that was read and is not given back.
type entry struct {
	Done
	plan  planned.Write // zero of a change with a condition: Write makes it
	bytes int           // of the rows that its plan sends
	held  int           // of all of its rows: also that of a condition, and what is in the change and not sent
	lane  *lane
	mark  *mark

	number int        // in the order of the source
	order  []orderKey // what it is held back by; none of a change without a key
	own    [1]orderKey
	behind int  // of the lines of these keys, those in which it is not the first
	out    bool // of all lines: it is not written

	partitions []spot // by which it finds others to be written with; none if it is written alone
	taken      bool   // by a chunk
	alone      [1]*entry
}

// spot is an item in the list of those that write a partition, each list a ring.
type spot struct {
	item       *entry
	mutation   *statement.Mutation // the first of the partition
	hash       uint64
	prev, next *spot // nil outside of a list
}

// same says whether two items can be in one request for the partition: rows of two sets are never in one.
func (s *spot) same(other *spot) bool {
	return s.mutation.Keyspace == other.mutation.Keyspace &&
		bytes.Equal(s.mutation.PartitionKey, other.mutation.PartitionKey) &&
		s.item.Change.Entity() == other.item.Change.Entity()
}

// queue holds items that wait.
type queue struct {
	order  ordering
	ready  []*entry
	shared map[uint64]*spot // the first of each list, of items that are ready
	seed   maphash.Seed
	items  int // also those in flight
	held   int // by these, in bytes
}

func newQueue() *queue {
	return &queue{
		order:  ordering{lines: make(map[orderKey]line), parked: make(map[orderKey]error)},
		shared: make(map[uint64]*spot), seed: maphash.MakeSeed(),
	}
}

// add adds an item, unless an earlier one parks it: then it returns the error of the earlier one.
func (q *queue) add(e *entry) error {
	first, cause := q.order.enter(e)
	if cause != nil {
		return cause
	}
	q.items++
	q.held += e.held
	if first {
		q.push(e)
	}
	return nil
}

// push makes an item ready.
func (q *queue) push(e *entry) {
	q.ready = append(q.ready, e)
	if e.plan.Plan == nil || !shares(writer.Mode(e.plan.Mode)) || len(e.plan.Counters) > 0 {
		return
	}
	e.partitions = make([]spot, len(e.plan.Requests))
	for n := range e.partitions {
		s, first := &e.partitions[n], e.plan.Requests[n].Mutations[0]
		*s = spot{item: e, mutation: first, hash: maphash.Bytes(q.seed, first.PartitionKey)}
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
func shares(m writer.Mode) bool {
	return m == writer.FanOut || m == writer.Single || m == writer.SamePartition
}

// drop takes an item out of its lists.
func (q *queue) drop(e *entry) {
	for n := range e.partitions {
		s := &e.partitions[n]
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
	e.partitions = nil
}

// What a write of several items may have.
const (
	mostTogether      = 64
	mostTogetherBytes = 32 << 10
)

// waits says whether an item is ready.
func (q *queue) waits() bool {
	for len(q.ready) > 0 && q.ready[0].taken {
		q.ready[0], q.ready = nil, q.ready[1:]
	}
	return len(q.ready) > 0
}

// take returns the next item that is ready, with others that write the same partitions. There must be one.
func (q *queue) take() []*entry {
	first := q.ready[0]
	first.taken = true
	q.ready[0], q.ready = nil, q.ready[1:]
	first.alone[0] = first
	chunk, bytes := first.alone[:], first.bytes
	for n := range first.partitions {
		own := &first.partitions[n]
		for s := own.next; s != nil && s != own; s = s.next {
			if e := s.item; !e.taken && len(chunk) < mostTogether && bytes+e.bytes <= mostTogetherBytes {
				e.taken = true
				chunk, bytes = append(chunk, e), bytes+e.bytes
			}
		}
	}
	for _, e := range chunk {
		q.drop(e)
	}
	return chunk
}

// done ends an item, and returns those that are parked by its error.
func (q *queue) done(e *entry) (parked []*entry) {
	q.forget(e)
	if e.Err == nil {
		q.order.leave(e, q.push)
		return nil
	}
	parked = q.order.fail(e, e.Err)
	for _, p := range parked {
		q.forget(p)
	}
	return parked
}

func (q *queue) forget(e *entry) {
	q.items--
	q.held -= e.held
}

// rest returns all items, none of which is in flight, and drops them.
func (q *queue) rest() []*entry {
	all := q.order.rest()
	for _, e := range q.ready {
		if !e.taken {
			all = append(all, e)
		}
	}
	q.ready, q.items, q.held = nil, 0, 0
	clear(q.shared)
	return bySource(all)
}

// mutationsOf are the mutations of all items.
func mutationsOf(chunk []*entry) (all []*statement.Mutation) {
	for _, e := range chunk {
		for n := range e.plan.Requests {
			all = append(all, e.plan.Requests[n].Mutations...)
		}
	}
	return all
}
