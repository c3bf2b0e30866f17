package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// wireKnown is what is known after one attempt.
type wireKnown int

const (
	maybe  wireKnown = iota
	never            // surely not applied
	stored           // in the batchlog
	done
)

// wireFault is what a server does with one attempt, and what is known afterwards. It is stated here by the rules of the
// protocol and of Cassandra, not taken from the code under test.
type wireFault struct {
	steps     []cassandratest.Step
	partition wireKnown // of a request for one partition
	logged    wireKnown // of a logged batch
}

// cutInBody cuts the connection within the body of the answer to a write, after its header.
var cutInBody = cassandratest.CutAfter(11)

// wireFaults are all errors of the protocol, and all ways of losing an answer.
func wireFaults() map[string]wireFault {
	fail := func(e cassandratest.Error) []cassandratest.Step { return []cassandratest.Step{cassandratest.Fail(e)} }
	failWith := func(code int, tail string) []cassandratest.Step {
		return fail(cassandratest.Code(code, []byte(tail)...))
	}
	faults := map[string]wireFault{
		"answered": {nil, done, done},
		"slow":     {[]cassandratest.Step{cassandratest.Delay(time.Second)}, done, done},

		"unavailable":           {fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)), never, never},
		"unavailable, batchlog": {fail(cassandratest.Unavailable(gocql.Two, 1, 0)), never, never},
		"overloaded":            {fail(cassandratest.Overloaded), never, maybe},
		"bootstrapping":         {failWith(gocql.ErrCodeBootstrapping, ""), never, never},
		"protocol error":        {failWith(gocql.ErrCodeProtocol, ""), never, never},
		"credentials":           {failWith(gocql.ErrCodeCredentials, ""), never, never},
		"syntax":                {failWith(gocql.ErrCodeSyntax, ""), never, never},
		"unauthorized":          {failWith(gocql.ErrCodeUnauthorized, ""), never, never},
		"invalid":               {failWith(gocql.ErrCodeInvalid, ""), never, never},
		"config":                {failWith(gocql.ErrCodeConfig, ""), never, never},
		"already exists":        {failWith(gocql.ErrCodeAlreadyExists, "\x00\x02ks\x00\x01t"), never, never},
		"function failure": {
			failWith(gocql.ErrCodeFunctionFailure, "\x00\x02ks\x00\x01f\x00\x01\x00\x03int"), never,
			never,
		},
		"server error": {failWith(gocql.ErrCodeServer, ""), maybe, maybe},
		"server error, applied": {
			append([]cassandratest.Step{cassandratest.Apply}, failWith(gocql.ErrCodeServer, "")...),
			maybe, maybe,
		},
		"truncate":     {failWith(gocql.ErrCodeTruncate, ""), maybe, maybe},
		"read timeout": {fail(cassandratest.ReadTimeout(1, 2)), maybe, maybe},
		"read failure": {fail(cassandratest.ReadFailure(1, 2, 1)), maybe, maybe},
		"CDC failure":  {failWith(gocql.ErrCodeCDCWriteFailure, ""), maybe, maybe},
		"CAS unknown": {fail(cassandratest.Code(gocql.ErrCodeCASWriteUnknown,
			[]byte("\x00\x08\x00\x00\x00\x01\x00\x00\x00\x02")...)), maybe, maybe},
		"no such error":    {fail(cassandratest.Code(0x4321)), maybe, maybe},
		"dropped":          {[]cassandratest.Step{cassandratest.Drop}, maybe, maybe},
		"applied, dropped": {[]cassandratest.Step{cassandratest.Apply, cassandratest.Drop}, maybe, maybe},
		"dropped, applied later": {[]cassandratest.Step{
			cassandratest.Drop, cassandratest.Delay(6 * time.Second),
			cassandratest.Apply,
		}, maybe, maybe},
		"late": {
			[]cassandratest.Step{cassandratest.Apply, cassandratest.Delay(4 * time.Second)},
			maybe,
			maybe,
		},
		"cut":          {[]cassandratest.Step{cassandratest.Cut}, maybe, maybe},
		"applied, cut": {[]cassandratest.Step{cassandratest.Apply, cassandratest.Cut}, maybe, maybe},
		"cut, applied later": {[]cassandratest.Step{
			cassandratest.Cut, cassandratest.Delay(6 * time.Second),
			cassandratest.Apply,
		}, maybe, maybe},
		"cut in the header":     {[]cassandratest.Step{cassandratest.CutAfter(5)}, maybe, maybe},
		"cut in the body":       {[]cassandratest.Step{cutInBody}, maybe, maybe},
		"stalled in the header": {[]cassandratest.Step{cassandratest.StallAfter(5, 10*time.Second)}, maybe, maybe},
		"stalled in the body":   {[]cassandratest.Step{cassandratest.StallAfter(11, 10*time.Second)}, maybe, maybe},
	}
	for _, typ := range []string{
		"SIMPLE", "BATCH", "UNLOGGED_BATCH", "COUNTER", "BATCH_LOG", "CAS", "VIEW", "CDC",
		"NEW",
	} {
		timeout := wireFault{steps: fail(cassandratest.WriteTimeout(typ, 1, 2))}
		if typ == "BATCH" {
			timeout.logged = stored
		}
		faults["timeout "+typ] = timeout
		timeout.steps = []cassandratest.Step{cassandratest.Apply, timeout.steps[0]}
		faults["timeout "+typ+", applied"] = timeout
		faults["failure "+typ] = wireFault{steps: fail(cassandratest.WriteFailure(typ, 1, 2, 1))}
	}
	return faults
}

