package writer

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/entity"
)

// bulkItem is an item that was read and is not done.
type bulkItem struct {
	Item
	entity string
	plan   *plan         // nil of a change with a condition: Write makes it
	at     []partitionOf // by which it finds others to be written with; none if it is written alone
	bytes  int           // of its rows
	lane   *lane
	mark   *mark
	taken  bool // by a chunk
}

// partitionOf names the partition of a request, of a set: rows of two sets are never in one request.
type partitionOf struct{ entity, keyspace, key string }

// bulkQueue holds items that wait. Those of one entity are one after another: at most one of them is ready or under way.
type bulkQueue struct {
	ready    []*bulkItem
	entities map[string][]*bulkItem      // of entities with an item that is ready or under way: those that come after it
	shared   map[partitionOf][]*bulkItem // items that are ready, or have been, by the partitions that they write
	parked   map[string]error            // entities of which a change has failed
	items    int
	bytes    int
}

func newBulkQueue() *bulkQueue {
	return &bulkQueue{
		entities: make(map[string][]*bulkItem), shared: make(map[partitionOf][]*bulkItem), parked: make(map[string]error),
	}
}

// add takes an item in, unless its entity is parked: then it gives the error.
func (q *bulkQueue) add(i *bulkItem) error {
	if cause, ok := q.parked[i.entity]; ok {
		return fmt.Errorf("denorm: %w: %w", ErrParked, cause)
	}
	q.items++
	q.bytes += i.bytes
	if after, busy := q.entities[i.entity]; busy {
		q.entities[i.entity] = append(after, i)
		return nil
	}
	q.entities[i.entity] = nil
	q.push(i)
	return nil
}

func (q *bulkQueue) push(i *bulkItem) {
	q.ready = append(q.ready, i)
	for _, at := range i.at {
		q.shared[at] = append(q.shared[at], i)
	}
}

// partitions are those that a plan writes.
func partitions(p *plan, entity string) []partitionOf {
	all := make([]partitionOf, len(p.requests))
	for n := range all {
		first := p.requests[n].mutations[0]
		all[n] = partitionOf{entity, first.Keyspace, string(first.PartitionKey)}
	}
	return all
}

// What a write of several items may have.
const (
	mostTogether      = 64
	mostTogetherBytes = 32 << 10
)

// take gives the next item that is ready, with others that write the same partitions; none if nothing is ready.
func (q *bulkQueue) take() []*bulkItem {
	for len(q.ready) > 0 && q.ready[0].taken {
		q.ready[0], q.ready = nil, q.ready[1:]
	}
	if len(q.ready) == 0 {
		return nil
	}
	first := q.ready[0]
	first.taken = true
	q.ready[0], q.ready = nil, q.ready[1:]
	chunk, bytes := []*bulkItem{first}, first.bytes
	for _, at := range first.at {
		for _, i := range q.shared[at] {
			if !i.taken && len(chunk) < mostTogether && bytes+i.bytes <= mostTogetherBytes {
				i.taken = true
				chunk, bytes = append(chunk, i), bytes+i.bytes
			}
		}
	}
	for _, i := range chunk {
		q.forget(i)
	}
	return chunk
}

// forget takes items that were taken out of the partitions of i.
func (q *bulkQueue) forget(i *bulkItem) {
	for _, at := range i.at {
		left := slices.DeleteFunc(q.shared[at], func(i *bulkItem) bool { return i.taken })
		if len(left) == 0 {
			delete(q.shared, at)
		} else {
			q.shared[at] = left
		}
	}
}

// done ends an item, and gives those that are parked by its error.
func (q *bulkQueue) done(i *bulkItem, err error) (parked []*bulkItem) {
	q.items--
	q.bytes -= i.bytes
	after := q.entities[i.entity]
	switch {
	case err != nil && i.entity != "":
		q.parked[i.entity] = err
		fallthrough
	case err != nil:
		delete(q.entities, i.entity)
		for _, p := range after {
			q.items--
			q.bytes -= p.bytes
		}
		return after
	case len(after) == 0:
		delete(q.entities, i.entity)
	default:
		q.entities[i.entity] = after[1:]
		q.push(after[0])
	}
	return nil
}

// rest gives all items that have not begun, and drops them.
func (q *bulkQueue) rest() (all []*bulkItem) {
	waiting := q.ready
	for _, i := range waiting {
		if i != nil && !i.taken {
			all = append(all, i)
			q.items--
			q.bytes -= i.bytes
		}
	}
	for name, after := range q.entities {
		all = append(all, after...)
		for _, i := range after {
			q.items--
			q.bytes -= i.bytes
		}
		q.entities[name] = nil
	}
	q.ready = nil
	clear(q.shared)
	return all
}

// lane is the items of a lane that are not saved.
type lane struct {
	name  string
	begun bool
	last  int64 // that was read
	open  []*mark
	upTo  int64 // all are acknowledged
	moved bool  // since it was saved
	held  bool  // by an item that failed
}

// mark is an item's place in its lane.
type mark struct {
	position int64
	done     bool
}

// read notes an item. Behind one that failed nothing has to be kept.
func (l *lane) read(position int64) (*mark, error) {
	if l.begun && position <= l.last {
		return nil, fmt.Errorf("position %d of lane %q comes after %d: with Checkpoint positions rise", position, l.name, l.last)
	}
	l.begun, l.last = true, position
	if l.held {
		return nil, nil //nolint:nilnil // there is no mark
	}
	m := &mark{position: position}
	l.open = append(l.open, m)
	return m, nil
}

// end notes what became of an item.
func (l *lane) end(m *mark, err error) {
	switch {
	case err != nil:
		l.held = true
	case m != nil:
		m.done = true
	}
	for len(l.open) > 0 && l.open[0].done {
		l.upTo, l.moved = l.open[0].position, true
		l.open[0], l.open = nil, l.open[1:]
	}
}

// sizeOf is what the rows of a plan take.
func sizeOf(p *plan) (bytes int) {
	for i := range p.requests {
		bytes += p.requests[i].size()
	}
	return bytes
}

// mutationsOf are the mutations of all items.
func mutationsOf(chunk []*bulkItem) (all []*entity.Mutation) {
	for _, i := range chunk {
		for n := range i.plan.requests {
			all = append(all, i.plan.requests[n].mutations...)
		}
	}
	return all
}
