package load

import (
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Each kind of wrong answer is found, and what a write in flight allows is not one.
func TestJudge(t *testing.T) {
	t.Parallel()
	user := gocql.MustRandomUUID()
	list := func(of ...orderservice.Order) []orderservice.Order { return of }
	with := func(o orderservice.Order, change func(*orderservice.Order)) orderservice.Order {
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		writes []orders.Status // each acknowledged; empty deletes
		asked  []orders.Status // and these are in flight
		status orders.Status   // that is asked for
		limit  int
		answer func(is, was orderservice.Order) []orderservice.Order
		wrong  int
	}{
		"there": {
			writes: []orders.Status{"open", "paid"}, status: "paid",
			answer: func(is, _ orderservice.Order) []orderservice.Order { return list(is) },
		},
		"not there": {
			writes: []orders.Status{"open"}, status: "open", wrong: 1,
			answer: func(_, _ orderservice.Order) []orderservice.Order { return nil },
		},
		"in the list of all, not there": {
			writes: []orders.Status{"open"}, wrong: 1,
			answer: func(_, _ orderservice.Order) []orderservice.Order { return nil },
		},
		"twice": {
			writes: []orders.Status{"open"}, status: "open", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order { return list(is, is) },
		},
		"where it was": {
			writes: []orders.Status{"open", "paid"}, status: "open", wrong: 1,
			answer: func(_, was orderservice.Order) []orderservice.Order { return list(was) },
		},
		"no longer where it was": {
			writes: []orders.Status{"open", "paid"}, status: "open",
			answer: func(_, _ orderservice.Order) []orderservice.Order { return nil },
		},
		"in the list of another status": {
			writes: []orders.Status{"open", "paid"}, status: "open", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order { return list(is) },
		},
		"deleted": {
			writes: []orders.Status{"open", ""}, status: "open", wrong: 1,
			answer: func(_, was orderservice.Order) []orderservice.Order { return list(was) },
		},
		"another total": {
			writes: []orders.Status{"open"}, status: "open", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order {
				return list(with(is, func(o *orderservice.Order) { o.Total = "2" }))
			},
		},
		"an older time": {
			writes: []orders.Status{"open"}, status: "open", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order {
				return list(with(is, func(o *orderservice.Order) { o.UpdatedAt = o.UpdatedAt.Add(-time.Second) }))
			},
		},
		"nobody's": {
			writes: []orders.Status{"open"}, status: "open", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order {
				return list(is, with(is, func(o *orderservice.Order) { o.OrderID = gocql.TimeUUID() }))
			},
		},
		"a move in flight, still there": {
			writes: []orders.Status{"open"}, asked: []orders.Status{"paid"}, status: "open",
			answer: func(is, _ orderservice.Order) []orderservice.Order { return list(is) },
		},
		"a move in flight, gone": {
			writes: []orders.Status{"open"}, asked: []orders.Status{"paid"}, status: "open",
			answer: func(_, _ orderservice.Order) []orderservice.Order { return nil },
		},
		"a move in flight, elsewhere": {
			writes: []orders.Status{"open"}, asked: []orders.Status{"paid"}, status: "shipped", wrong: 1,
			answer: func(is, _ orderservice.Order) []orderservice.Order {
				return list(with(is, func(o *orderservice.Order) { o.Status = "shipped" }))
			},
		},
		"beyond the limit": {
			writes: []orders.Status{"open"}, status: "open", limit: 1, wrong: 1, // that nobody created the newer one
			answer: func(is, _ orderservice.Order) []orderservice.Order {
				return list(with(is, func(o *orderservice.Order) { o.OrderID = gocql.TimeUUID() }))
			},
		},
	} {
		l, key := newLedger(), gocql.TimeUUID()
		o := &order{user: user, made: key.Timestamp(), total: "1"}
		var is, was orderservice.Order
		for n, status := range slices.Concat(c.writes, c.asked) {
			at := keyTime(key).Add(time.Duration(n) * time.Second)
			l.ask(o, state{status: status, since: at})
			if n < len(c.writes) {
				l.acknowledged(o, key)
				is, was = orderservice.Order{OrderID: key, UserID: user, Status: status, Total: "1", UpdatedAt: at}, is
			}
		}
		now := time.Now()
		l.judge(query{table: Table, user: user, status: c.status, limit: c.limit, from: now, to: now}, c.answer(is, was))
		if l.faults != c.wrong {
			t.Errorf("%s: %d faults %v", name, l.faults, l.shown)
		}
		if inFlight := len(c.asked) > 0; len(l.judged) > 0 == inFlight && c.limit == 0 {
			t.Errorf("%s: judged %v", name, l.judged)
		}
	}
}

// What was acknowledged before a request began is all that its answer may have; what is acknowledged while it is under
// way may be in it or not.
func TestPossible(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	o := &order{states: []state{{over: at(2)}, {status: "open", asked: at(1), over: at(4)}, {status: "paid", asked: at(3)}}}
	for _, c := range []struct {
		from, to int
		want     []orders.Status
	}{
		{0, 0, []orders.Status{""}},
		{0, 1, []orders.Status{"", "open"}},
		{0, 5, []orders.Status{"", "open", "paid"}},
		{3, 3, []orders.Status{"open", "paid"}},
		{5, 6, []orders.Status{"paid"}},
	} {
		var got []orders.Status
		for _, s := range o.possible(at(c.from), at(c.to)) {
			got = append(got, s.status)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}
