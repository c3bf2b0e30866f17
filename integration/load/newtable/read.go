package newtable

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	load "github.com/denorm-go/denorm/integration/load/orderservice"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// rejection is what package reader says of a table that is Hidden.
const rejection = "the table is Hidden until its backfill is complete"

// get reads, and says whether there was an answer. A process that has just ended gives none, or 503.
func (l *Load) get(ctx context.Context, t Target, path string, q *query, into any) (status int, text string, ok bool) {
	q.from = time.Now()
	status, text = l.send(ctx, t, load.Request{Method: http.MethodGet, Path: path}, into)
	q.to = time.Now()
	return status, text, status != 0 && status != http.StatusServiceUnavailable
}

// ByID checks an order.
func (l *Load) ByID(ctx context.Context, t Target, o *order) {
	var shown orderservice.Order
	q := query{table: "orders_by_id", user: o.user}
	switch status, text, ok := l.get(ctx, t, "/orders/"+o.id.String(), &q, &shown); {
	case !ok:
	case status == http.StatusOK:
		l.judgeOne(q, o, &shown)
	case status == http.StatusNotFound:
		l.judgeOne(q, o, nil)
	default:
		l.wrong("order %v: %d %s", o.id, status, text)
	}
}

// ByUser checks the orders of a user.
func (l *Load) ByUser(ctx context.Context, t Target, user gocql.UUID) bool {
	q := query{table: "orders_by_user", user: user}
	return l.list(ctx, t, fmt.Sprintf("/users/%v/orders?limit=%d", user, orderservice.MaxLimit), q)
}

// ByStatus checks the newest orders in a status.
func (l *Load) ByStatus(ctx context.Context, t Target, status orders.Status) bool {
	q := query{table: "orders_by_status", status: status, limit: 100}
	return l.list(ctx, t, fmt.Sprintf("/orders?status=%s&limit=%d", status, q.limit), q)
}

// ByUserAndStatus asks the new table: a process that does not know it has no such route, one in which it is Hidden rejects the query.
func (l *Load) ByUserAndStatus(ctx context.Context, t Target, user gocql.UUID, status orders.Status) bool {
	q := query{table: Table, user: user, status: status}
	path := fmt.Sprintf("/users/%v/orders/%s", user, status)
	if t.Stage == Shown {
		return l.list(ctx, t, path, q)
	}
	want, says := http.StatusNotFound, ""
	if t.Stage == Hidden {
		want, says = http.StatusNotImplemented, rejection
	}
	code, text, ok := l.get(ctx, t, path, &q, new(orderservice.List))
	switch {
	case !ok:
	case code != want || !strings.Contains(text, says):
		l.wrong("%s: a process of stage %s answered %d %s", Table, t.Stage, code, text)
	case t.Stage == Hidden:
		l.mu.Lock()
		l.turned++
		l.mu.Unlock()
	}
	return ok
}

func (l *Load) list(ctx context.Context, t Target, path string, q query) bool {
	var list orderservice.List
	status, text, ok := l.get(ctx, t, path, &q, &list)
	switch {
	case !ok:
	case status != http.StatusOK:
		l.wrong("%s: %d %s", q.table, status, text)
	default:
		l.judge(q, list.Orders)
	}
	return ok
}

// CheckAll asks a process for every list of every user, when nobody writes. It returns how many could not be had.
func (l *Load) CheckAll(ctx context.Context, t Target) (failed int) {
	count := func(ok bool) {
		if !ok {
			failed++
		}
	}
	for _, c := range l.clients {
		for _, user := range c.users {
			count(l.ByUser(ctx, t, user))
			for _, status := range orders.Statuses {
				count(l.ByUserAndStatus(ctx, t, user, status))
			}
		}
	}
	return failed
}
