package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// leastGrace bounds, from below, how long a write may be resumed: also a table that keeps deletes for no time sees the
// retries of a first call.
const leastGrace = 2 * time.Minute

// Resume finishes a failed write: it sends again, with the same bytes and the same timestamp, what is not known to be
// applied. It is safe to call it for a write that was applied after all, several times, and in several processes at
// once. What became of the tables is in the result and error, as from [Writer.Write]; failed is not changed.
//
// An error that is older than half the smallest gc_grace_seconds of its tables is refused with [ErrExpired]. One that
// matches [ErrInvalid] is refused again: there is nothing to send.
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
	if err := w.fresh(ctx, failed); err != nil {
		w.tracer.writeEnd(ctx, WriteEnd{Op: failed.Op, Timestamp: failed.Timestamp, Mode: failed.Mode, Err: err})
		return Result{Timestamp: failed.Timestamp, Mode: failed.Mode}, err
	}
	return w.run(ctx, w.rest(failed))
}

var errNothingToResume = errors.New("nothing to resume: the write was refused before anything was sent")

// rest is the plan of a failed write. What is applied stays so; what is known of the rest counts on.
func (w *Writer) rest(failed *Error) *plan {
	p := &plan{op: failed.Op, timestamp: failed.Timestamp, mode: failed.Mode, strict: failed.strict}
	paths := make([]path, len(failed.paths))
	for i := range paths {
		paths[i] = failed.paths[i].fresh()
	}
	if p.mode == LoggedBatch && !p.strict && w.batchlog.down(w.clock.now()) {
		p.mode, paths = Fallback, paths[0].split()
	}
	p.phase(paths)
	return p
}

// fresh refuses a write that is too old to be sent again.
func (w *Writer) fresh(ctx context.Context, failed *Error) error {
	smallest, table := time.Duration(1<<62), ""
	for i := range failed.paths {
		for _, m := range failed.paths[i].mutations {
			t, err := w.live.table(ctx, w.policy, m.Keyspace, m.Table)
			if err != nil {
				return failed.again(err)
			}
			if t.gcGrace == 0 && failed.Mode == LoggedBatch {
				return failed.again(noGrace(m))
			}
			if t.gcGrace < smallest {
				smallest, table = t.gcGrace, m.Table
			}
		}
	}
	limit := max(smallest, leastGrace) / 2
	if age := w.clock.now().Sub(time.UnixMicro(failed.Timestamp)); age > limit {
		e := *failed
		e.expired = true
		e.refusal = fmt.Errorf("the write is %v old, and table %s keeps deletes for %v: after half of that a delete which "+
			"followed may be gone, and the write would bring its row back", age.Round(time.Second), table, smallest)
		return &e
	}
	return nil
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
