package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// leastAge is how long every write may be resumed: also a table that keeps deletes for no time sees the retries of a first
// call.
const leastAge = time.Minute

// Resume finishes a failed write: it sends again, with the same bytes and the same timestamp, what is not known to be
// applied. It is safe to call it for a write that was applied after all, several times, and in several processes at
// once. What became of the tables is in the result and error, as from [Writer.Write]; failed is not changed.
//
// An error that is older than half the smallest gc_grace_seconds of its tables, but at least a minute, is refused with
// [ErrExpired]. One that matches [ErrInvalid] is refused again: there is nothing to send.
//
// Of the writer, retry policy, consistency, timeout and tracer count; mode, timestamp and keyspaces are those of the
// write.
func (w *Writer) Resume(ctx context.Context, failed *Error) (Result, error) {
	ctx, cancel := w.deadline(ctx)
	defer cancel()
	if failed == nil {
		failed = &Error{Op: "Resume"}
	}
	ctx = w.tracer.writeStart(ctx, WriteStart{Op: failed.Op, Resume: true})
	if w.err != nil {
		return w.refused(ctx, failed.Op, w.err)
	}
	if len(failed.paths) == 0 {
		return w.refused(ctx, failed.Op, errNothingToResume)
	}
	batch, err := w.fresh(ctx, failed)
	if err != nil {
		w.tracer.writeEnd(ctx, WriteEnd{Op: failed.Op, Timestamp: failed.Timestamp, Mode: failed.Mode, Err: err})
		return Result{Timestamp: failed.Timestamp, Mode: failed.Mode}, err
	}
	return w.run(ctx, w.rest(failed, batch))
}

var errNothingToResume = errors.New("nothing to resume: the write was refused before anything was sent")

// rest is the plan of a failed write. What is applied stays so; what is known of the rest counts on. batch says whether a
// logged batch may be sent.
func (w *Writer) rest(failed *Error, batch bool) *plan {
	p := &plan{op: failed.Op, timestamp: failed.Timestamp, mode: failed.Mode, strict: failed.strict}
	paths := make([]path, len(failed.paths))
	for i := range paths {
		paths[i] = failed.paths[i].fresh()
	}
	if p.mode == LoggedBatch && !p.strict && (!batch || w.batchlog.down(w.clock.now())) {
		p.mode, paths = Fallback, paths[0].split()
	}
	p.phase(paths)
	return p
}

// fresh refuses a write that is too old to be sent again. batch is whether its tables still allow a logged batch; a
// strict one is refused if they do not.
func (w *Writer) fresh(ctx context.Context, failed *Error) (batch bool, err error) {
	smallest, table := time.Duration(1<<62), ""
	batch = true
	for i := range failed.paths {
		for _, m := range failed.paths[i].mutations {
			t, err := w.live.table(ctx, &w.retrier, m.Keyspace, m.Table)
			if err != nil {
				return false, failed.again(err)
			}
			if t.gcGrace == 0 {
				batch = false
				if failed.Mode == LoggedBatch && failed.strict {
					return false, failed.again(noGrace(m))
				}
			}
			if t.gcGrace < smallest {
				smallest, table = t.gcGrace, m.Table
			}
		}
	}
	limit := max(smallest/2, leastAge)
	if age := w.clock.now().Sub(time.UnixMicro(failed.Timestamp)); age > limit {
		e := *failed
		e.expired = true
		e.refusal = fmt.Errorf("the write is %v old, and may be resumed for %v, as table %s keeps deletes for %v: after half of "+
			"that a delete which followed may be gone, and the write would bring its row back", age.Round(time.Second), limit,
			table, smallest)
		return false, &e
	}
	return batch, nil
}

// again is the error with cause as the reason why its open paths are still open.
func (e *Error) again(cause error) *Error {
	next := *e
	next.paths = slices.Clone(e.paths)
	for i := range next.paths {
		if next.paths[i].outcome != Applied {
			next.paths[i].err = cause
		}
	}
	next.Tables = tableResults(next.paths)
	return &next
}
