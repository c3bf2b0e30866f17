package newtable

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	load "github.com/denorm-go/denorm/integration/load/orderservice"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Target is a process that clients ask.
type Target struct {
	URL   string
	Stage Stage
}

// Load is the clients.
type Load struct {
	*ledger
	http    *http.Client
	targets atomic.Pointer[[]Target]
	phase   atomic.Pointer[Phase]
	clients []*client
	writes  atomic.Int64
	repeats atomic.Int64
}

// NewLoad makes so many clients, with orders of their own.
func NewLoad(clients int) *Load {
	l := &Load{ledger: newLedger(), http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: clients}, Timeout: 30 * time.Second,
	}}
	l.Enter(Before)
	for n := range clients {
		c := &client{Load: l, rng: rand.New(rand.NewPCG(1, uint64(n)))}
		for range usersEach {
			c.users = append(c.users, gocql.MustRandomUUID())
		}
		l.clients = append(l.clients, c)
	}
	return l
}

const usersEach = 3

// Enter begins a phase.
func (l *Load) Enter(p Phase) { l.phase.Store(&p) }

// Ask says whom to ask from now on.
func (l *Load) Ask(targets ...Target) {
	targets = slices.Clone(targets)
	l.targets.Store(&targets)
}

// Seed creates so many orders for each client, half of which are never changed.
func (l *Load) Seed(ctx context.Context, each int) {
	var all sync.WaitGroup
	for _, c := range l.clients {
		all.Go(func() {
			for n := range each {
				c.create(ctx, n%2 == 0)
			}
		})
	}
	all.Wait()
}

