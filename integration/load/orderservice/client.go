package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// client writes orders of its own, one write after the other.
type client struct {
	*Load
	rng    *rand.Rand
	users  []gocql.UUID
	orders []*order // that are there, and may be changed by step
	only   *Target  // that it asks, if not any
	lives  bool     // it repeats acknowledged writes, and may give up those that are not applied
}

// chance is true in so many of 100 cases.
func (c *client) chance(percent int) bool { return c.rng.IntN(100) < percent }

// newKey makes a key, as any client can that makes UUIDs of version 1.
func newKey() gocql.UUID { return gocql.UUIDFromTime(time.Now()) }

// live creates an order and lets it come to some end.
func (c *client) live(ctx context.Context) {
	o := c.create(ctx, true)
	if o.id == (gocql.UUID{}) {
		return
	}
	c.byID(ctx, o)
	if c.chance(15) {
		c.change(ctx, o, orders.Shipped) // which is not allowed
	}
	switch {
	case c.chance(15): // it stays open
		return
	case c.chance(20):
		c.change(ctx, o, orders.Cancelled)
		return
	}
	paid := c.change(ctx, o, orders.Paid)
	if c.chance(10) {
		c.change(ctx, o, orders.Open) // a way that there is not
	}
	switch {
	case c.chance(60):
		c.change(ctx, o, orders.Shipped)
	case c.chance(30):
		c.change(ctx, o, orders.Cancelled)
	}
	if c.chance(10) {
		c.overtaken(ctx, o, paid)
	}
	c.byID(ctx, o)
}

// step makes one write of some order, and reads what it has written, where it is now and where it was.
func (c *client) step(ctx context.Context) {
	if len(c.orders) == 0 || c.chance(35) {
		c.readOwn(ctx, c.create(ctx, c.rng.IntN(3) == 0), "")
		return
	}
	n := c.rng.IntN(len(c.orders))
	o := c.orders[n]
	was := o.now().status
	next := map[orders.Status][]orders.Status{
		orders.Open: {orders.Paid, orders.Paid, orders.Cancelled},
		orders.Paid: {orders.Shipped, orders.Cancelled},
	}[was]
	stays := len(next) > 0 && c.rng.IntN(10) > 0
	if stays {
		c.change(ctx, o, next[c.rng.IntN(len(next))])
		stays = c.rng.IntN(5) > 0 // else it does not change from now on, so that there are such orders of every phase
	} else {
		c.remove(ctx, o)
	}
	if !stays {
		c.orders = append(c.orders[:n], c.orders[n+1:]...)
	}
	c.readOwn(ctx, o, was)
}

// create creates an order, which step never changes if it is to be kept.
func (c *client) create(ctx context.Context, keep bool) *order {
	o := &order{
		user: c.users[c.rng.IntN(len(c.users))], total: fmt.Sprintf("%d.%02d", c.rng.IntN(1000), c.rng.IntN(100)), kept: keep,
	}
	r := request{http.MethodPost, "/orders", fmt.Sprintf(`{"user_id": %q, "total": %q}`, o.user, o.total), newKey()}
	o.made = r.key.Timestamp()
	if c.write(ctx, o, r, orders.Open) && !keep {
		c.orders = append(c.orders, o)
	}
	return o
}

// change moves an order to a status, or is rejected.
func (c *client) change(ctx context.Context, o *order, to orders.Status) request {
	r := request{http.MethodPut, "/orders/" + o.id.String() + "/status", fmt.Sprintf(`{"status": %q}`, to), newKey()}
	if to == orders.Cancelled {
		r.method, r.path, r.body = http.MethodPost, "/orders/"+o.id.String()+"/cancel", ""
	}
	c.write(ctx, o, r, to)
	return r
}

func (c *client) remove(ctx context.Context, o *order) {
	path := fmt.Sprintf("/orders/%v?user=%v&updated_at=%d", o.id, o.user, o.now().since.UnixMicro())
	c.write(ctx, o, request{http.MethodDelete, path, "", newKey()}, "")
}

// write sends a write that gives an order a status, notes what became of it, and says whether it was acknowledged.
// Sometimes it sends an acknowledged write once more.
func (c *client) write(ctx context.Context, o *order, r request, to orders.Status) bool {
	may, known := o.allows(to), o.known()
	c.ask(o, state{status: to, since: keyTime(r.key), phase: *c.phase.Load()})
	a, open := c.resolve(ctx, r)
	switch {
	case a.success():
		if !may && known {
			c.wrong("order %v: %s %s is not allowed: %v", o.id, r.method, r.body, a)
		}
		id := o.id
		if id == (gocql.UUID{}) {
			id = a.order.OrderID
		}
		c.acknowledged(o, id)
		c.expect(o, a)
		if c.lives && c.chance(10) {
			if a, open := c.resolve(ctx, r); !open {
				c.expect(o, a)
			}
		}
		return true
	case open: // both may be found
		return false
	}
	c.withdraw(o)
	switch {
	case a.problem.Outcome == orderservice.NotApplied:
	case a.refused(orderservice.Transition) && (!may || !known):
		c.expect(o, a)
	default:
		c.wrong("order %v: %s %s: %v", o.id, r.method, r.body, a)
	}
	return false
}

