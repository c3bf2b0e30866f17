package writer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/pace"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// bulkRun is the loop of a run: everything in it belongs to one goroutine, but what write does.
type bulkRun struct {
	*Bulk
	yield func(Done) bool
	queue *bulkQueue
	lanes map[string]*lane
	pace  *pace.Pace
	first error // of an item

	items    chan pulled
	finished chan chunkDone
	under    int  // writes under way
	ending   bool // nothing is read or begun any more
	left     bool // nor given
}

type pulled struct {
	item Item
	err  error
}

type chunkDone struct {
	chunk []*bulkItem
	done  []Done
	took  time.Duration
	err   error // that the pace is told of
}

// What is read ahead.
const (
	aheadItems = 4 // for each write that may be under way
	aheadBytes = 64 << 20
)

// slack is how many times as long as at the beginning the median write may take: nodes that are busy answer so much later, and an import
// keeps them busy. It is the median as a pause of a node, in which the slowest twentieth takes 100 ms, says nothing of how busy it is.
const slack = 16

// sizes are the kinds of writes that the pace tells apart: of 1 item, of 2 or 3, of 4 to 7 and so on.
const sizes = 7

func newBulkRun(b *Bulk, yield func(Done) bool) *bulkRun {
	return &bulkRun{
		Bulk: b, yield: yield, queue: newBulkQueue(), lanes: make(map[string]*lane),
		pace:  pace.New(pace.Config{First: 4, Most: b.inFlight, Kinds: sizes, Slack: slack, Percentile: 50, Growth: 0.1, Doubles: true}, 0),
		items: make(chan pulled), finished: make(chan chunkDone, b.inFlight),
	}
}

func (r *bulkRun) run() {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	go r.pull(ctx)
	var saves <-chan time.Time
	if r.save != nil {
		ticker := time.NewTicker(saveEvery)
		defer ticker.Stop()
		saves = ticker.C
	}
	canceled, items := r.ctx.Done(), r.items
	for {
		r.begin()
		if r.under == 0 && (r.ending || items == nil && r.queue.items == 0) {
			break
		}
		from := items
		if r.ending || r.queue.items >= aheadItems*r.inFlight || r.queue.bytes >= aheadBytes {
			from = nil
		}
		select {
		case p, ok := <-from:
			switch {
			case !ok:
				items = nil
			case p.err != nil:
				r.because(fmt.Errorf("the source: %w", p.err))
				items = nil
			default:
				r.accept(p.item)
			}
		case c := <-r.finished:
			r.complete(c)
		case <-saves:
			if r.save != nil {
				r.saved(r.saveLanes(r.ctx))
			}
		case <-canceled:
			canceled = nil
			r.because(r.ctx.Err())
			r.stop(fmt.Errorf("denorm: not begun: %w", r.ctx.Err()))
		}
	}
	if r.save != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), saveEnd)
		defer cancel()
		r.saved(r.saveLanes(ctx))
	}
	r.counts.Cause = errors.Join(r.first, r.counts.Cause)
}