// wireSeconds are the faults that follow each of them: one of each kind.
var wireSeconds = []string{
	"answered", "unavailable", "overloaded", "syntax", "timeout SIMPLE, applied", "timeout BATCH", "applied, dropped",
	"applied, cut", "cut in the body",
}

// known is what all attempts together say, one after the other.
func known(attempts []wireKnown) Outcome {
	switch {
	case slices.Contains(attempts, done):
		return Applied
	case slices.Contains(attempts, stored):
		return Pending
	case slices.Contains(attempts, maybe):
		return Unknown
	}
	return NotApplied
}

// statementsOf is how many statements a change has for each table.
func statementsOf(tb testing.TB, change tables.Change) map[string]int {
	tb.Helper()
	r, err := change.Internal().Render(time.Now().UnixMicro(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	out := make(map[string]int)
	for i := range r.Mutations {
		out[r.Mutations[i].Table]++
	}
	return out
}

// wireTally counts what is claimed, and what of it was false.
type wireTally struct{ cases, applied, notApplied, pending, unknown, falseApplied, falseNotApplied atomic.Int64 }

func (c *wireTally) String() string {
	return fmt.Sprintf("%d tables: %d applied, %d not applied, %d pending, %d unknown; false applied %d, false not "+
		"applied %d",
		c.cases.Load(), c.applied.Load(), c.notApplied.Load(), c.pending.Load(), c.unknown.Load(), c.falseApplied.Load(),
		c.falseNotApplied.Load())
}

// report logs the tally. Without claims of each kind it shows nothing.
func (c *wireTally) report(t *testing.T) {
	t.Helper()
	t.Log(c)
	if c.falseApplied.Load() > 0 || c.falseNotApplied.Load() > 0 {
		t.Error("a false claim")
	}
	if c.applied.Load() == 0 || c.notApplied.Load() == 0 || c.unknown.Load() == 0 {
		t.Error("a kind of claim that was never made")
	}
}

// judge holds a claim against how many of the table's statements were applied.
func (c *wireTally) judge(o Outcome, applied, statements int) (honest bool) {
	c.cases.Add(1)
	switch o {
	case Applied:
		if c.applied.Add(1); applied < statements {
			c.falseApplied.Add(1)
			return false
		}
	case NotApplied:
		if c.notApplied.Add(1); applied > 0 {
			c.falseNotApplied.Add(1)
			return false
		}
	case Pending:
		c.pending.Add(1)
	case Unknown:
		c.unknown.Add(1)
	case Conflict, Taken, Invalid, NotFound: // of a call, not of a table
		return false
	}
	return true
}

// Every error and every lost answer, followed by others if it is retried, on a real driver: what is claimed of each
// table is what the attempts that were made allow to say, neither more nor less.
func TestWireOutcomes(t *testing.T) {
	t.Parallel()
	open, paid := move()
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	for name, test := range map[string]struct {
		change tables.Change
		mode   Mode
		table  string // the one at fault, which is all of them in one request
		option Option
	}{
		"fan-out": {
			orderSet(t).Insert(open), FanOut, "orders_by_user", Auto(),
		},
		"same partition": {noteSet(t).Insert(newNote()), SamePartition, "notes", Auto()},
		"logged batch": {
			orderSet(t).Update(open, paid), LoggedBatch, "orders_by_id", Logged(),
		},
	} {
		for first := range wireFaults() {
			t.Run(name+"/"+first, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWire(t, cassandratest.Start, 3, test.option, Timeout(time.Minute),
						Retry(retry.Policy{MaxAttempts: 2, MaxElapsedTime: time.Minute}))
					faults, broken, parts := wireFaults(), 0, statementsOf(t, test.change)
					for _, second := range wireSeconds {
						script := []wireFault{faults[first], faults[second]}
						var made []wireKnown
						rule := s.When(cassandratest.Table(test.table)).Choose(func(cassandratest.Request) []cassandratest.Step {
							f := script[len(made)]
							if len(f.steps) > 0 && f.steps[0].String() == cutInBody.String() {
								broken++
							}
							if test.mode == LoggedBatch {
								made = append(made, f.logged)
							} else {
								made = append(made, f.partition)
							}
							return f.steps
						})
						at := s.stamp()
						result, err := s.w.With(At(at)).Write(s.counted(t.Context()), "op", test.change)
						if result.Mode != test.mode {
							t.Fatalf("mode %v", result.Mode)
						}
						rule.End() // before made is read
						want := known(made)
						if len(made) != rule.Handled() || len(made) == 0 || (err == nil) != (want == Applied) {
							t.Errorf("then %s: %d attempts, error %v", second, len(made), err)
						}
						claims := make(map[string]TableResult)
						if err != nil {
							for _, r := range asError(t, err).Tables {
								claims[r.Table] = r
							}
							wantConsistent(t, asError(t, err))
						}
						<-time.After(10 * time.Second) // what comes late has come, and what was cut is connected
						for table := range parts {
							claim := claims[table]
							if err == nil {
								claim.Outcome, claim.Attempts = Applied, len(made)
							}
							applied := s.ledger.has(table, at)
							if !tally.judge(claim.Outcome, applied, parts[table]) {
								t.Errorf("then %s: %s is claimed to be %v, and of %d statements %d were applied", second, table, claim.Outcome,
									parts[table], applied)
							}
							switch {
							case test.mode == FanOut && table != test.table: // it may lose its answer with the connection
								if claim.Outcome != Applied && (claim.Outcome != Unknown || claim.Attempts != 2) {
									t.Errorf("then %s: %s, which is not at fault, is %v", second, table, claim.Outcome)
								}
							case claim.Outcome != want || claim.Attempts != len(made):
								t.Errorf("then %s: %s is %v after %d attempts, want %v after %d", second, table, claim.Outcome, claim.Attempts,
									want, len(made))
							}
						}
					}
					s.wantNoStreams(t, broken)
				})
			})
		}
	}
}