// overtaken repeats an earlier change, which must not undo what came after it.
func (c *client) overtaken(ctx context.Context, o *order, r request) {
	if !o.known() || !o.now().since.After(keyTime(r.key)) {
		return
	}
	if a, open := c.resolve(ctx, r); !open {
		if !a.refused(orderservice.Superseded) && a.problem.Outcome != orderservice.NotApplied {
			c.wrong("order %v: an overtaken change: %v", o.id, a)
		}
		c.expect(o, a)
	}
}

// expect compares the order in an answer to a write with what is known of it.
func (c *client) expect(o *order, a answer) {
	now := time.Now()
	switch q := (query{table: "an answer", from: now, to: now}); {
	case a.problem.Order != nil:
		c.judgeOne(q, o, a.problem.Order)
	case a.status == http.StatusNoContent, a.problem.Outcome == orderservice.NotApplied: // it says nothing about the order
	case a.success():
		c.judgeOne(q, o, &a.order)
	default:
		c.wrong("order %v: %v", o.id, a)
	}
}

// keyTime is the time of a key as orders show it.
func keyTime(key gocql.UUID) time.Time { return time.UnixMicro(key.Time().UnixMicro()).UTC() }

// rejection is what package reader says of a table that is Hidden.
const rejection = "the table is Hidden until its backfill is complete"

// byID checks an order.
func (c *client) byID(ctx context.Context, o *order) {
	q := query{table: "orders_by_id", user: o.user}
	switch a, _, ok := c.get(ctx, "/orders/"+o.id.String(), &q); {
	case !ok:
	case a.status == http.StatusOK:
		c.judgeOne(q, o, &a.order)
	case a.status == http.StatusNotFound:
		c.judgeOne(q, o, nil)
	default:
		c.wrong("order %v: %v", o.id, a)
	}
}

// byUser checks the orders of a user.
func (c *client) byUser(ctx context.Context, user gocql.UUID) {
	c.list(ctx, fmt.Sprintf("/users/%v/orders?limit=%d", user, orderservice.MaxLimit), query{table: "orders_by_user", user: user})
}

// byStatus checks the newest orders in a status.
func (c *client) byStatus(ctx context.Context, status orders.Status, limit int) {
	q := query{table: "orders_by_status", status: status, limit: limit}
	c.list(ctx, fmt.Sprintf("/orders?status=%s&limit=%d", status, limit), q)
}

// byUserAndStatus asks the new table: a process that does not know it has no such route, one in which it is Hidden
// rejects the query.
func (c *client) byUserAndStatus(ctx context.Context, user gocql.UUID, status orders.Status) {
	c.list(ctx, fmt.Sprintf("/users/%v/orders/%s", user, status), query{table: Table, user: user, status: status})
}

func (c *client) list(ctx context.Context, path string, q query) {
	a, t, ok := c.get(ctx, path, &q)
	want, says := http.StatusOK, ""
	switch {
	case q.table == Table && t.Stage == Today:
		want = http.StatusNotFound
	case q.table == Table && t.Stage == Hidden:
		want, says = http.StatusNotImplemented, rejection
	}
	switch {
	case !ok:
	case a.status != want || !strings.Contains(a.text, says):
		c.wrong("%s: a process of stage %q answered %v", q.table, t.Stage, a)
	case want == http.StatusOK:
		c.judge(q, a.list.Orders)
	case want == http.StatusNotImplemented:
		c.mu.Lock()
		c.turned++
		c.mu.Unlock()
	}
}

// readOwn reads an order, and the lists of its user in its status and the one before.
func (c *client) readOwn(ctx context.Context, o *order, was orders.Status) {
	if o.id == (gocql.UUID{}) {
		return
	}
	c.byID(ctx, o)
	for _, status := range []orders.Status{o.now().status, was} {
		if status != "" {
			c.byUserAndStatus(ctx, o.user, status)
		}
	}
}

// look reads any list, of anybody.
func (c *client) look(ctx context.Context) {
	of := c.clients[c.rng.IntN(len(c.clients))]
	user, status := of.users[c.rng.IntN(len(of.users))], orders.Statuses[c.rng.IntN(len(orders.Statuses))]
	switch c.rng.IntN(6) {
	case 0:
		c.byUser(ctx, user)
	case 1:
		c.byStatus(ctx, status, 100)
	default:
		c.byUserAndStatus(ctx, user, status)
	}
}

// Check reads all orders, by id, by user and by status, and from the new table where the service shows it, when nobody
// writes.
func (l *Load) Check(ctx context.Context) {
	shown := (*l.targets.Load())[0].Stage == Shown
	l.all(l.clients, func(c *client) {
		for _, user := range c.users {
			for _, o := range l.orders[user] {
				if o.id != (gocql.UUID{}) { // without an id, the lists have to show it
					c.byID(ctx, o)
				}
			}
			c.byUser(ctx, user)
			for _, status := range orders.Statuses {
				if shown {
					c.byUserAndStatus(ctx, user, status)
				}
			}
		}
	})
	for _, status := range orders.Statuses {
		l.clients[0].byStatus(ctx, status, orderservice.MaxLimit)
	}
}
