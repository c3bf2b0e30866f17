package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/pace"
	"github.com/denorm-go/denorm/tables"
)

// bulkRun is the loop of a run: everything in it belongs to one goroutine, except what write does.
type bulkRun struct {
	*Bulk
	yield  func(Done) bool
	queue  *bulkQueue
	lanes  map[string]*lane
	pace   *pace.Pace
	pinned *Writer // with a timestamp, for plans
	first  error   // of an item

	items    chan pulled
	finished chan chunkDone
	under    int   // writes in flight
	panicked any   // what the source has panicked with
	ending   error // of items that have not begun: nothing is read or begun any more
	left     bool  // nor given

	strained atomic.Bool // a request said that a node has too much to do, and was sent again: not yet reported to the pace
}

type pulled struct {
	item     Item
	err      error
	panicked any // what the source has panicked with
}

type chunkDone struct {
	chunk []*bulkItem
	took  time.Duration
	err   error // reported to the pace
}

// What is read ahead.
const (
	aheadItems   = 4 // for each write that may be in flight
	aheadBytes   = 64 << 20
	aheadUnsized = 16 // between the goroutines, so that these need not meet for each item; what their rows take is not known yet
)

// slack is how many times longer than at the beginning the median write may take: busy nodes answer that much later, and an import keeps
// them busy. It is the median because a pause of a node, in which the slowest twentieth takes 100 ms, says nothing about how busy the node is.
const slack = 16

// sizes are the kinds of writes that the pace distinguishes: of 1 item, of 2 or 3, of 4 to 7 and so on.
const sizes = 7

func newBulkRun(b *Bulk, yield func(Done) bool) *bulkRun {
	return &bulkRun{
		Bulk: b, yield: yield, queue: newBulkQueue(), lanes: make(map[string]*lane), pinned: b.w.With(At(earliest)),
		pace:  pace.New(pace.Config{First: 4, Most: b.inFlight, Kinds: sizes, Slack: slack, Percentile: 50, Growth: 0.1, Doubles: true}),
		items: make(chan pulled, min(aheadUnsized, b.inFlight)), finished: make(chan chunkDone, b.inFlight),
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
		r.takeWhatHasCome(items)
		r.begin()
		if r.under == 0 && (r.ending != nil || items == nil && r.queue.items == 0) {
			break
		}
		from := items
		if !r.room() {
			from = nil
		}
		select {
		case p, ok := <-from:
			if ok {
				r.accept(p)
				continue
			}
			items = nil
			if r.ctx.Err() != nil { // it may have ended for that, before its end
				canceled = nil
				r.stop(r.ctx.Err())
			}
		case c := <-r.finished:
			r.complete(c)
		case <-saves:
			if r.save == nil || r.ctx.Err() != nil {
				continue
			}
			if err := r.saveLanes(r.ctx); r.ctx.Err() == nil { // else the last one is tried again
				r.saved(err)
			}
		case <-canceled:
			canceled = nil
			r.stop(r.ctx.Err())
		}
	}
	for _, i := range r.queue.rest() { // now, so that they come after all others of their entities
		r.giveUnwritten(i, fanout.ErrUnbegun, r.ending)
	}
	cancel()
	r.giveUnread()
	if r.save != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), saveEnd)
		defer cancel()
		r.saved(r.saveLanes(ctx))
	}
	r.counts.Cause = errors.Join(r.first, r.counts.Cause)
}

// room says whether items are read.
func (r *bulkRun) room() bool {
	return r.ending == nil && r.queue.items < aheadItems*r.inFlight-cap(r.items) && r.queue.held < aheadBytes
}

// takeWhatHasCome avoids a select, which costs more than the rest of the loop.
func (r *bulkRun) takeWhatHasCome(items <-chan pulled) {
	for len(r.finished) > 0 {
		r.complete(<-r.finished)
	}
	for len(items) > 0 && r.room() {
		r.accept(<-items)
	}
}

// pull reads the source until it ends, has an error, or the run does not go on.
func (r *bulkRun) pull(ctx context.Context) {
	defer close(r.items)
	returned := false
	defer func() {
		if returned {
			return
		}
		select { // else what was read so far would be taken for the whole source
		case r.items <- pulled{err: errNotReturned, panicked: recover()}:
		case <-ctx.Done():
		}
	}()
	r.readSource(ctx)
	returned = true
}