// What is rejected before anything is sent, and what ends after something was.
func TestWireEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before  func(s *wireShop, cancel context.CancelFunc)
		during  func(s *wireShop, cancel context.CancelFunc) // when the first request has come
		want    Outcome
		is      error
		sent    bool
		applied bool
	}{
		"session closed": {
			before: func(s *wireShop, _ context.CancelFunc) { s.session.Close() }, want: NotApplied, is: gocql.ErrSessionClosed,
		},
		"no connections": {
			before: func(s *wireShop, _ context.CancelFunc) {
				s.Node(1).Stop()
				<-time.After(time.Second)
			},
			want: NotApplied, is: drivertest.ErrNoNode,
		},
		"cancelled before": {
			before: func(_ *wireShop, cancel context.CancelFunc) { cancel() }, want: NotApplied, is: context.Canceled,
		},
		"cancelled, never applied": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Drop) },
			during: func(_ *wireShop, cancel context.CancelFunc) { cancel() },
			want:   Unknown, is: context.Canceled, sent: true,
		},
		"cancelled, applied": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Apply, cassandratest.Drop) },
			during: func(_ *wireShop, cancel context.CancelFunc) { cancel() },
			want:   Unknown, is: context.Canceled, sent: true, applied: true,
		},
		"cancelled, applied later": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Delay(10 * time.Second)) },
			during: func(_ *wireShop, cancel context.CancelFunc) { cancel() },
			want:   Unknown, is: context.Canceled, sent: true, applied: true,
		},
		"all connections cut, applied": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Apply, cassandratest.Drop) },
			during: func(s *wireShop, _ context.CancelFunc) { s.Node(1).Cut() },
			want:   Unknown, sent: true, applied: true,
		},
		"session closed, applied": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Apply, cassandratest.Drop) },
			during: func(s *wireShop, _ context.CancelFunc) { s.session.Close() },
			want:   Unknown, sent: true, applied: true,
		},
		"node stopped, applied": {
			before: func(s *wireShop, _ context.CancelFunc) { s.When().Do(cassandratest.Apply, cassandratest.Drop) },
			during: func(s *wireShop, _ context.CancelFunc) { s.Node(1).Stop() },
			want:   Unknown, sent: true, applied: true,
		},
		"node frozen, applied when it goes on": { // what was in the sockets is read after the client has given up
			before: func(s *wireShop, _ context.CancelFunc) {
				s.Node(1).Freeze()
				time.AfterFunc(4*time.Second, s.Heal)
			},
			want: Unknown, is: context.DeadlineExceeded, sent: true, applied: true,
		},
		"node silent": {
			before: func(s *wireShop, _ context.CancelFunc) { s.Node(1).Silence() },
			want:   Unknown, is: context.DeadlineExceeded, sent: true,
		},
	} {
		for kind, change := range map[string]tables.Change{
			"fan-out": orderSet(t).Insert(newOrder(Open)), "same partition": noteSet(t).Insert(newNote()),
			"logged batch": orderSet(t).Update(move()),
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWire(t, cassandratest.Start, 1, Logged(), once(), Timeout(3*time.Second))
					if kind == "fan-out" {
						s.w = s.w.With(Auto())
					}
					if _, err := s.w.Write(t.Context(), "prepare", change); err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancel(s.counted(t.Context()))
					defer cancel()
					test.before(s, cancel)
					if test.during != nil {
						time.AfterFunc(100*time.Millisecond, func() { test.during(s, cancel) })
					}
					from, at := len(s.Journal()), s.stamp()
					_, err := s.w.With(At(at)).Write(ctx, "op", change)
					e := asError(t, err)
					if test.is != nil && !errors.Is(err, test.is) {
						t.Errorf("%v is not %v", err, test.is)
					}
					<-time.After(time.Minute)
					// Several requests at once that nobody reads: the driver may give the connection up before the node goes on.
					open := kind == "fan-out" && strings.HasPrefix(name, "node frozen")
					if sent := s.writes(from); (len(sent) > 0) != test.sent && !open {
						t.Errorf("sent: %v", sent)
					}
					applied := 0
					for _, r := range e.Tables {
						applied += s.ledger.has(r.Table, at)
						if r.Outcome != test.want {
							t.Errorf("%s is %v", r.Table, r.Outcome)
						}
					}
					if (applied > 0) != test.applied && !open {
						t.Errorf("%d statements are applied", applied)
					}
					wantConsistent(t, e)
					if !s.session.Closed() { // closed, gocql does not say what became of its streams
						s.wantNoStreams(t, 0)
					}
				})
			})
		}
	}
}