// pull reads the source until it ends, has an error, or the run does not go on.
func (r *bulkRun) pull(ctx context.Context) {
	defer close(r.items)
	for item, err := range r.source {
		select {
		case r.items <- pulled{item, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// because notes why the run ends early.
func (r *bulkRun) because(err error) { r.counts.Cause = errors.Join(r.counts.Cause, err) }

// stop begins nothing more, and gives what has not begun with an error.
func (r *bulkRun) stop(err error) {
	r.ending = true
	for _, i := range r.queue.rest() {
		r.give(i.lane, i.mark, Done{Item: i.Item, Err: err})
	}
}

// give hands an item back.
func (r *bulkRun) give(l *lane, m *mark, d Done) {
	switch {
	case d.Err == nil:
		r.counts.Written++
	case errors.Is(d.Err, ErrParked):
		r.counts.Parked++
	default:
		r.counts.Failed++
		if r.first == nil && !r.ending {
			r.first = d.Err
		}
	}
	if l != nil {
		l.end(m, d.Err)
	}
	if !r.left && !r.yield(d) {
		r.left = true
		r.because(errLeft)
		r.stop(errLeft)
	}
}

// accept takes in an item that was read.
func (r *bulkRun) accept(item Item) {
	i := &bulkItem{Item: item}
	err := r.prepare(i)
	if err == nil {
		err = r.queue.add(i)
	} else if i.entity != "" {
		if _, there := r.queue.parked[i.entity]; !there {
			r.queue.parked[i.entity] = err
		}
	}
	if err != nil {
		r.give(i.lane, i.mark, Done{Item: item, Err: err})
	}
}

// prepare makes the plan of an item, unless it is to be written alone.
func (r *bulkRun) prepare(i *bulkItem) error {
	if r.save != nil {
		l, ok := r.lanes[i.Lane]
		if !ok {
			l = &lane{name: i.Lane}
			r.lanes[i.Lane] = l
		}
		m, err := l.read(i.Position)
		i.lane, i.mark = l, m
		if err != nil {
			return reject(r.op, err)
		}
	}
	c := i.Change.Internal()
	if c.Valid() {
		if key := c.Key(); key != "" {
			i.entity = i.Change.Entity() + "\x00" + key
		}
		switch {
		case r.save == nil:
		case i.Change.Kind() == tables.Add:
			return reject(r.op, errors.New("counters with Checkpoint: a run that begins again would count them again"))
		case i.At == 0 && !c.Conditional():
			return reject(r.op, errors.New("an item without At, with Checkpoint: a run that begins again needs the timestamps that it had"))
		}
	}
	w := r.writer(i)
	p, err := w.plan(r.op, []tables.Change{i.Change}, 0)
	if err != nil {
		return reject(r.op, err)
	}
	i.bytes = sizeOf(p)
	if p.condition != nil {
		return nil
	}
	i.plan = p // at its timestamp: one that was made later would be above that of the entity's next change
	if len(p.counters) == 0 && (p.mode == FanOut || p.mode == Single || p.mode == SamePartition) {
		i.at = partitions(p, i.Change.Entity())
	}
	return nil
}

// writer is that of an item.
func (r *bulkRun) writer(i *bulkItem) *Writer {
	if i.At == 0 {
		return r.w
	}
	return r.w.With(At(i.At))
}

// begin starts writes while there is room.
func (r *bulkRun) begin() {
	for !r.ending && r.queue.items > 0 && r.pace.TryAcquire() {
		chunk := r.queue.take()
		if chunk == nil {
			r.pace.Return()
			return
		}
		r.under++
		go func() {
			start := time.Now()
			done, err := r.write(chunk)
			r.finished <- chunkDone{chunk, done, time.Since(start), err}
		}()
	}
}

// complete ends the items of a write.
func (r *bulkRun) complete(c chunkDone) {
	r.under--
	r.pace.Release(min(bits.Len(uint(len(c.chunk)))-1, sizes-1), c.took, c.err)
	for n, i := range c.chunk {
		parked := r.queue.done(i, c.done[n].Err)
		r.give(i.lane, i.mark, c.done[n])
		for _, p := range parked {
			err := fmt.Errorf("denorm: %w: %w", ErrParked, c.done[n].Err)
			r.give(p.lane, p.mark, Done{Item: p.Item, Err: err})
		}
	}
}

// write writes a chunk, and gives the result of each item in its order.
func (r *bulkRun) write(chunk []*bulkItem) ([]Done, error) {
	done := make([]Done, len(chunk))
	for n, i := range chunk {
		done[n].Item = i.Item
	}
	if chunk[0].plan == nil {
		done[0].Result, done[0].Err = r.writer(chunk[0]).Write(r.ctx, r.op, chunk[0].Change)
		return done, done[0].Err
	}
	if len(chunk) == 1 {
		done[0].Result, done[0].Err = r.send(chunk[0].plan, 1)
		return done, done[0].Err
	}
	together := &plan{op: r.op, timestamp: chunk[0].plan.timestamp, mode: FanOut, requests: group(mutationsOf(chunk))}
	if len(together.requests) == 1 {
		together.mode = SamePartition
	}
	result, err := r.send(together, len(chunk))
	if err == nil {
		for n, i := range chunk {
			p := i.plan
			done[n].Result = Result{Timestamp: p.timestamp, Mode: p.mode, Requests: len(p.requests), Groups: result.Groups, Attempts: result.Attempts}
		}
		return done, nil
	}
	var split sync.WaitGroup
	for n, i := range chunk {
		i.plan.inherit(together)
		if applied(i.plan.requests) {
			done[n].Result = Result{Timestamp: i.plan.timestamp, Mode: i.plan.mode, Requests: len(i.plan.requests), Attempts: result.Attempts}
			continue
		}
		split.Go(func() { done[n].Result, done[n].Err = r.send(i.plan, 1) })
	}
	split.Wait()
	return done, err
}

// send carries a plan out as one write.
func (r *bulkRun) send(p *plan, changes int) (Result, error) {
	ctx, call := r.w.deadline(r.ctx)
	defer call.end()
	ctx = r.w.tracer.TraceStart(ctx, session.OperationStart{Op: r.op, Changes: changes})
	if err := r.w.guard(ctx, p); err != nil {
		return r.w.unsent(ctx, r.op, p, err)
	}
	return r.w.run(ctx, p)
}

// inherit gives each request of p what is known of the one that had its rows.
func (p *plan) inherit(together *plan) {
	for n := range p.requests {
		own := &p.requests[n]
		for m := range together.requests {
			other := &together.requests[m]
			if first := other.mutations[0]; first.Keyspace == own.mutations[0].Keyspace && bytes.Equal(first.PartitionKey, own.mutations[0].PartitionKey) {
				own.outcome, own.attempts, own.err = other.outcome, other.attempts, other.err
			}
		}
	}
}

// saveLanes saves the lanes that have moved.
func (r *bulkRun) saveLanes(ctx context.Context) error {
	for name, l := range r.lanes {
		if !l.moved {
			continue
		}
		if err := r.save(ctx, name, l.upTo); err != nil {
			return fmt.Errorf("checkpoint of lane %q: %w", name, err)
		}
		l.moved = false
	}
	return nil
}

// saved ends the run if a checkpoint could not be saved.
func (r *bulkRun) saved(err error) {
	if err != nil {
		r.save = nil
		r.because(err)
		r.stop(err)
	}
}
