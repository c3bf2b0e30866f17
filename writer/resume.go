package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// leastAge is how long every write may be resumed: also a table that keeps deletes for no time sees the retries of a
// first call.
const leastAge = time.Minute

// What is known of gc_grace_seconds where the schema does not tell: it is a CQL int, and 10 days by default.
const (
	maxGrace     = math.MaxInt32 * time.Second
	defaultGrace = 10 * 24 * time.Hour
)

// resumeWidth is how many requests of one Resume are under way together. A stored error may have 100,000, and others
// may have written it.
const resumeWidth = 256

// Resume finishes a failed write: it sends again what is not known to be applied, with the bytes, timestamp, mode and
// keyspaces of the write. Level, timeout, retries and tracer are the writer's. Resume may run late, several times, and
// in several processes at once, with two exceptions. With [tables.Compare] the change applies twice if the compared
// columns have their former values again, and a repeated insert undoes a delete. With [tables.SingleWriter] nobody may
// change the entity before Resume ends. At most 256 requests are in flight at the same time.
//
// The result and error are as from [Writer.Write]. No table becomes NotApplied, because the error may have been resumed
// elsewhere. The exception is [ErrConflict] where the row of a Versioned set shows that another change won. Counters
// are never sent again, so resume until [Error.Resumable] is false, not until nil.
//
// The error matches [ErrExpired] if the write is too old, and [ErrInvalid] if this writer may not send it. In both
// cases nothing was sent. The package documentation says what to do with an error that stays Resumable.
func (w *Writer) Resume(ctx context.Context, failed *Error) (Result, error) {
	w = w.made()
	nothing := errNoError
	if failed == nil {
		failed = &Error{Op: "Resume"}
	} else {
		nothing = failed.nothing()
	}
	if ctx == nil {
		if nothing != nil {
			return Result{}, reject(failed.Op, fmt.Errorf("%w; %w", errNoContext, nothing))
		}
		return Result{Timestamp: failed.Timestamp, Mode: failed.Mode}, w.keep(failed.doubted(), errNoContext)
	}
	ctx, call := fanout.Deadline(ctx, w.timeout)
	defer call.End()
	if nothing != nil {
		ctx = w.tracer.TraceStart(ctx, session.OperationStart{Op: failed.Op, Resume: true})
		if w.err != nil {
			nothing = fmt.Errorf("%w; %w", w.err, nothing)
		}
		return w.refused(ctx, failed.Op, nothing)
	}
	failed = failed.doubted()
	op, err := failed.Op, w.rejected(failed)
	if err != nil && failed.stored {
		op = "Resume" // others may have written its own, one for each error
	}
	ctx = w.tracer.TraceStart(ctx, session.OperationStart{Op: op, Resume: true, Link: failed.link})
	batch := false
	if err == nil {
		batch, err = w.fresh(ctx, failed)
	}
	if err != nil {
		end := session.OperationEnd{Op: op, Timestamp: failed.Timestamp, Mode: failed.Mode.String(), Err: err}
		w.tracer.TraceEnd(ctx, end)
		return Result{Timestamp: failed.Timestamp, Mode: failed.Mode}, err
	}
	return w.run(ctx, w.rest(failed, batch))
}

var (
	errNothingToResume = errors.New("nothing to resume: nothing of the write was sent")
	errNoError         = errors.New(
		"the error is nil: errors.As found no *writer.Error in what the write returned: wrap errors with %w")
	errNotDecoded = errors.New(
		"the error is empty, as where UnmarshalBinary has failed: look at what that returned, and keep the bytes")
)

// rest is the plan of a failed write. What is applied stays so; what is known of the rest counts on. batch says whether
// a logged batch may be sent.
func (w *Writer) rest(failed *Error, batch bool) *plan {
	p := &plan{
		Write: fanout.Write{Op: failed.Op, Strict: failed.strict, Width: resumeWidth}, timestamp: failed.Timestamp,
		mode: failed.Mode, link: failed.link,
	}
	if failed.decision != nil {
		p.deciding = &deciding{decided: failed.decided}
		p.known.Sent = 0
	}
	if p.mode == LoggedBatch && !p.Strict && (!batch || w.batchlog.down(w.clock.now())) {
		p.mode = Fallback
	}
	for i := range failed.requests {
		next := failed.requests[i].Again()
		switch {
		case next.Kind == retry.Counter:
			p.Counters = append(p.Counters, next)
		case p.mode == Fallback && next.Kind == retry.LoggedBatch:
			p.Requests = append(p.Requests, next.Split()...)
		default:
			p.Requests = append(p.Requests, next)
		}
	}
	return p
}

// rejected is why nothing of a write may be sent again, whatever its age, or nil.
func (w *Writer) rejected(failed *Error) error {
	if err := w.admit(failed); err != nil {
		return w.keep(failed, err)
	}
	if failed.Is(ErrConflict) {
		return failed.refused(fmt.Errorf(
			"the write was answered by a conflict, so it is never sent again: read the row, and decide again: %w",
			cmp.Or(failed.known.Err, decide.ErrChanged)))
	}
	if failed.ended() {
		e := *failed
		e.stored = false // whoever wrote it, nothing of it is sent
		return &e
	}
	if failed.OnlyCounters() {
		return failed.counted()
	}
	return nil
}

