// Package bulk writes many changes, such as an import, or what a consumer of a queue has polled. It writes them in
// order by entity, rows that share a partition in one request, and no faster than the nodes answer.
//
// If several items wait, rows of one set that share a partition are written in one request, each at its own timestamp.
// A request has up to 64 items and 32 KiB. If such a request fails, each item is written alone, and gets a result of
// its own. A tracer sees each request for several items as one write.
//
// The number of writes in flight follows the nodes. It rises while they answer as fast as at the beginning, and falls
// after a timeout, after OVERLOADED and while they are slow. The source is read ahead by at most four items for each
// write that may be in flight. The bound of rows is 64 MiB plus 16 items.
//
// When a run ends early, items that have not begun get an error that says so. What the source yields at that moment may
// be lost, so continue after the last Position that was given back. The run does not wait for its source to return. End
// the source, and do not share what it reads from with the next run. docs/bulk.md has examples.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Item is one change of a [WriteAll].
type Item struct {
	Change tables.Change
	// At is the timestamp of the change in microseconds since the Unix epoch, as for the option [writer.At]. If it is 0,
	// the writer's clock gives the timestamps, in the order of the items.
	At int64
	// Position and Lane say where the item was read, for [Checkpoint]. An example is the offset in a partition of a
	// topic, and the number of that partition. Positions rise within a lane. Without Checkpoint they are returned in
	// [Done] and have no meaning.
	Position int64
	Lane     string
}

// Done is an item with the result and error of its write, as from [writer.Writer.Write].
type Done struct {
	Item
	Result writer.Result
	Err    error
}

// Option is an option of [WriteAll].
type Option func(*Run)

// InFlight sets the largest number of writes in flight. A write may be of several items. Default: 256, which is also
// the maximum. A run begins with 4, and keeps fewer than n in flight while the nodes are slow or reject requests.
func InFlight(n int) Option {
	return func(r *Run) {
		if n < 1 || n > mostInFlight {
			r.reject(fmt.Errorf("InFlight: %d is not from 1 to %d", n, mostInFlight))
		}
		r.inFlight = n
	}
}

const mostInFlight = 256

// Checkpoint makes the run call save with the position in a lane up to which all items are acknowledged. The calls come
// from the loop over [Run.All], about once a second for each lane that has moved on. The last ones come at the end, for
// up to 10 s, even if the run is canceled. An error of save ends the run. A failed item stops the checkpoints of its
// lane. A later run writes some items again: without Versioned or Compare, [Item.At] is required, and must rise per
// entity. Counters are rejected.
func Checkpoint(save func(ctx context.Context, lane string, position int64) error) Option {
	return func(r *Run) {
		if save == nil {
			r.reject(errors.New("Checkpoint: the function is nil"))
		}
		r.save = save
	}
}

// Run is a run of [WriteAll]. It is for one goroutine.
type Run struct {
	w        *writer.Writer
	writer   planned.Writer[writer.Result] // the same, as it is inside
	op       string
	source   iter.Seq2[Item, error]
	inFlight int
	save     func(context.Context, string, int64) error

	ctx     context.Context //nolint:containedctx // lives as long as the run
	invalid error           // of the call
	ranged  bool
	ended   bool
	counts  Error
}

// WriteAll writes all changes of a source, many at a time. op names each write, as in [writer.Writer.Write]. The run
// begins with the loop over [Run.All], which yields every item with its result: docs/bulk.md has an example. Mode,
// timeout, retries and tracing are the writer's.
//
// Changes of one entity are written, and yielded, in the order of the source. Once one has failed, the later ones are
// [ErrParked]. The same holds for changes of two entities that take or give up one Unique key. Other entities are
// written concurrently, in any order. The run ends early after 10,000 entities have failed, or 64 MiB of their rows.
//
// The source is called in a goroutine of its own and should end when ctx does. It is read ahead by at most four items
// for each write that may be in flight, and 64 MiB of rows. What an item's rows point to must not change until the item
// is given back: make new slices and maps for each. An error of the source ends the run once all before it is done.
func WriteAll(ctx context.Context, w *writer.Writer, op string, source iter.Seq2[Item, error], options ...Option) *Run {
	r := &Run{w: w, writer: w.Internal(), op: op, source: source, inFlight: mostInFlight, ctx: ctx}
	for _, o := range options {
		if o == nil {
			r.reject(errors.New("an option is nil"))
			continue
		}
		o(r)
	}
	if source == nil {
		r.reject(errors.New("the source is nil"))
	}
	r.reject(r.writer.Fault(ctx, op))
	return r
}

func (r *Run) reject(err error) { r.invalid = errors.Join(r.invalid, err) }

// All carries out the run and yields each item that was read exactly once, in order of completion. If the loop is left
// early, the run ends when the writes in flight are done; their items are not yielded. A second loop yields nothing. If
// the source panics, the loop panics with the same value, after the items that were read, unless the run has ended
// before.
func (r *Run) All() iter.Seq[Done] {
	return func(yield func(Done) bool) {
		if r.ranged || r.invalid != nil {
			return
		}
		r.ranged = true
		l := newLoop(r, yield)
		l.run()
		if r.ended = true; l.panicked != nil {
			panic(l.panicked)
		}
	}
}

// Err is nil if every item was read and acknowledged. If the call was not valid, and nothing was read, it is a
// [*writer.Error] that matches [writer.ErrInvalid]; otherwise it is an [*Error]. Call Err when the loop over [Run.All]
// has ended.
func (r *Run) Err() error {
	switch {
	case r.invalid != nil:
		return r.writer.Reject(r.op, r.invalid)
	case !r.ended:
		return r.writer.Reject(r.op, errors.New("the run has not ended: range over All first"))
	case r.counts.Cause != nil:
		return &r.counts
	}
	return nil
}

// saveEvery is the time between two checkpoints of a lane, saveEnd that for the last.
const (
	saveEvery = time.Second
	saveEnd   = 10 * time.Second
)
