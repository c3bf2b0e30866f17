package writer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

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
		cassandratest.WriteTimeout(typ, 1, 2), cassandratest.WriteFailure(typ, 1, 2, 1), cassandratest.Code(gocql.ErrCodeServer),
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
	return []tables.Change{s.orders.Insert(o), s.notes.Insert(n), s.orders.Update(o, paid), s.orders.Delete(paid)}[s.random.IntN(4)]
}

// work writes, and now and then resumes at once what has failed.
func (s *wireStorm) work() {
	modes := []Option{Auto(), Auto(), Logged(), Concurrent()}
	groups := []Option{Group(0), Group(groupBytes)}
	for range s.writes {
		change, at := s.change(), s.stamp()
		w := s.w.With(At(at), modes[s.number(len(modes))], groups[s.number(len(groups))], Hedge(s.unit*time.Duration(s.number(2))/2))
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
	c := wireClaim{timestamp: at, parts: statementsOf(s.t, change), say: fmt.Sprint(change.Kind(), " ", change.Entity(), ": ", err)}
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
		s.t.Errorf("%s is claimed to be %v, and of %d statements %d were applied: %s", table, o, c.parts[table], applied, c.say)
	}
}

// run is the storm, and the calm after it: what had been said is compared with what has come of it, and every failed write
// is resumed until it succeeds.
func (s *wireStorm) run() {
	share := 3 + s.number(8) // of ten requests meet a fault
	s.When().Choose(func(r cassandratest.Request) []cassandratest.Step {
		if s.number(20) >= share {
			return nil
		}
		group := r.Kind == cassandratest.Batch && !r.Logged && slices.ContainsFunc(r.Statements, func(st cassandratest.Statement) bool { return st.Table == "orders_by_id" })
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
// to lack the write has any part of it, then or later, none that is said to have it lacks a part, and Resume brings every
// write to its end.
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
					wireShop: openWire(t, cassandratest.Start, 3, Timeout(time.Minute), Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 2 * time.Second})),
					t:        t, tally: tally, unit: time.Second, orders: orderSet(t), notes: noteSet(t), workers: 8, writes: 50, random: rand.New(rand.NewPCG(seed, 1)),
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
		wireShop: openWireConfigured(t, cassandratest.Listen, 3, soon, Timeout(5*time.Second), Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: 2 * unit})),
		t:        t, tally: tally, unit: unit, orders: orderSet(t), notes: noteSet(t), workers: 16, writes: 20, random: rand.New(rand.NewPCG(1, 1)),
	}
	s.run()
}