// A row that is not valid never gets to the cassandratest.
func TestWireRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 1)
		o := newOrder(Open)
		o.Status = "lost"
		_, err := s.w.Write(t.Context(), "op", orderSet(t).Insert(o))
		if !errors.Is(err, ErrInvalid) || len(s.Journal(cassandratest.Prepare)) != 0 {
			t.Errorf("%v, %v", err, s.Journal(cassandratest.Prepare))
		}
	})
}

// wireStorm is random writes through random faults.
type wireStorm struct {
	*wireShop
	t       *testing.T
	unit    time.Duration // of all waits: a second in virtual time
	orders  *tables.Set[Order]
	notes   *tables.Set[Note]
	workers int
	writes  int // of each worker

	mu     sync.Mutex
	random *rand.Rand
	open   []wireClaim // what is still to be compared with the end
	tally  *wireTally
	failed int
	broken int // answers of which the header and a part of the body was sent
}

// wireClaim is what was said of a write. failed is nil if it succeeded.
type wireClaim struct {
	failed    *Error
	timestamp int64
	parts     map[string]int
	say       string
}

func (s *wireStorm) number(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// steps are those of a random fault. A wait may be shorter or longer than an attempt and a call.
func (s *wireStorm) steps(batch, group bool) []cassandratest.Step {
	delay := cassandratest.Delay(1 + s.unit*time.Duration(s.number(4000))/1000)
	typ := []string{"SIMPLE", "BATCH", "UNLOGGED_BATCH", "BATCH_LOG", "VIEW", "CDC"}[s.number(6)]
	clean := []cassandratest.Error{
		cassandratest.Unavailable(gocql.LocalQuorum, 2, 1), cassandratest.Unavailable(gocql.Two, 1, 0),
		cassandratest.Code(gocql.ErrCodeBootstrapping), cassandratest.Code(gocql.ErrCodeInvalid),
		cassandratest.Code(gocql.ErrCodeUnauthorized), cassandratest.Overloaded,
	}
	maybe := []cassandratest.Error{
		cassandratest.WriteTimeout(typ, 1, 2), cassandratest.WriteFailure(typ, 1, 2, 1),
		cassandratest.Code(gocql.ErrCodeServer),
	}
	if batch {
		maybe = append(maybe, cassandratest.Overloaded)
	}
	if group { // a part of it may have been sent
		maybe = append(maybe, cassandratest.Overloaded, cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))
	}
	if s.number(4) == 0 { // else these would be rare, and false claims are made of them
		return []cassandratest.Step{cassandratest.Fail(clean[s.number(len(clean))])}
	}
	fail := cassandratest.Fail(maybe[s.number(len(maybe))])
	part := s.number(13)
	scripts := [][]cassandratest.Step{
		{cassandratest.Fail(clean[s.number(len(clean))])},
		{delay, cassandratest.Fail(clean[s.number(len(clean))])},
		{fail},
		{cassandratest.Apply, fail},
		{delay, cassandratest.Apply, fail},
		{fail, delay, cassandratest.Apply},
		{cassandratest.Drop},
		{cassandratest.Apply, cassandratest.Drop},
		{cassandratest.Drop, delay, cassandratest.Apply},
		{delay},
		{cassandratest.Apply, delay},
		{delay, cassandratest.Apply, delay},
		{cassandratest.Cut},
		{cassandratest.Apply, cassandratest.Cut},
		{delay, cassandratest.Cut},
		{cassandratest.Cut, delay, cassandratest.Apply},
		{delay, cassandratest.Apply, cassandratest.Cut},
		{cassandratest.CutAfter(part)},
		{cassandratest.StallAfter(part, s.unit*time.Duration(1+s.number(3)))},
		{cassandratest.Fail(cassandratest.Unprepared)},
	}
	script := scripts[s.number(len(scripts))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if part >= 9 && strings.Contains(script[0].String(), " after ") { // in the body
		s.broken++
	}
	return script
}

// trouble is what happens to nodes, until done.
func (s *wireStorm) trouble(done <-chan struct{}) {
	for {
		n := s.Node(1 + s.number(3))
		kinds := []func(){n.Silence, n.Freeze, n.Stop, n.Vanish, n.Cut, n.Forget, n.Restore}
		kinds[s.number(len(kinds))]()
		for _, last := range []int{2000, 1000} { // how long it stays so, how long all is well
			select {
			case <-done:
				return
			case <-time.After(s.unit * time.Duration(1+s.number(last)) / 1000):
			}
			n.Restore()
		}
	}
}

func (s *wireStorm) change() tables.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := func() (u gocql.UUID) {
		for i := range u {
			u[i] = byte(s.random.Uint32())
		}
		u[6], u[8] = 0x10|u[6]&0xf, 0x80|u[8]&0x3f
		return u
	}
	o, n := newOrder(Open), newNote()
	o.OrderID, o.UserID, n.UserID, n.NoteID = id(), id(), id(), id()
	paid := o
	paid.Status = Paid
	return []tables.Change{
		s.orders.Insert(o), s.notes.Insert(n), s.orders.Update(o, paid),
		s.orders.Delete(paid),
	}[s.random.IntN(4)]
}

