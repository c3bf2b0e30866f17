package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/hosts"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Writer carries out changes. It is made by [New], needs no Close, and is safe for concurrent use. The package comment
// names the goroutines that outlive a call. The calls of a zero Writer fail.
type Writer struct {
	config
	sender   fanout.Sender
	session  string              // its keyspace, or empty
	physical func(string) string // maps declared keyspaces
	transact decide.Session
	batchlog *batchlog // shared with derived writers, as are live and ends
	live     *live
	ends     *decide.Ends

	// Of its decisions: what env would otherwise make for each.
	next     func(above int64) int64
	finishes func(context.Context, string, time.Time, []*statement.Mutation) (int, error)
}

// Format prints one text for every verb, as fmt could show the password in the session of gocql.
func (Writer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "denorm writer") }

// New makes a writer. It uses the keyspaces of the session and, if the session has them, its tracer and its retry
// budget. The error names every option that is not valid.
func New(s *session.Session, options ...NewOption) (*Writer, error) {
	if s == nil || s.Reads() == nil {
		return nil, reject("New", errors.New("the session is nil or a zero value: session.Open makes one"))
	}
	writes, reads := s.Writes(), s.Reads()
	if writes == nil {
		return nil, reject("New", errors.New("the session only reads: session.New was given no session for writes"))
	}
	in := newOption(func(c *config) {
		c.writes, c.reads = writes, reads
		c.use(s)
	})
	w := newWriter(fanout.Gocql{Session: writes}, writes.Query("").Keyspace(), readLive(reads),
		append([]NewOption{in}, options...)...)
	w.transact = decide.Sessions{Writes: writes, Reads: reads}
	w.sender.Deep, w.sender.Hosts = true, hosts.Of(writes)
	if w.err != nil {
		return nil, reject("New", w.err)
	}
	return w, nil
}

func newWriter(
	exec fanout.Executor, session string, read func(context.Context, string, string) (liveTable, error),
	options ...NewOption,
) *Writer {
	w := &Writer{
		config: defaults(), session: session, batchlog: &batchlog{}, live: &live{read: read},
		ends: decide.NewEnds(),
	}
	w.sender = fanout.Sender{Exec: exec, Doubt: w.live.doubt, Groupable: w.live.groupable, Ungroup: w.live.ungroup}
	apply(&w.config, options)
	w.retried = true // a Timeout alone is compared with the policy too
	if w.hedge > 0 && w.hedge >= w.timeout {
		w.fail("Hedge is %v, but a call ends after %v (Timeout): use a smaller Hedge (about your p99), or 0 for none",
			w.hedge, w.timeout)
	}
	if w.shared.Budget == nil {
		w.shared.Budget = settings.NewBudget(0, 0)
	}
	w.prepare()
	return w
}

// With derives a writer with other options for some calls, as slog.Logger.With derives a logger. The two share
// session, clock and what they know of the cluster. It costs a few small allocations. An option that is not valid is
// reported by the next call.
func (w *Writer) With(options ...Option) *Writer {
	derived := *w.made()
	apply(&derived.config, options)
	derived.prepare()
	return &derived
}

// prepare makes what follows from the options.
func (w *Writer) prepare() {
	if w.retried {
		w.checkPolicy()
	}
	w.chosen, w.retried = auto, false
	w.physical = func(logical string) string {
		physical, _ := w.shared.Physical(logical, w.session) // if it is empty, what asks for it says so
		return physical
	}
	w.next = func(above int64) int64 { return w.clock.next(above, w.maxSkew, nil, nil) }
	w.finishes = w.finishFor
	w.sender.Retrier = req.NewRetrier(w.attempts(), w.shared.Budget)
	w.sender.Tracer, w.sender.Consistency, w.sender.Hedge, w.sender.Group, w.sender.Now = w.tracer, w.consistency, w.hedge,
		w.group, w.clock.now
	if limit := w.sender.Retrier.AttemptTimeout(); w.err == nil && w.hedge > 0 && w.hedge >= limit {
		w.fail("Hedge is %v, but an attempt ends after %v: use a smaller Hedge (about your p99), or 0 for none", w.hedge,
			limit)
	}
}

// checkPolicy rejects a policy whose attempts do not fit into a call.
func (w *Writer) checkPolicy() {
	switch p := w.policy; {
	case p.MaxAttempts == 1:
	case p.AttemptTimeout > 0 && p.AttemptTimeout >= w.timeout:
		w.fail("Retry: AttemptTimeout %v leaves no second attempt within Timeout %v: make it less, or MaxAttempts 1",
			p.AttemptTimeout, w.timeout)
	case p.MaxElapsedTime > w.timeout:
		w.fail("Retry: MaxElapsedTime %v is longer than Timeout %v: make Timeout more, or MaxElapsedTime less",
			p.MaxElapsedTime, w.timeout)
	}
}