// Work lets all clients but the first make so many writes a second, and others read, until over is closed.
func (l *Load) Work(ctx context.Context, rate, readers int, over <-chan struct{}) {
	var all sync.WaitGroup
	work := l.clients[1:]
	for _, c := range work {
		all.Go(func() { every(time.Second*time.Duration(len(work))/time.Duration(rate), over, func() { c.write(ctx) }) })
	}
	for n := range readers {
		rng := rand.New(rand.NewPCG(2, uint64(n)))
		all.Go(func() { every(50*time.Millisecond, over, func() { l.look(ctx, rng) }) })
	}
	all.Wait()
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

// Mixed is what is left where two releases run side by side: the first client creates two orders by a process that writes the new table,
// and moves one and deletes the other by a process that does not.
func (l *Load) Mixed(ctx context.Context, with, without Target) {
	c := l.clients[0]
	for n := range 2 {
		c.only = &with
		o := c.create(ctx, false)
		c.only = &without
		if n == 0 {
			c.change(ctx, o, orders.Paid)
		} else {
			c.remove(ctx, o)
		}
	}
	c.only = nil
}

// client writes orders of its own, one write after the other.
type client struct {
	*Load
	rng    *rand.Rand
	users  []gocql.UUID
	orders []*order // that are there, and may be changed
	only   *Target  // that it asks, if not any
}

var next = map[orders.Status][]orders.Status{
	orders.Open: {orders.Paid, orders.Paid, orders.Cancelled},
	orders.Paid: {orders.Shipped, orders.Cancelled},
}

func (c *client) write(ctx context.Context) {
	var n int
	if len(c.orders) > 0 {
		n = c.rng.IntN(len(c.orders))
	}
	switch {
	case len(c.orders) == 0 || c.rng.IntN(100) < 35:
		c.create(ctx, c.rng.IntN(3) == 0)
	case len(next[c.orders[n].now().status]) == 0 || c.rng.IntN(10) == 0:
		o := c.orders[n]
		c.orders = append(c.orders[:n], c.orders[n+1:]...)
		c.remove(ctx, o)
	default:
		o := c.orders[n]
		to := next[o.now().status]
		c.change(ctx, o, to[c.rng.IntN(len(to))])
		if c.rng.IntN(5) == 0 { // it stays as it is from now on, so that there are such of every phase
			c.orders = append(c.orders[:n], c.orders[n+1:]...)
		}
	}
}

func (c *client) create(ctx context.Context, keep bool) *order {
	key := gocql.UUIDFromTime(time.Now())
	total := fmt.Sprintf("%d.%02d", c.rng.IntN(1000), c.rng.IntN(100))
	o := &order{user: c.users[c.rng.IntN(len(c.users))], made: key.Timestamp(), total: total, kept: keep}
	c.ask(o, state{status: orders.Open, since: load.KeyTime(key), phase: *c.phase.Load()})
	body := fmt.Sprintf(`{"user_id": %q, "total": %q}`, o.user, total)
	var shown orderservice.Order
	if !c.resolve(ctx, load.Request{Method: http.MethodPost, Path: "/orders", Body: body, Key: key}, &shown) {
		return o
	}
	c.acknowledged(o, shown.OrderID)
	if !keep {
		c.orders = append(c.orders, o)
	}
	c.readOwn(ctx, o, "")
	return o
}

func (c *client) change(ctx context.Context, o *order, to orders.Status) {
	key, was := gocql.UUIDFromTime(time.Now()), o.now().status
	c.ask(o, state{status: to, since: load.KeyTime(key), phase: *c.phase.Load()})
	body := fmt.Sprintf(`{"status": %q}`, to)
	if c.resolve(ctx, load.Request{Method: http.MethodPut, Path: "/orders/" + o.id.String() + "/status", Body: body, Key: key}, new(orderservice.Order)) {
		c.acknowledged(o, o.id)
		c.readOwn(ctx, o, was)
	}
}

func (c *client) remove(ctx context.Context, o *order) {
	key, was := gocql.UUIDFromTime(time.Now()), o.now()
	c.ask(o, state{since: load.KeyTime(key), phase: *c.phase.Load()})
	path := fmt.Sprintf("/orders/%v?user=%v&updated_at=%d", o.id, o.user, was.since.UnixMicro())
	if c.resolve(ctx, load.Request{Method: http.MethodDelete, Path: path, Key: key}, nil) {
		c.acknowledged(o, o.id)
		c.readOwn(ctx, o, was.status)
	}
}

// readOwn reads what the client has just written, where it is now and where it was.
func (c *client) readOwn(ctx context.Context, o *order, was orders.Status) {
	c.ByID(ctx, c.turn(), o)
	for _, status := range []orders.Status{o.now().status, was} {
		if status != "" {
			c.ByUserAndStatus(ctx, c.turn(), o.user, status)
		}
	}
}

// look reads any list, of anybody.
func (l *Load) look(ctx context.Context, rng *rand.Rand) {
	c := l.clients[rng.IntN(len(l.clients))]
	user, status := c.users[rng.IntN(len(c.users))], orders.Statuses[rng.IntN(len(orders.Statuses))]
	switch rng.IntN(6) {
	case 0:
		l.ByUser(ctx, l.any(rng), user)
	case 1:
		l.ByStatus(ctx, l.any(rng), status)
	default:
		l.ByUserAndStatus(ctx, l.any(rng), user, status)
	}
}

// turn is whom the client asks next.
func (c *client) turn() Target {
	if c.only != nil {
		return *c.only
	}
	return c.any(c.rng)
}

func (l *Load) any(rng *rand.Rand) Target {
	targets := *l.targets.Load()
	return targets[rng.IntN(len(targets))]
}

// patience is how long a write is repeated.
const patience = time.Minute

// resolve sends a write, to any process, until it is acknowledged.
func (c *client) resolve(ctx context.Context, r load.Request, into any) bool {
	c.writes.Add(1)
	began := time.Now()
	for {
		status, text := c.send(ctx, c.turn(), r, into)
		switch {
		case status >= 200 && status < 300 && status != http.StatusAccepted:
			return true
		case status >= 400 && status < 500:
			c.wrong("%s %s: %d %s", r.Method, r.Path, status, text)
			return false
		case time.Since(began) > patience || ctx.Err() != nil:
			c.wrong("%s %s: not acknowledged in %v: %d %s", r.Method, r.Path, patience, status, text)
			return false
		}
		c.repeats.Add(1)
		_ = sleep.For(ctx, 20*time.Millisecond) // the loop looks at ctx
	}
}

// send sends a request once. Status 0 is no answer.
func (l *Load) send(ctx context.Context, t Target, r load.Request, into any) (status int, text string) {
	status, body, err := r.Send(ctx, l.http, t.URL)
	if err == nil && into != nil && (status == http.StatusOK || status == http.StatusCreated) {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return 0, err.Error()
	}
	return status, string(body)
}
