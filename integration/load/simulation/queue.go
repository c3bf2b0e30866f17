package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// queue holds what the clients of a service could not finish, as stored errors. It delivers each at least once, late
// and out of order, to processes of its own, which are killed, too. Some are delivered once more though they were
// finished, and some to two processes at the same time.
type queue struct {
	*crew
	consumers []*slot
	wg        sync.WaitGroup

	mu   sync.Mutex
	last map[any]*message // of what it is about, as it was stored first
}

const consumers = 2

func newQueue(c *crew) *queue {
	q := &queue{crew: c, last: make(map[any]*message)}
	for n := range consumers {
		q.consumers = append(q.consumers, c.slot(uint64(n)+1))
	}
	return q
}

// wait waits for the last delivery.
func (q *queue) wait() {
	q.wg.Wait()
	for _, s := range q.consumers {
		s.close()
	}
}

// echo delivers once more what was stored last of a row that is about to be changed, or what its latest change is, at
// about the time of the change.
func (q *queue) echo(ctx context.Context, about any, random *rand.Rand) {
	q.mu.Lock()
	m := q.last[about]
	q.mu.Unlock()
	if m == nil || random.IntN(2) == 0 {
		return
	}
	from, after := random.IntN(consumers), time.Duration(random.Int64N(int64([]time.Duration{20 * time.Millisecond, 2 * time.Second}[random.IntN(2)])))
	q.alongside(ctx, m, chance(random.Uint64()), from, after)
}

// alongside delivers a message once, whatever else becomes of it.
func (q *queue) alongside(ctx context.Context, m *message, random *rand.Rand, from int, after time.Duration) {
	q.wg.Go(func() {
		<-time.After(after)
		_, _ = q.one(ctx, m, random, from)
	})
}

// message is a failed write in the queue.
type message struct {
	*attempts
	about  []any  // the row, and the change that is then its latest
	number uint64 // of the write
	most   int    // deliveries, but for those that come alongside; 0 is as many as it takes
	stored []byte
	done   *atomic.Bool // nothing is left to be done, and it is out of the queue
}

// resume resumes once, notes what it is told, and returns what is left to be done, nil if nothing is. Where not all is
// to be brought to an end that is what can be resumed.
func (m *message) resume(p *process, w *writer.Writer, failed *writer.Error) *writer.Error {
	m.again()
	result, err := w.Resume(p.ctx, failed)
	if p.killed() {
		return nil
	}
	left := m.told(result, err)
	if left != nil && m.most > 0 && !left.Resumable() {
		return nil
	}
	return left
}

// hand gives a failed write to the queue. Some clients also go on with it themselves, in one goroutine or in two.
func (q *queue) hand(ctx context.Context, p *process, random *rand.Rand, failed *writer.Error, m *message) {
	var err error
	if m.stored, err = failed.MarshalBinary(); err != nil {
		q.trouble(fmt.Errorf("%s: store: %w", q.service.name, err))
		return
	}
	q.weather.note(delivered, m.number)
	m.done = new(atomic.Bool)
	once := *m // what was stored first, though more is known later
	q.mu.Lock()
	for _, about := range m.about {
		q.last[about] = &once
	}
	q.mu.Unlock()
	first := delay(random)
	q.wg.Go(func() { q.deliver(ctx, m, chance(q.Seed, m.number, 11), 0, first) })
	for n := range random.IntN(3) {
		again, from := first, 1 // to another process at the same time
		if random.IntN(3) > 0 {
			again, from = delay(random), random.IntN(consumers)
		} else {
			q.weather.note(deliveredTwice, m.number)
		}
		q.alongside(ctx, &once, chance(q.Seed, m.number, 12+uint64(n)), from, again)
	}
	switch random.IntN(4) {
	case 0:
		if m.resume(p, mood(p.writer, random), failed) == nil && !p.killed() && random.IntN(2) == 0 {
			m.done.Store(true) // the client takes it out of the queue
		}
	case 1:
		q.weather.note(resumedTwice, m.number)
		var both sync.WaitGroup
		for range 2 {
			w := mood(p.writer, random)
			both.Go(func() { _ = m.resume(p, w, failed) })
		}
		both.Wait()
	}
}

// deliver delivers until nothing is left to be done.
func (q *queue) deliver(ctx context.Context, m *message, random *rand.Rand, from int, after time.Duration) {
	for tries := 0; !m.done.Load() && (m.most == 0 || tries < m.most); tries++ {
		if tries > 200 {
			q.trouble(fmt.Errorf("%s: write %d is not finished after %d deliveries", q.service.name, m.number, tries))
			return
		}
		<-time.After(after)
		left, ok := q.one(ctx, m, random, from)
		if ok && left == nil {
			m.done.Store(true)
			return
		}
		if ok && random.IntN(2) == 0 { // else the consumer ends before it has stored what it knows now
			if stored, err := left.MarshalBinary(); err == nil {
				m.stored = stored
			}
		}
		after, from = time.Duration(random.Int64N(int64(2*time.Second))), random.IntN(consumers)
	}
}

// one is one delivery. It says what is left to be done, and whether the consumer has lived to know.
func (q *queue) one(ctx context.Context, m *message, random *rand.Rand, from int) (left *writer.Error, ok bool) {
	p := q.consumers[from].current(ctx)
	failed := new(writer.Error)
	if err := failed.UnmarshalBinary(m.stored); err != nil {
		q.trouble(fmt.Errorf("%s: take out of the queue: %w", q.service.name, err))
		return nil, true
	}
	w := mood(p.writer, random)
	if random.IntN(2) == 0 { // a consumer has time: it comes again
		w = p.writer.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	}
	q.doom(p, random)
	q.meets(m.number)
	left = m.resume(p, w, failed)
	q.meets(m.number)
	if p.killed() {
		q.weather.note(consumerKilled, m.number)
		return nil, false
	}
	return left, true
}

// delay is the time until a delivery: a moment, or long after others have changed what it is about.
func delay(random *rand.Rand) time.Duration {
	longest := []time.Duration{200 * time.Millisecond, 3 * time.Second, 3 * time.Second, 30 * time.Second, 2 * time.Minute}[random.IntN(5)]
	return time.Duration(random.Int64N(int64(longest)))
}