// work writes, and now and then resumes at once what has failed.
func (s *wireStorm) work() {
	modes := []Option{Auto(), Auto(), Logged(), Concurrent()}
	groups := []Option{Group(0), Group(groupBytes)}
	for range s.writes {
		change, at := s.change(), s.stamp()
		w := s.w.With(At(at), modes[s.number(len(modes))], groups[s.number(len(groups))],
			Hedge(s.unit*time.Duration(s.number(2))/2))
		ctx, cancel := context.WithTimeout(s.counted(s.t.Context()), s.unit*time.Duration(1+s.number(10_000))/1000)
		_, err := w.Write(ctx, "op", change)
		cancel()
		c := s.claim(at, change, err)
		for err != nil && s.number(2) == 0 {
			ctx, cancel := context.WithTimeout(s.counted(s.t.Context()), s.unit*time.Duration(1+s.number(5000))/1000)
			_, err = w.Resume(ctx, asError(s.t, err))
			cancel()
			c = s.claim(at, change, err)
		}
		s.mu.Lock()
		s.open = append(s.open, c)
		if err != nil {
			s.failed++
		}
		s.mu.Unlock()
	}
}

// claim holds what is said of a write against the tables as they are now.
func (s *wireStorm) claim(at int64, change tables.Change, err error) wireClaim {
	c := wireClaim{timestamp: at, parts: statementsOf(s.t, change), say: fmt.Sprint(change.Kind(), " ", change.Entity(),
		": ", err)}
	if err != nil {
		c.failed = asError(s.t, err)
	}
	for table, outcome := range c.outcomes() {
		s.judge(c, table, outcome)
	}
	return c
}

