package load

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

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
