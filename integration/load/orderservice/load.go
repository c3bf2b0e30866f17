// Package load is clients of an order service. They create, change, delete and read orders over HTTP, and compare every
// answer with what they know.
//
// A client makes a key for each write. It repeats a write with the same key, at the next instance of the service, until
// it knows what became of it. An order belongs to one client, so the client knows the states in which a request may
// find the order. In the end all orders are read by id, and all lists: what was acknowledged is there, and nothing else
// is.
//
// One load is the lives of orders ([Load.Live]). The other adds a query table to the running service by the steps of
// docs/change-schema.md, with an instance of each release in a process of its own ([Process]) while clients work
// ([Load.Work]).
package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Target is an instance of the service.
type Target struct {
	URL   string
	Stage Stage
}

// Load is clients and what they know.
type Load struct {
	*ledger
	patience time.Duration
	http     *http.Client
	targets  atomic.Pointer[[]Target]
	turn     atomic.Uint64
	phase    atomic.Pointer[Phase]
	clients  []*client
	samples  []sample
}

// sample is one request.
type sample struct {
	at                      time.Time
	write, repeat, definite bool
	outcome                 orderservice.Outcome
}

const usersEach = 4

// New makes clients with users and orders of their own. A request whose outcome is unknown after patience is a fault.
// The same seed makes the clients decide alike.
func New(clients int, seed uint64, patience time.Duration) *Load {
	l := &Load{ledger: newLedger(), patience: patience, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clients}, Timeout: 30 * time.Second, // above the service's own limit
	}}
	l.Enter(Before)
	for n := range clients {
		c := &client{Load: l, rng: rand.New(rand.NewPCG(seed, uint64(n)))}
		for range usersEach {
			c.users = append(c.users, gocql.MustRandomUUID())
		}
		l.clients = append(l.clients, c)
	}
	return l
}

// Close closes idle connections.
func (l *Load) Close() { l.http.CloseIdleConnections() }

// Enter begins a phase.
func (l *Load) Enter(p Phase) { l.phase.Store(&p) }

// Ask sets the instances that clients ask from now on.
func (l *Load) Ask(targets ...Target) {
	targets = append([]Target(nil), targets...)
	l.targets.Store(&targets)
}

// Live has the clients create orders and bring each to some end, until as many were created or the time is over. Then
// it checks all orders.
func (l *Load) Live(ctx context.Context, orders int64, d time.Duration) {
	var taken atomic.Int64
	began := time.Now()
	l.all(l.clients, func(c *client) {
		c.lives = true
		for ctx.Err() == nil && time.Since(began) < d && taken.Add(1) <= orders {
			c.live(ctx)
		}
	})
	l.Check(ctx)
}

// Seed creates as many orders for each client. Half of them never change.
func (l *Load) Seed(ctx context.Context, each int) {
	l.all(l.clients, func(c *client) {
		for n := range each {
			c.create(ctx, n%2 == 0)
		}
	})
}

// Work has all clients but the first make as many writes a second, and others read, until over is closed.
func (l *Load) Work(ctx context.Context, rate, readers int, over <-chan struct{}) {
	var all sync.WaitGroup
	for n := range readers {
		reader := &client{Load: l, rng: rand.New(rand.NewPCG(2, uint64(n)))}
		all.Go(func() { every(50*time.Millisecond, over, func() { reader.look(ctx) }) })
	}
	work := l.clients[1:]
	l.all(work, func(c *client) {
		every(time.Second*time.Duration(len(work))/time.Duration(rate), over, func() { c.step(ctx) })
	})
	all.Wait()
}

func (l *Load) all(clients []*client, do func(*client)) {
	_ = parallel.Do(len(clients), len(clients), func(i int) error {
		do(clients[i])
		return nil
	})
}

func every(pause time.Duration, over <-chan struct{}, f func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			f()
		}
	}
}

func (l *Load) add(s sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
}

// count returns how many requests a condition holds for.
func (l *Load) count(is func(sample) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.samples {
		if is(s) {
			n++
		}
	}
	return n
}

// Wrong returns how many answers were wrong.
func (l *Load) Wrong() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults
}

// Definite returns how many requests were sent from one time to another, and the share of them whose answer tells what
// became of the request. The zero time is the beginning or the end.
func (l *Load) Definite(from, to time.Time) (share float64, requests int) {
	during := func(s sample) bool { return !s.at.Before(from) && (to.IsZero() || s.at.Before(to)) }
	requests = l.count(during)
	return float64(l.count(func(s sample) bool { return s.definite && during(s) })) / float64(max(1, requests)), requests
}

// String is a summary, with the first faults.
func (l *Load) String() string {
	share, requests := l.Definite(time.Time{}, time.Time{})
	return fmt.Sprintf("%d requests, %d of them writes; %.2f %% of the answers definite, %d not applied, %d repeated; "+
		"%d times an order in an answer or a list checked, %d faults\n%s", requests, l.count(func(s sample) bool { return s.write }), 100*share,
		l.count(func(s sample) bool { return s.outcome == orderservice.NotApplied }), l.count(func(s sample) bool { return s.repeat }),
		l.checks, l.faults, strings.Join(l.shown, "\n"))
}
