package bulk

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
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/tables"
)

// loop is the loop of a run: everything in it belongs to one goroutine, except what write does.
type loop struct {
	*Run
	yield func(Done) bool
	queue *queue
	lanes map[string]*lane
	pace  *pace.Pace
	first error // of an item

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
	chunk []*entry
	took  time.Duration
	err   error // reported to the pace
}

// What is read ahead.
const (
	aheadItems   = 4 // for each write that may be in flight
	aheadBytes   = 64 << 20
	aheadUnsized = 16 // between the goroutines, which so need not meet for each item; their sizes are not known yet
)

// slack is how many times longer than at the beginning the median write may take: busy nodes answer that much later,
// and an import keeps them busy. It is the median because a pause of a node, in which the slowest twentieth takes 100
// ms, says nothing about how busy the node is.
const slack = 16

// sizes are the kinds of writes that the pace distinguishes: of 1 item, of 2 or 3, of 4 to 7 and so on.
const sizes = 7

func newLoop(r *Run, yield func(Done) bool) *loop {
	return &loop{
		Run: r, yield: yield, queue: newQueue(), lanes: make(map[string]*lane),
		pace: pace.New(pace.Config{
			First: 4, Most: r.inFlight, Kinds: sizes, Slack: slack, Percentile: 50, Growth: 0.1,
			Doubles: true,
		}),
		items: make(chan pulled, min(aheadUnsized, r.inFlight)), finished: make(chan chunkDone, r.inFlight),
	}
}

func (l *loop) run() {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	go l.pull(ctx)
	var saves <-chan time.Time
	if l.save != nil {
		ticker := time.NewTicker(saveEvery)
		defer ticker.Stop()
		saves = ticker.C
	}
	canceled, items := l.ctx.Done(), l.items
	for {
		l.takeWhatHasCome(items)
		l.begin()
		if l.under == 0 && (l.ending != nil || items == nil && l.queue.items == 0) {
			break
		}
		from := items
		if !l.room() {
			from = nil
		}
		select {
		case p, ok := <-from:
			if ok {
				l.accept(p)
				continue
			}
			items = nil
			if l.ctx.Err() != nil { // it may have ended for that, before its end
				canceled = nil
				l.stop(l.ctx.Err())
			}
		case c := <-l.finished:
			l.complete(c)
		case <-saves:
			if l.save == nil || l.ctx.Err() != nil {
				continue
			}
			if err := l.saveLanes(l.ctx); l.ctx.Err() == nil { // else the last one is tried again
				l.saved(err)
			}
		case <-canceled:
			canceled = nil
			l.stop(l.ctx.Err())
		}
	}
	for _, e := range l.queue.rest() { // now, so that they come after all others of their entities
		l.giveUnwritten(e, fanout.ErrUnbegun, l.ending)
	}
	cancel()
	l.giveUnread()
	if l.save != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), saveEnd)
		defer cancel()
		l.saved(l.saveLanes(ctx))
	}
	l.counts.Cause = errors.Join(l.first, l.counts.Cause)
}

// room says whether items are read.
func (l *loop) room() bool {
	return l.ending == nil && l.queue.items < aheadItems*l.inFlight-cap(l.items) && l.queue.held < aheadBytes
}

// takeWhatHasCome avoids a select, which costs more than the rest of the loop.
func (l *loop) takeWhatHasCome(items <-chan pulled) {
	for len(l.finished) > 0 {
		l.complete(<-l.finished)
	}
	for len(items) > 0 && l.room() {
		l.accept(<-items)
	}
}

// pull reads the source until it ends, has an error, or the run does not go on.
func (l *loop) pull(ctx context.Context) {
	defer close(l.items)
	returned := false
	defer func() {
		if returned {
			return
		}
		select { // else what was read so far would be taken for the whole source
		case l.items <- pulled{err: errNotReturned, panicked: recover()}:
		case <-ctx.Done():
		}
	}()
	l.readSource(ctx)
	returned = true
}