// attempts is the retry policy of the requests of a call. Where the caller has not said how long an attempt may last,
// and a call may not last longer than one does by default, it is half of the call: an attempt without an answer would
// be the only one. A hedge makes up for that.
func (w *Writer) attempts() retry.Policy {
	p := w.policy
	if p.AttemptTimeout == 0 && p.MaxAttempts != 1 && w.hedge == 0 && p.WithDefaults().AttemptTimeout >= w.timeout {
		p.AttemptTimeout = max(w.timeout/2, time.Millisecond)
	}
	return p
}

// patient is for reads of the schema that [Timeout] does not limit.
func (w *Writer) patient() req.Retrier { return req.NewRetrier(w.policy, w.shared.Budget) }

// Result describes a write. After a failed write it holds as much as is known.
type Result struct {
	// Timestamp of all its mutations, in microseconds since the Unix epoch: the new stamp of the rows. 0 if there were
	// no changes. Counters have none.
	Timestamp int64
	Mode      Mode // of everything but counters; Counter if there is nothing else
	// Version is the new version of the row that a [tables.Versioned] change has made, and zero without such a change.
	// The next before-image must have it.
	Version  gocql.UUID
	Requests int // planned; a group counts as one
	Groups   int // of requests that were sent together: see [Group]
	Attempts int // of this call, over all requests
	Counters int // requests of counters, each of one partition
}

// Write carries out one logical write: all changes, in every table, at one timestamp. op names it in errors and traces,
// for example createOrder; it must not be empty and must not contain an id. Without changes Write does nothing.
//
// The error is nil only if every table has acknowledged the write at the consistency level. Otherwise it is an [*Error]
// and says per table what is known; [Writer.Resume] finishes the rest. If the call or a row is not valid, it matches
// [ErrInvalid] and nothing was sent. Write ends when ctx does, or after the writer's [Timeout]. A write in flight may
// then still be applied, and its outcome is Unknown.
//
// A Write may have one change of a Versioned set, or changes of a Compare set for rows of one partition. A lightweight
// transaction decides about them before anything else is sent; changes of other sets follow it. Changes of
// [tables.Transactional] sets, also of several entities, are one transaction. They allow no changes of sets that are
// not Transactional in the Write.
func (w *Writer) Write(ctx context.Context, op string, changes ...tables.Change) (Result, error) {
	w = w.made()
	if ctx == nil {
		return Result{}, reject(op, errNoContext)
	}
	ctx, call := fanout.Deadline(ctx, w.timeout)
	defer call.End()
	ctx = w.tracer.TraceStart(ctx, session.OperationStart{Op: op, Changes: len(changes)})
	var before *plan
	for tries := 1; ; tries++ { // an insert has to be above its claim of an ID, and above a deleted row that it meets
		p, err := w.planAfter(op, changes, before)
		if err == nil {
			err = w.guard(ctx, p)
		}
		if err != nil {
			if before != nil {
				given := &before.known
				if p != nil { // it has taken the claims over, and the error says what is known of them
					given = &p.known
				}
				before.decision.GiveUp(ctx, &before.env, given)
			}
			return w.unsent(ctx, op, p, err)
		}
		if w.decide(ctx, p); p.deciding == nil || p.known.Above == 0 || w.pinned {
			return w.send(ctx, p)
		}
		if tries == mostPlans {
			p.decision.GiveUp(ctx, &p.env, &p.known)
			return w.send(ctx, p)
		}
		before = p
	}
}

// mostPlans is how often a write is planned. Without another writer of the entity that is twice, or four times if it
// meets a row that was deleted by a clock ahead of this one.
const mostPlans = 6

// planAfter plans a write once more, above what the plan before it has met, if there is one.
func (w *Writer) planAfter(op string, changes []tables.Change, before *plan) (*plan, error) {
	if before == nil {
		return w.plan(op, changes, 0)
	}
	met := &before.known
	p, err := w.plan(op, changes, met.Above)
	if err != nil {
		return nil, err
	}
	p.sent, p.known.Attempts = before.sent+met.Sent, met.Attempts
	if met.Held != nil {
		p.known.Held, p.known.ID = met.Held, met.ID
	}
	return p, nil
}

// unsent ends a write of which nothing was sent: it was rejected, or the schema of its tables could not be read, which
// is not the fault of the call.
func (w *Writer) unsent(ctx context.Context, op string, p *plan, err error) (Result, error) {
	var unread *unreadError
	if errors.As(err, &unread) {
		p.unsent(unread)
		return w.finish(ctx, p)
	}
	return w.refused(ctx, op, err)
}

func (w *Writer) refused(ctx context.Context, op string, cause error) (Result, error) {
	err := reject(op, cause)
	w.tracer.TraceEnd(ctx, session.OperationEnd{Op: op, Mode: None.String(), Err: err})
	return Result{}, err
}

var (
	errNoContext = errors.New("the context is nil: pass the caller's, or context.Background()")
	errNoOp      = errors.New("op is empty: name the write, as in createOrder; errors, spans and metrics show it")
	errUnmade    = errors.New("the writer is nil or a zero value: it is made by writer.New")
)

// made is the writer, or one whose calls say that w was not made.
func (w *Writer) made() *Writer {
	if w != nil && w.live != nil {
		return w
	}
	none := &Writer{config: defaults()}
	none.err = errUnmade
	return none
}
