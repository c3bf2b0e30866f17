package load

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// newKey makes a key, as any client can that makes UUIDs of version 1.
func newKey() gocql.UUID { return gocql.UUIDFromTime(time.Now()) }

// live creates an order and lets it come to some end.
func (c *customer) live(ctx context.Context) {
	o := c.create(ctx)
	if o.exists != yes {
		return
	}
	c.look(ctx, o)
	if c.chance(15) {
		c.change(ctx, o, orders.Shipped) // which it must not let us do
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
	c.look(ctx, o)
}

// create creates an order, and sometimes once more by the same request.
func (c *customer) create(ctx context.Context) *order {
	key := newKey()
	o := &order{
		user: c.users[c.rng.IntN(len(c.users))], total: fmt.Sprintf("%d.%02d", c.rng.IntN(1000), c.rng.IntN(100)),
		made: key.Time(), now: state{orders.Open, KeyTime(key)},
	}
	c.orders = append(c.orders, o)
	r := Request{http.MethodPost, "/orders", fmt.Sprintf(`{"user_id": %q, "total": %q}`, o.user, o.total), key}
	a, open := c.resolve(ctx, r)
	switch {
	case open:
		o.exists = maybe
	case a.success():
		o.exists, o.id = yes, a.order.OrderID
		c.expect(o, "create", a)
	case a.problem.Outcome == orderservice.NotApplied:
		o.exists = no
	default:
		o.exists = maybe
		c.report.wrong("create: %v", a)
	}
	if o.exists == yes && c.chance(10) {
		if a, open := c.resolve(ctx, r); !open {
			c.expect(o, "create repeated", a)
		}
	}
	return o
}

// change moves an order to a status, or is rejected, and sometimes does so once more by the same request. It returns the
// request.
func (c *customer) change(ctx context.Context, o *order, to orders.Status) Request {
	key := newKey()
	r := Request{http.MethodPut, "/orders/" + o.id.String() + "/status", fmt.Sprintf(`{"status": %q}`, to), key}
	if to == orders.Cancelled {
		r = Request{http.MethodPost, "/orders/" + o.id.String() + "/cancel", "", key}
	}
	was := o.now.status
	a, open := c.resolve(ctx, r)
	switch {
	case open:
		o.open = append(o.open, state{to, KeyTime(key)})
		return r
	case a.problem.Outcome == orderservice.NotApplied:
		return r
	case a.refused(orderservice.Transition):
		if o.allows(to) && o.known() {
			c.report.wrong("order %v: from %s to %s: %v", o.id, was, to, a)
		}
		c.expect(o, "refused", a)
		return r
	case !a.success():
		c.report.wrong("order %v: from %s to %s: %v", o.id, was, to, a)
		return r
	case !o.allows(to) && o.known():
		c.report.wrong("order %v: from %s to %s: %v", o.id, was, to, a)
	}
	o.moved(state{to, KeyTime(key)})
	c.expect(o, "changed", a)
	if c.chance(10) {
		if a, open := c.resolve(ctx, r); !open {
			c.expect(o, "change repeated", a)
		}
	}
	return r
}

// overtaken repeats an earlier change, which must not undo what came after it.
func (c *customer) overtaken(ctx context.Context, o *order, r Request) {
	if !o.known() || !o.now.since.After(KeyTime(r.Key)) {
		return
	}
	if a, open := c.resolve(ctx, r); !open {
		if !a.refused(orderservice.Superseded) && a.problem.Outcome != orderservice.NotApplied {
			c.report.wrong("order %v: an overtaken change: %v", o.id, a)
		}
		c.expect(o, "overtaken", a)
	}
}

// look reads an order.
func (c *customer) look(ctx context.Context, o *order) {
	a, _ := c.resolve(ctx, Request{Method: http.MethodGet, Path: "/orders/" + o.id.String()})
	c.expect(o, "read", a)
}

// expect holds the order in an answer against what is known of it.
func (c *customer) expect(o *order, what string, a answer) {
	switch {
	case a.problem.Order != nil:
		a.order = *a.problem.Order
	case a.success():
	case !a.definite(), a.problem.Outcome == orderservice.NotApplied: // it says nothing about the order
		return
	default:
		c.report.wrong("order %v: %s: %v", o.id, what, a)
		return
	}
	c.report.check()
	if fault := o.wrong(a.order); fault != "" {
		c.report.wrong("order %v: %s: %s", o.id, what, fault)
	}
}