func (r *bulkRun) readSource(ctx context.Context) {
	for item, err := range r.source {
		if ctx.Err() != nil {
			return
		}
		select {
		case r.items <- pulled{item: item, err: err}:
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

func (r *bulkRun) sourceFailed(p pulled) {
	r.panicked = p.panicked
	r.because(fmt.Errorf("the source: %w", p.err))
}

// stop begins nothing more.
func (r *bulkRun) stop(err error) {
	r.because(err)
	r.ending = cmp.Or(r.ending, err)
}

// giveUnread hands back what was read and not looked at when the run ended early.
func (r *bulkRun) giveUnread() {
	for {
		select {
		case p, ok := <-r.items:
			if !ok {
				return
			}
			if p.err != nil {
				r.sourceFailed(p)
				return
			}
			r.giveUnwritten(&bulkItem{Done: Done{Item: p.item}}, fanout.ErrUnbegun, r.ending)
		default:
			return
		}
	}
}

// giveUnwritten hands back an item of which nothing was sent.
func (r *bulkRun) giveUnwritten(i *bulkItem, why, cause error) {
	if errors.Is(why, ErrParked) {
		r.counts.Parked++
	} else {
		r.counts.NotBegun++
	}
	i.Err = &unwrittenError{why: why, cause: cause}
	r.hand(i)
}

// give hands an item back that was written, or has an error of its own.
func (r *bulkRun) give(i *bulkItem) {
	if i.Err == nil {
		r.counts.Written++
	} else {
		r.counts.Failed++
		if r.first == nil && r.ending == nil {
			r.first = i.Err
		}
	}
	r.hand(i)
}

func (r *bulkRun) hand(i *bulkItem) {
	if i.lane != nil {
		i.lane.end(i.mark, i.Err)
	}
	if !r.left && !r.yield(i.Done) {
		r.left = true
		r.stop(errLeft)
	}
}

// accept takes in what was read.
func (r *bulkRun) accept(p pulled) {
	if p.err != nil {
		r.sourceFailed(p) // nothing comes after it
		return
	}
	i := &bulkItem{Done: Done{Item: p.item}}
	if i.Err = r.prepare(i); i.Err != nil {
		r.queue.order.remember(i, i.Err)
		r.give(i)
	} else if cause := r.queue.add(i); cause != nil {
		r.giveUnwritten(i, ErrParked, cause)
	} else {
		return
	}
	r.bound()
}

// bound ends a run of which too many entities have failed.
func (r *bulkRun) bound() {
	if r.ending == nil && r.queue.order.full() {
		r.stop(errManyFailed)
	}
}

// prepare makes the plan of an item, unless it is to be written alone, and finds what it comes after.
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
			i.orderBy(i.keyOfChange())
			return reject(r.op, err)
		}
	}
	p, err := r.plan(i)
	if err != nil {
		i.orderBy(i.keyOfChange())
		return reject(r.op, err)
	}
	i.orderBy(p.key)
	i.measure(p)
	if p.deciding != nil {
		i.order = append(i.order, uniqueKeys(p.decision.Parts[0])...)
		return nil
	}
	i.plan = p // at its timestamp: one that was made later would be above that of the entity's next change
	return nil
}

// keyOfChange is the key of the entity of a change for which there is no plan, empty if it has none.
func (i *bulkItem) keyOfChange() string {
	if c := i.Change.Internal(); c.Valid() {
		return c.Key()
	}
	return ""
}

func (i *bulkItem) orderBy(key string) {
	if key != "" {
		i.own[0] = orderKey{table: i.Change.Entity(), key: key}
		i.order = i.own[:]
	}
}

// uniqueKeys are the keys of Unique tables that a change takes or gives up.
func uniqueKeys(c *entity.Conditional) (keys []orderKey) {
	for _, claims := range [][]*entity.Claim{c.Claims, c.Releases} {
		for _, k := range claims {
			keys = append(keys, orderKey{k.Keyspace, k.Table, k.Key()})
		}
	}
	return keys
}

func (r *bulkRun) plan(i *bulkItem) (*plan, error) {
	if c := i.Change.Internal(); c.Valid() && r.save != nil {
		switch {
		case i.Change.Kind() == tables.Add:
			return nil, errors.New("counters with Checkpoint: a run that begins again would count them again")
		case i.At == 0 && !c.Conditional():
			return nil, errors.New("an item without At, with Checkpoint: a run that begins again needs the timestamps that it had")
		}
	}
	w := r.w
	switch {
	case i.At == 0:
	case i.At < earliest || i.At/1000 >= earliest:
		w = r.w.With(At(i.At)) // which says what is wrong with it
	default:
		w = r.pinned // not derived for each item, which costs as much as the plan
		w.at = i.At
	}
	return w.plan(r.op, []tables.Change{i.Change}, 0)
}

// begin starts writes while there is room.
func (r *bulkRun) begin() {
	for r.ending == nil && r.queue.waits() && r.pace.TryAcquire() {
		chunk := r.queue.take()
		r.under++
		go func() {
			start := time.Now()
			err := r.write(chunk)
			r.finished <- chunkDone{chunk, time.Since(start), err}
		}()
	}
}

// complete ends the items of a write.
func (r *bulkRun) complete(c chunkDone) {
	r.under--
	if r.strained.Swap(false) && c.err == nil {
		c.err = context.DeadlineExceeded // for the pace alone
	}
	r.pace.Release(min(bits.Len(uint(len(c.chunk)))-1, sizes-1), c.took, c.err)
	for _, i := range c.chunk {
		parked := r.queue.done(i)
		r.give(i)
		for _, p := range parked {
			r.giveUnwritten(p, ErrParked, i.Err)
		}
	}
	r.bound()
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
		r.ending = cmp.Or(r.ending, errors.New(err.Error())) // not wrapped: an *Error in it would be taken for that of an item
	}
}
