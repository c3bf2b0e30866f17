package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// crew is the clients of a service: they share a process, until it is killed. What they cannot finish goes into a
// queue.
type crew struct {
	*world
	service service
	index   uint64
	clients *slot
	queue   *queue

	share int // logical writes
}

func newCrew(w *world, s service, index uint64, share int) *crew {
	c := &crew{world: w, service: s, index: index, share: share}
	c.clients = c.slot(0)
	c.queue = newQueue(c)
	return c
}

// finish is what most loads have left to do: nothing.
func (*crew) finish(context.Context) {}

// current is the process of the clients.
func (c *crew) current(ctx context.Context) *process { return c.clients.current(ctx) }

// slot is where one process after the other lives, each until it is killed.
type slot struct {
	*crew
	number  uint64
	booting chan struct{} // holds a token of who looks at what follows
	process *process
	boots   uint64
}

func (c *crew) slot(number uint64) *slot {
	return &slot{crew: c, number: number, booting: make(chan struct{}, 1)}
}

// ahead is how far a clock is ahead of the true time: in one of eight processes with wrong clocks, hours.
func (s service) ahead(random *rand.Rand) time.Duration {
	most := skew
	if s.wrong {
		most = []time.Duration{5 * time.Millisecond, skew, skew, skew, maxSkew / 2, maxSkew / 2, maxSkew / 2, 5 * time.Hour}[random.IntN(8)]
	}
	return time.Duration(random.Int64N(int64(2*most))) - most
}

// jump sets the clock of a process to another wrong time, now and then.
func (c *crew) jump(p *process, random *rand.Rand) {
	if c.service.wrong && random.IntN(kills) == 0 {
		p.ahead.Store(int64(c.service.ahead(random)))
	}
}

// current is the process, a new one if it was killed.
func (s *slot) current(ctx context.Context) *process {
	s.booting <- struct{}{} // no mutex: those who wait for one keep virtual time from running on
	defer func() { <-s.booting }()
	for s.process == nil || s.process.killed() {
		s.boots++
		random := chance(s.Seed, s.index, s.number<<32|s.boots)
		var sets []tables.Described
		if s.number == consumers { // the last one
			sets = s.service.of.sets
		}
		p, err := boot(ctx, s.cluster, s.service.keyspace, s.service.ahead(random), s.service.mode, sets...)
		if err == nil {
			s.process = p
			continue
		}
		if p != nil { // too many nodes are ill
			p.close()
		}
		<-time.After(time.Second)
	}
	return s.process
}

func (s *slot) close() {
	if s.process != nil {
		s.process.close()
		s.process = nil
	}
}

// doom kills the process in a moment, now and then.
func (c *crew) doom(p *process, random *rand.Rand) {
	if random.IntN(kills) != 0 {
		return
	}
	time.AfterFunc(time.Duration(random.Int64N(int64(6*time.Millisecond))), p.kill)
}

// work runs the clients, and waits until the queue has delivered all that is to come.
func (c *crew) work(ctx context.Context, write func(ctx context.Context, name string, number uint64)) {
	_ = parallel.Do(clients, clients, func(i int) error {
		name := fmt.Sprintf("%s/%d", c.service.name, i)
		for n := range c.share / clients {
			write(ctx, name, c.number(i+1, n))
		}
		return nil
	})
	c.queue.wait()
	c.clients.close()
}

// attempts is how what becomes of a write is noted.
type attempts struct {
	told          func(result writer.Result, err error) *writer.Error
	again, repeat func()
}

// told gives what notes what a client was told of a write, and returns what is not applied.
func told[T any](c *crew, h *history.History[T], noted int) func(writer.Result, error) *writer.Error {
	return func(result writer.Result, err error) *writer.Error {
		err = c.Lie(err)
		h.End(noted, result.Timestamp, err)
		return c.failed(err)
	}
}

// failed is what a write or its Resume ended with, nil if it is applied.
func (c *crew) failed(err error) *writer.Error {
	var failed *writer.Error
	if c.service.wrong && errors.Is(err, writer.ErrInvalid) && strings.Contains(err.Error(), "ahead of this clock") {
		return nil
	}
	if err != nil && (!errors.As(err, &failed) || errors.Is(err, writer.ErrExpired) ||
		errors.Is(err, writer.ErrInvalid) && !errors.Is(err, writer.ErrConflict)) { // Resume rejects a conflict that was stored
		c.trouble(fmt.Errorf("%s: %w", c.service.name, err))
		return nil
	}
	if failed != nil && failed.Resumable() && lacksPermission(failed) {
		c.trouble(fmt.Errorf("%s: to be resumed without a permission: %w", c.service.name, err))
	}
	return failed
}

// lacksPermission says whether all requests that a write still lacks were answered so. Where two replicas were asked,
// one may not have answered.
func lacksPermission(failed *writer.Error) bool {
	causes := failed.Unwrap()
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(err error) bool {
		var answer gocql.RequestError
		return !errors.As(err, &answer) || answer.Code() != gocql.ErrCodeUnauthorized || err.Error() != answer.Error()
	})
}