// outcomes are what is said of each table.
func (c wireClaim) outcomes() map[string]Outcome {
	if c.failed != nil {
		return outcomes(c.failed)
	}
	out := make(map[string]Outcome)
	for table := range c.parts {
		out[table] = Applied
	}
	return out
}

func (s *wireStorm) judge(c wireClaim, table string, o Outcome) {
	if applied := s.ledger.has(table, c.timestamp); !s.tally.judge(o, applied, c.parts[table]) {
		s.t.Errorf("%s is claimed to be %v, and of %d statements %d were applied: %s", table, o, c.parts[table], applied,
			c.say)
	}
}

// run is the storm, and the calm after it: what had been said is compared with what has come of it, and every failed
// write is resumed until it succeeds.
func (s *wireStorm) run() {
	share := 3 + s.number(8) // of ten requests meet a fault
	s.When().Choose(func(r cassandratest.Request) []cassandratest.Step {
		if s.number(20) >= share {
			return nil
		}
		group := r.Kind == cassandratest.Batch && !r.Logged &&
			slices.ContainsFunc(r.Statements, func(st cassandratest.Statement) bool { return st.Table == "orders_by_id" })
		return s.steps(r.Kind == cassandratest.Batch && r.Logged, group)
	})
	s.When(cassandratest.Prepare).Choose(func(cassandratest.Request) []cassandratest.Step {
		if s.number(20) > 0 {
			return nil
		}
		return []cassandratest.Step{[]cassandratest.Step{
			cassandratest.Fail(cassandratest.Overloaded), cassandratest.Drop, cassandratest.Cut,
			cassandratest.Fail(cassandratest.Code(gocql.ErrCodeServer)),
		}[s.number(4)]}
	})
	done := make(chan struct{})
	var nodes, workers sync.WaitGroup
	nodes.Go(func() { s.trouble(done) })
	for range s.workers {
		workers.Go(s.work)
	}
	workers.Wait()
	close(done)
	nodes.Wait()
	s.Heal()
	<-time.After(30 * s.unit) // what comes late has come

	for _, c := range s.open {
		for table, outcome := range c.outcomes() {
			s.judge(c, table, outcome)
		}
	}
	w := s.w.With(Retry(retry.Policy{}), Timeout(time.Minute))
	calm := time.Now()
	for _, c := range s.open {
		for tries := 0; c.failed != nil; tries++ {
			_, err := w.Resume(s.counted(s.t.Context()), c.failed)
			if err == nil {
				break
			}
			if tries >= 10 && time.Since(calm) > time.Minute { // on sockets, to connect again takes real time
				s.t.Fatalf("not finished in calm: %v", err)
			}
			c.failed = asError(s.t, err)
		}
		for table, statements := range c.parts {
			if applied := s.ledger.has(table, c.timestamp); applied != statements {
				s.t.Errorf("after all of %d statements %s has %d: %s", statements, table, applied, c.say)
			}
		}
	}
	s.wantNoStreams(s.t, s.broken)
	s.t.Logf("%d writes, %d failed", len(s.open), s.failed)
}