// counted is the error of a Resume that has only counters before it.
func (e *Error) counted() *Error {
	var left []string
	for _, r := range e.Tables {
		if r.Counter && r.Outcome != Applied {
			left = append(left, fmt.Sprintf("%s (%v)", r.Table, r.Outcome))
		}
	}
	return e.refused(fmt.Errorf("nothing may be resumed: what is left are counters, and counters are never sent again: %s",
		strings.Join(left, ", ")))
}

// fresh rejects a write that is too old to be sent again. batch is whether its tables still allow a logged batch; a
// strict one is rejected if they do not.
func (w *Writer) fresh(ctx context.Context, failed *Error) (batch bool, err error) {
	d := failed.decision
	if d != nil && d.Lasting {
		return false, nil // its rows tell it from a new one however old it is, as rows of deleted entities stay
	}
	smallest, kept := maxGrace, "tables keep deletes at most for"
	read := func(keyspace, table string) (liveTable, error) {
		t, err := w.live.table(ctx, &w.sender.Retrier, keyspace, table)
		text := "table " + table + " keeps deletes for"
		switch {
		case errors.Is(err, errNoTable):
			t.gcGrace, text = defaultGrace, "the cluster has no table "+table+", and others keep deletes by default for"
		case err != nil:
			t.gcGrace = maxGrace
		}
		if t.gcGrace < smallest {
			smallest, kept = t.gcGrace, text
		}
		return t, err
	}
	var open error // why nothing can be sent, as long as the write is not too old
	undecided := failed.undecided()
	if undecided && !d.Versions { // nothing in the row tells an old change from a new one
		_, open = read(d.First().Keyspace, d.First().Table)
	}
	batch = true
	for i := 0; open == nil && i < len(failed.requests); i++ {
		if failed.requests[i].Kind == retry.Counter {
			continue
		}
		mutations := slices.Clone(failed.requests[i].Mutations)
		failed.requests[i].Mutations = mutations
		for n, m := range mutations {
			t, err := read(m.Keyspace, m.Table)
			if err == nil && t.gcGrace == 0 {
				batch = false
				if failed.Mode == LoggedBatch && failed.strict {
					err = noGrace(m, true) // it stays a logged batch
				}
			}
			if err != nil {
				open = err
				break
			}
			if t.ttl != 0 {
				again := *m
				again.EndAs(statement.Written{Ends: (m.Timestamp/1_000_000 + int64(t.ttl/time.Second)) * 1000})
				mutations[n] = &again
			}
		}
	}
	if undecided && d.Versions && open == nil {
		for _, p := range decide.PlacesOf(d.Parts[0]) {
			// the version tells an old change from a new one, where there is a table
			if _, err := w.live.table(ctx, &w.sender.Retrier, p.Keyspace, p.Table); errors.Is(err, errNoTable) {
				_, open = read(p.Keyspace, p.Table)
				break
			}
		}
	}
	limit := max(smallest/2, leastAge)
	if undecided && d.Inserts() && limit > oldestInsert {
		limit, smallest, kept = oldestInsert, entity.FenceTTL, "table "+d.First().Table+" keeps deletes for"
	}
	if age := w.clock.now().Sub(time.UnixMicro(failed.Timestamp)); age > limit {
		e := failed.refused(fmt.Errorf(
			"the write is %v old, and may be resumed for %v, as %s %v: read the entity, and write it again",
			age.Round(time.Second), limit, kept, smallest))
		e.expired = true
		return false, e
	}
	if open != nil {
		return false, failed.again(open)
	}
	return batch, nil
}

// refused is the error of a Resume that sends nothing.
func (e *Error) refused(why error) *Error {
	next := *e
	next.refusal = why
	return &next
}

// keep is the error of a Resume that this writer rejects. Another one may do it, or this one when it is made right, so
// the write stays Resumable for as long as it could be resumed if its tables had Cassandra's default of
// gc_grace_seconds.
func (w *Writer) keep(failed *Error, cause error) *Error {
	e := failed.refused(cause)
	e.expired = false
	var nobody *nobodyError
	endless := e.decision != nil && e.decision.Lasting
	e.kept = !errors.As(cause, &nobody) &&
		(endless || w.clock.now().Sub(time.UnixMicro(e.Timestamp)).Abs() <= defaultGrace/2)
	return e
}

// nobodyError is why no writer resumes a stored error.
type nobodyError struct{ error }

// doubted is the error of a write that may have been resumed before: nothing of it is known to be not applied, counters
// excepted, which no Resume sends.
func (e *Error) doubted() *Error {
	next := *e
	if next.kept { // what another writer, or call, was rejected for
		next.refusal, next.kept = nil, false
	}
	if next.ended() {
		return &next
	}
	next.requests = slices.Clone(e.requests)
	for i := range next.requests {
		if p := &next.requests[i]; p.Kind != retry.Counter && p.Outcome == NotApplied {
			p.Outcome = Unknown
		}
	}
	if next.known.Outcome == NotApplied {
		next.known.Outcome = Unknown
	}
	next.Tables = next.results()
	return &next
}

// again is the error with cause as the reason why its open requests are still open.
func (e *Error) again(cause error) *Error {
	next := *e
	next.requests = slices.Clone(e.requests)
	for i := range next.requests {
		if resumable(next.requests[i]) {
			next.requests[i].Err = cause
		}
	}
	if next.undecided() {
		next.known.Err = cause
	}
	next.Tables = next.results()
	return &next
}