func (l *loop) readSource(ctx context.Context) {
	for item, err := range l.source {
		if ctx.Err() != nil {
			return
		}
		select {
		case l.items <- pulled{item: item, err: err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// because notes why the run ends early.
func (l *loop) because(err error) { l.counts.Cause = errors.Join(l.counts.Cause, err) }

func (l *loop) sourceFailed(p pulled) {
	l.panicked = p.panicked
	l.because(fmt.Errorf("the source: %w", p.err))
}

// stop begins nothing more.
func (l *loop) stop(err error) {
	l.because(err)
	l.ending = cmp.Or(l.ending, err)
}

// giveUnread hands back what was read and not looked at when the run ended early.
func (l *loop) giveUnread() {
	for {
		select {
		case p, ok := <-l.items:
			if !ok {
				return
			}
			if p.err != nil {
				l.sourceFailed(p)
				return
			}
			l.giveUnwritten(&entry{Done: Done{Item: p.item}}, fanout.ErrUnbegun, l.ending)
		default:
			return
		}
	}
}

// giveUnwritten hands back an item of which nothing was sent.
func (l *loop) giveUnwritten(e *entry, why, cause error) {
	if errors.Is(why, ErrParked) {
		l.counts.Parked++
	} else {
		l.counts.NotBegun++
	}
	e.Err = &unwrittenError{why: why, cause: cause}
	l.hand(e)
}

// give hands an item back that was written, or has an error of its own.
func (l *loop) give(e *entry) {
	if e.Err == nil {
		l.counts.Written++
	} else {
		l.counts.Failed++
		if l.first == nil && l.ending == nil {
			l.first = e.Err
		}
	}
	l.hand(e)
}

func (l *loop) hand(e *entry) {
	if e.lane != nil {
		e.lane.end(e.mark, e.Err)
	}
	if !l.left && !l.yield(e.Done) {
		l.left = true
		l.stop(errLeft)
	}
}

// accept takes in what was read.
func (l *loop) accept(p pulled) {
	if p.err != nil {
		l.sourceFailed(p) // nothing comes after it
		return
	}
	e := &entry{Done: Done{Item: p.item}}
	if e.Err = l.prepare(e); e.Err != nil {
		l.queue.order.remember(e, e.Err)
		l.give(e)
	} else if cause := l.queue.add(e); cause != nil {
		l.giveUnwritten(e, ErrParked, cause)
	} else {
		return
	}
	l.bound()
}

// bound ends a run of which too many entities have failed.
func (l *loop) bound() {
	if l.ending == nil && l.queue.order.full() {
		l.stop(errManyFailed)
	}
}

// prepare makes the plan of an item, unless it is to be written alone, and finds what it comes after.
func (l *loop) prepare(e *entry) error {
	if l.save != nil {
		into, ok := l.lanes[e.Lane]
		if !ok {
			into = &lane{name: e.Lane}
			l.lanes[e.Lane] = into
		}
		m, err := into.read(e.Position)
		e.lane, e.mark = into, m
		if err != nil {
			e.orderBy(e.keyOfChange())
			return l.writer.Reject(l.op, err)
		}
	}
	p, err := l.plan(e)
	if err != nil {
		e.orderBy(e.keyOfChange())
		return l.writer.Reject(l.op, err)
	}
	e.orderBy(p.Key)
	e.measure(p)
	if p.Decision != nil {
		e.order = append(e.order, uniqueKeys(p.Decision.Parts[0])...)
		return nil
	}
	e.plan = p // at its timestamp: one that was made later would be above that of the entity's next change
	return nil
}

// keyOfChange is the key of the entity of a change for which there is no plan, empty if it has none.
func (e *entry) keyOfChange() string {
	if c := e.Change.Internal(); c.Valid() {
		return c.Key()
	}
	return ""
}

func (e *entry) orderBy(key string) {
	if key != "" {
		e.own[0] = orderKey{table: e.Change.Entity(), key: key}
		e.order = e.own[:]
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

func (l *loop) plan(e *entry) (planned.Write, error) {
	if c := e.Change.Internal(); c.Valid() && l.save != nil {
		switch {
		case e.Change.Kind() == tables.Add:
			return planned.Write{}, errors.New("counters with Checkpoint: a run that begins again would count them again")
		case e.At == 0 && !c.Conditional():
			return planned.Write{}, errors.New(
				"an item without At, with Checkpoint: a run that begins again needs the timestamps that it had")
		}
	}
	return l.writer.Plan(l.op, e.Change, e.At)
}

// begin starts writes while there is room.
func (l *loop) begin() {
	for l.ending == nil && l.queue.waits() && l.pace.TryAcquire() {
		chunk := l.queue.take()
		l.under++
		go func() {
			start := time.Now()
			err := l.write(chunk)
			l.finished <- chunkDone{chunk, time.Since(start), err}
		}()
	}
}

// complete ends the items of a write.
func (l *loop) complete(c chunkDone) {
	l.under--
	if l.strained.Swap(false) && c.err == nil {
		c.err = context.DeadlineExceeded // for the pace alone
	}
	l.pace.Release(min(bits.Len(uint(len(c.chunk)))-1, sizes-1), c.took, c.err)
	for _, e := range c.chunk {
		parked := l.queue.done(e)
		l.give(e)
		for _, p := range parked {
			l.giveUnwritten(p, ErrParked, e.Err)
		}
	}
	l.bound()
}

// saveLanes saves the lanes that have moved.
func (l *loop) saveLanes(ctx context.Context) error {
	for name, one := range l.lanes {
		if !one.moved {
			continue
		}
		if err := l.save(ctx, name, one.upTo); err != nil {
			return fmt.Errorf("checkpoint of lane %q: %w", name, err)
		}
		one.moved = false
	}
	return nil
}

// saved ends the run if a checkpoint could not be saved.
func (l *loop) saved(err error) {
	if err != nil {
		l.save = nil
		l.because(err)
		// not wrapped: an *Error in it would be taken for that of an item
		l.ending = cmp.Or(l.ending, errors.New(err.Error()))
	}
}
