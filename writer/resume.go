package writer

import (
	"context"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/retry"
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
	if len(failed.legs) == 0 {
		return w.refused(ctx, failed.Op, errNothingToResume)
	}
	if err := w.fresh(ctx, failed); err != nil {
		w.tracer.writeEnd(ctx, WriteEnd{Op: failed.Op, Timestamp: failed.Timestamp, Mode: failed.Mode, Err: err})
		return Result{Timestamp: failed.Timestamp, Mode: failed.Mode}, err
	}
	p, done, before := w.rest(failed)
	return w.run(ctx, p, done, before...)
}

// rest is the plan of what is not known to be applied, with what is known of its paths.
func (w *Writer) rest(failed *Error) (p *plan, done, before []leg) {
	p = &plan{op: failed.Op, timestamp: failed.Timestamp, mode: failed.Mode, strict: failed.strict}
	var paths []path
	for _, l := range failed.legs {
		l.sent = l.attempts > 0 || l.outcome != NotApplied
		if l.outcome == Applied {
			done = append(done, l)
			continue
		}
		kind := retry.Partition
		if failed.Mode == LoggedBatch {
			kind = retry.LoggedBatch
			p.partition = group(l.mutations)
		}
		paths, before = append(paths, path{kind: kind, mutations: l.mutations}), append(before, l)
	}
	p.phases = [][]path{paths}
	if len(paths) == 0 {
		p.phases = nil
	}
	return p, done, before
}

// fresh refuses a write that is too old to be sent again.
func (w *Writer) fresh(ctx context.Context, failed *Error) error {
	smallest, table := time.Duration(1<<62), ""
	for _, l := range failed.legs {
		for _, m := range l.mutations {
			t, err := w.live.table(ctx, m.Keyspace, m.Table)
			if err != nil {
				return failed.again(err)
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
	next.legs = append([]leg(nil), e.legs...)
	for i := range next.legs {
		if next.legs[i].outcome != Applied {
			next.legs[i].err = cause
		}
	}
	next.Tables = tableResults(next.legs)
	return &next
}
