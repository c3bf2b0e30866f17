package reconcile

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
)

// place is the place of a row: its table and encoded primary key.
type place struct {
	t   *table
	key string
}

// suspect is an entity whose tables differed at the last look.
type suspect struct {
	entity   string // encoded base key
	places   map[place]bool
	tries    int
	unheld   map[place]bool // claims that were counted as such
	more     []place        // added while it is being looked at
	units    []*unit        // that are not done before it is settled
	sighting repair.Sighting
	held     int64     // in microseconds: what is later was ahead when an earlier run saw it; 0: it saw nothing
	due      time.Time // of the next look
	looking  bool      // it is being looked at, and not in the heap
}

// queue holds suspects until they are to be looked at again. It is safe for concurrent use.
type queue struct {
	mu     sync.Mutex
	all    map[string]*suspect
	heap   suspects
	wake   chan struct{} // something changed
	room   chan struct{} // closed and replaced when one has gone
	closed bool
}

// maxSuspects bounds the queue. While it is full, the scan waits.
const maxSuspects = 100_000

func newQueue() *queue {
	return &queue{all: make(map[string]*suspect), wake: make(chan struct{}, 1), room: make(chan struct{})}
}

// add adds an entity, with the place of a row that is to be looked at, found by a unit, which may be nil. It waits
// while the queue is full, until ctx ends.
func (q *queue) add(ctx context.Context, entity string, p place, u *unit) {
	for {
		q.mu.Lock()
		s := q.all[entity]
		if s == nil && len(q.all) < maxSuspects {
			s = &suspect{entity: entity, places: make(map[place]bool)}
			q.all[entity] = s
			heap.Push(&q.heap, s)
		}
		room := q.room
		if s != nil {
			if u != nil && !slices.Contains(s.units, u) {
				u.open.Add(1)
				s.units = append(s.units, u)
			}
			if s.looking {
				s.more = append(s.more, p)
			} else {
				s.places[p] = true
			}
			q.mu.Unlock()
			q.signal()
			return
		}
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// close says that nothing will be added any more.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// resting is how many suspects wait, and until when. It is 0 if more may be added, or one is being looked at. done says
// that none is left.
func (q *queue) resting() (n int, until time.Time, done bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed && len(q.heap) > 0 && len(q.heap) == len(q.all) {
		n, until = len(q.heap), q.heap[0].due
	}
	return n, until, q.closed && len(q.all) == 0
}

// take waits for suspects that are due, and gives at most so many. It gives none at the end: when the queue is closed
// and empty, or ctx has ended.
func (q *queue) take(ctx context.Context, most int) []*suspect {
	for {
		q.mu.Lock()
		var out []*suspect
		now := time.Now()
		for len(q.heap) > 0 && len(out) < most && !q.heap[0].due.After(now) {
			out = append(out, heap.Pop(&q.heap).(*suspect)) //nolint:forcetypeassert // there is nothing else in it
		}
		wait, empty := time.Duration(-1), q.closed && len(q.all) == 0
		if len(q.heap) > 0 {
			wait = q.heap[0].due.Sub(now)
		}
		q.mu.Unlock()
		if len(out) > 0 || empty || ctx.Err() != nil {
			return out
		}
		q.sleep(ctx, wait)
	}
}

func (q *queue) sleep(ctx context.Context, wait time.Duration) {
	var due <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-q.wake:
	case <-ctx.Done():
	}
}

// again puts a suspect back, to be looked at when it is due.
func (q *queue) again(s *suspect, due time.Time) {
	q.mu.Lock()
	q.put(s, due)
	q.mu.Unlock()
	q.signal()
}

func (q *queue) put(s *suspect, due time.Time) {
	for _, p := range s.more {
		s.places[p] = true
	}
	s.due, s.more = due, nil
	heap.Push(&q.heap, s)
}

// done forgets a suspect, and gives its units. If another place of it was added meanwhile, it stays.
func (q *queue) done(s *suspect) (units []*unit, gone bool) {
	q.mu.Lock()
	if len(s.more) > 0 {
		s.sighting = repair.Sighting{}
		q.put(s, time.Now())
		q.mu.Unlock()
		q.signal()
		return nil, false
	}
	delete(q.all, s.entity)
	close(q.room)
	q.room = make(chan struct{})
	q.mu.Unlock()
	q.signal()
	return s.units, true
}

// suspects is a heap, the next one due first.
type suspects []*suspect

func (h suspects) Len() int           { return len(h) }
func (h suspects) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h suspects) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *suspects) Push(x any) {
	s := x.(*suspect) //nolint:forcetypeassert // there is nothing else in it
	s.looking = false
	*h = append(*h, s)
}

// Pop implements [heap.Interface].
func (h *suspects) Pop() any {
	old := *h
	s := old[len(old)-1]
	*h, s.looking = old[:len(old)-1], true
	return s
}