// Thousands of writes through random faults of requests, connections and nodes, in virtual time: no table that is said
// to lack the write has any part of it, then or later, none that is said to have it lacks a part, and Resume brings
// every write to its end.
func TestWireRandom(t *testing.T) {
	t.Parallel()
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := &wireStorm{
					wireShop: openWire(t, cassandratest.Start, 3, Timeout(time.Minute),
						Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 2 * time.Second})),
					t: t, tally: tally, unit: time.Second, orders: orderSet(t), notes: noteSet(t), workers: 8, writes: 50,
					random: rand.New(rand.NewPCG(seed, 1)),
				}
				s.run()
			})
		})
	}
}

// The same on sockets, in real time and with fewer writes.
func TestWireRandomSockets(t *testing.T) { //nolint:paralleltest // in real time it needs the processors for itself
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	const unit = 40 * time.Millisecond
	soon := func(c *gocql.ClusterConfig) { c.ReconnectInterval = unit } // the storm is over before Configure's 2 s are
	s := &wireStorm{
		wireShop: openWireConfigured(t, cassandratest.Listen, 3, soon, Timeout(5*time.Second),
			Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 2 * unit})),
		t: t, tally: tally, unit: unit, orders: orderSet(t), notes: noteSet(t), workers: 16, writes: 20,
		random: rand.New(rand.NewPCG(1, 1)),
	}
	s.run()
}