// send makes a write at a timestamp, 0 if the library chooses it. Where the service finishes what fails, the write of a
// client that was killed is made again by whoever asked for it, and the queue brings to an end what failed. Of other
// services it does so with some of it, and gives up soon.
func (c *crew) send(ctx context.Context, p *process, random *rand.Rand, row gocql.UUID, number uint64, at int64, change tables.Change, a *attempts) int64 {
	c.queue.echo(ctx, row, random)
	w := p.writer
	if number%2 == 0 {
		w = w.With(writer.Group(4 << 10))
	}
	if at != 0 {
		c.weather.begin(at, number)
		w = w.With(writer.At(at))
	}
	c.doom(p, random)
	c.jump(p, random)
	c.meets(number)
	before := p.acknowledged(row)
	result, err := mood(w, random).Write(p.ctx, "change", change) //nolint:contextcheck // it ends with its process
	if err == nil {
		if p.acknowledge(row, result.Timestamp); at == 0 && result.Timestamp <= before {
			c.trouble(fmt.Errorf("%s: row %v: a process has acknowledged a write at %d and a later one at %d", c.service.name, row, before, result.Timestamp))
		}
	}
	repeated := false
	for p.killed() {
		c.weather.note(clientKilled, number)
		if !c.service.finish {
			return 0
		}
		p, repeated = c.current(ctx), true
		a.repeat()
		result, err = p.writer.With(writer.At(at), writer.Group(4<<10)).Write(p.ctx, "change", change) //nolint:contextcheck // as before
	}
	c.meets(number)
	failed := a.told(result, err)
	switch {
	case failed == nil:
		return result.Timestamp
	case random.IntN(2) == 0 && (!c.service.finish || failed.NotApplied() && !repeated):
		return 0
	}
	m := &message{attempts: a, about: []any{row}, number: number}
	if !c.service.finish {
		m.most = 2
	}
	c.queue.hand(ctx, p, random, failed, m)
	return at
}

// number is that of a write. It is the same in each run, as is all that is drawn for it.
func (c *crew) number(client, n int) uint64 { return c.index<<40 | uint64(client)<<32 | uint64(n) }

// rest is the time between two tries.
func rest(random *rand.Rand) {
	<-time.After(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
}

// mood makes some callers impatient: they give up soon, or after one attempt, whatever happens later, or ask a second
// replica.
func mood(w *writer.Writer, random *rand.Rand) *writer.Writer {
	switch random.IntN(6) {
	case 0:
		return w.With(writer.Timeout(300 * time.Millisecond))
	case 1:
		return w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	case 2:
		return w.With(writer.Hedge(time.Duration(1+random.IntN(50)) * time.Millisecond))
	}
	return w
}

// process is a client with sessions, a writer and a clock of its own, which can be killed: from then on it sends
// nothing, and whatever it is told is not heard.
type process struct {
	ctx     context.Context
	cancel  context.CancelFunc
	session *session.Session
	writer  *writer.Writer
	dialer  faulty.Dialer
	ahead   atomic.Int64 // of the true time, nanoseconds

	mu    sync.Mutex
	acked map[gocql.UUID]int64 // the largest timestamp of an acknowledged write of a row
}

// now is the time by the clock of the process.
func (p *process) now() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }

// acknowledged is the largest timestamp of an acknowledged write of a row so far, 0 if none is known or if the clock
// has been set back to more than [writer.MaxClockSkew] before it.
func (p *process) acknowledged(row gocql.UUID) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.acked[row]; at <= p.now().Add(maxSkew).UnixMicro() {
		return at
	}
	return 0
}

func (p *process) acknowledge(row gocql.UUID, at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked[row] = max(p.acked[row], at)
}

// maxSkew is the default of [writer.MaxClockSkew].
const maxSkew = 10 * time.Second

// boot starts a process whose clock is ahead, and which resumes what is of these sets, if there are any.
func boot(ctx context.Context, c *cassandratest.Cluster, keyspace string, ahead time.Duration, mode writer.Option, sets ...tables.Described) (
	*process, error,
) {
	p := &process{acked: make(map[gocql.UUID]int64)}
	p.ahead.Store(int64(ahead))
	p.ctx, p.cancel = context.WithCancel(ctx)
	config := c.Config()
	p.dialer.Configure(config)
	config.Keyspace = keyspace
	config.Events.DisableSchemaEvents = true
	var err error
	if p.session, err = session.Open(config, session.LocalDC("dc1"), session.Budget(retry.NewBudget(1<<30, 0))); err != nil {
		p.cancel()
		return nil, err
	}
	options := []writer.NewOption{writer.WithClock(writer.NewClock(p.now)), writer.ClaimGrace(2 * time.Second), mode}
	if len(sets) > 0 {
		options = append(options, writer.Resumes(sets...))
	}
	p.writer, err = writer.New(p.session, options...)
	return p, err
}

// kill ends the process where it is.
func (p *process) kill() {
	p.dialer.DieAfter(0)
	p.cancel()
	go p.close() // it must not go on trying to connect
}

func (p *process) killed() bool { return p.dialer.Dead() }

// close gives back what the process has, when none of its calls is under way.
func (p *process) close() {
	p.cancel()
	p.session.Close()
}
