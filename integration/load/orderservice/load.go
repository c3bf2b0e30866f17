// Package load is the clients of an order service: it lets many of them create, change and read orders over HTTP, and holds
// the service to every answer that it gives.
//
// A client does as package orderservice tells it to. It makes a key for each write, and repeats what was answered with
// "unknown", or not at all, with the same key, at the next instance of the service, until it knows. Some of them give
// up when they are told "not applied", and expect that this is true.
//
// An order belongs to one client, so it knows at any time how the order must be. Each answer is compared with that as it
// comes, and in the end so are the order itself, the list of its user and the lists of all statuses: what was
// acknowledged is there, and nothing else is.
package load

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
)

// Config says how much load, on what.
type Config struct {
	// Targets are the base URLs of the instances of the service, such as http://127.0.0.1:8080.
	Targets []string
	// Clients work at the same time. 0 means 8.
	Clients int
	// Orders is how many are created at most, and Duration how long. What comes first ends the load; 0 means 1000 orders,
	// and 30 s. More than 5000 orders cannot be checked, as lists end there.
	Orders   int
	Duration time.Duration
	// Patience is how long a client repeats a request until it knows. 0 means one minute.
	Patience time.Duration
	// Seed makes the clients decide alike in every run.
	Seed uint64
	// Progress is called, by one goroutine at a time, with how many orders the clients are done with. It may be nil.
	Progress func(done int)
}

const maxOrders = 5000 // orderservice.MaxLimit

// withDefaults is the configuration with the defaults for what is 0.
func (c Config) withDefaults() (Config, error) {
	c.Clients, c.Orders = cmp.Or(c.Clients, 8), cmp.Or(c.Orders, 1000)
	c.Duration, c.Patience = cmp.Or(c.Duration, 30*time.Second), cmp.Or(c.Patience, time.Minute)
	if c.Progress == nil {
		c.Progress = func(int) {}
	}
	switch {
	case len(c.Targets) == 0:
		return c, errors.New("load: no targets")
	case c.Clients < 1 || c.Clients > 1000:
		return c, errors.New("load: the number of clients must be from 1 to 1000")
	case c.Orders < 1 || c.Orders > maxOrders:
		return c, errors.New("load: the number of orders must be from 1 to 5000")
	case c.Duration < 0 || c.Patience < 0:
		return c, errors.New("load: times must not be negative")
	}
	return c, nil
}

// Run lets the clients work, checks what they were told, and reports. Wrong answers are in the report; the error says
// that ctx ended, or that the end state could not be read.
func Run(ctx context.Context, config Config) (*Report, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: config.Clients, MaxIdleConns: config.Clients * len(config.Targets)}
	defer transport.CloseIdleConnections()
	l := &load{
		Config: config,
		report: &Report{began: time.Now()},
		http:   &http.Client{Transport: transport, Timeout: 30 * time.Second}, // above the service's own limit
	}
	customers := make([]*customer, config.Clients)
	var all sync.WaitGroup
	for i := range customers {
		customers[i] = newCustomer(l, uint64(i))
		all.Go(func() { customers[i].work(ctx) })
	}
	all.Wait()
	l.report.worked = time.Since(l.report.began)
	if err := ctx.Err(); err != nil {
		return l.report, err
	}
	return l.report, l.verify(ctx, customers)
}

// load is a run.
type load struct {
	Config
	report *Report
	http   *http.Client
	turn   atomic.Uint64 // of the targets

	taken atomic.Int64 // orders that clients have begun
	mu    sync.Mutex   // of Progress
	done  int
}

// take is whether another order is to be begun.
func (l *load) take() bool {
	return time.Since(l.report.began) < l.Duration && l.taken.Add(1) <= int64(l.Orders)
}

func (l *load) finished() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	l.Progress(l.done)
}

// customer is a client, with users and orders of its own.
type customer struct {
	*load
	rng    *rand.Rand
	users  []gocql.UUID
	orders []*order
}

const usersEach = 4

func newCustomer(l *load, number uint64) *customer {
	c := &customer{load: l, rng: rand.New(rand.NewPCG(l.Seed, number))}
	for range usersEach {
		c.users = append(c.users, gocql.MustRandomUUID()) // not seeded: the orders of earlier runs are still there
	}
	return c
}

func (c *customer) work(ctx context.Context) {
	for ctx.Err() == nil && c.take() {
		c.live(ctx)
		c.finished()
	}
}

// chance is true in so many of 100 cases.
func (c *customer) chance(percent int) bool { return c.rng.IntN(100) < percent }
