package load

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Phase is a part of the run, in which an order was written.
type Phase string

// The phases, in their order.
const (
	Before   Phase = "before the table"
	Deploy   Phase = "while it was deployed"
	Backfill Phase = "during the backfill"
	After    Phase = "afterwards"
)

// state is what an order is between two acknowledged writes.
type state struct {
	status orders.Status // empty: the order is not there
	since  time.Time     // as orders show it
	phase  Phase         // in which it was asked for
	asked  time.Time     // no answer before this has it
	over   time.Time     // when a later write was acknowledged: no request after this may have it. Zero: none was
}

// order is what its client knows of it: the writes that were asked for, but for those that are known to be rejected.
type order struct {
	user   gocql.UUID
	made   int64      // the time of its key, and so of its id
	id     gocql.UUID // zero until it is known
	total  string
	kept   bool  // never changed
	phase  Phase // in which it was created
	states []state
}

// possible are the states that a request of this time may find.
func (o *order) possible(from, to time.Time) (out []state) {
	for _, s := range o.states {
		if !s.asked.After(to) && (s.over.IsZero() || !s.over.Before(from)) {
			out = append(out, s)
		}
	}
	return out
}

// now is the state of an order of which all is known.
func (o *order) now() state { return o.states[len(o.states)-1] }

// known says whether all that was asked for has been answered.
func (o *order) known() bool {
	now := time.Now()
	return len(o.possible(now, now)) <= 1
}

// allows says whether the service has to allow a change, where all is known. The empty status deletes.
func (o *order) allows(to orders.Status) bool {
	if len(o.states) == 0 || to == "" {
		return true
	}
	switch is := o.now().status; to {
	case orders.Paid:
		return is == orders.Open
	case orders.Shipped:
		return is == orders.Paid
	case orders.Cancelled:
		return is == orders.Open || is == orders.Paid
	default:
		return false
	}
}

// judged is an answer about an order of which only one thing may be said.
type judged struct {
	made, written Phase
	status        orders.Status // empty: deleted
	shown         bool          // in the answer; else rightly not
}

// ledger is all that the clients know.
type ledger struct {
	mu     sync.Mutex
	orders map[gocql.UUID]map[int64]*order // by user, and by the time in their id
	list   []*order

	judged map[judged]int // of answers from the new table
	checks int            // orders in answers
	turned int            // queries of the new table that were rejected while it was Hidden
	faults int
	shown  []string // the first of them
}

func newLedger() *ledger {
	return &ledger{orders: make(map[gocql.UUID]map[int64]*order), judged: make(map[judged]int)}
}

func (l *ledger) wrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault(format, args...)
}

const mostShown = 15

func (l *ledger) fault(format string, args ...any) {
	if l.faults++; len(l.shown) < mostShown {
		l.shown = append(l.shown, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// ask notes a write that is about to be sent.
func (l *ledger) ask(o *order, s state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.asked = time.Now()
	if len(o.states) == 0 {
		o.phase, o.states = s.phase, []state{{phase: s.phase}} // until then it was not there
		if l.orders[o.user] == nil {
			l.orders[o.user] = make(map[int64]*order)
		}
		l.orders[o.user][o.made] = o
		l.list = append(l.list, o)
	}
	o.states = append(o.states, s)
}

// acknowledged notes that the last write of an order was. Whatever was open before is replaced.
func (l *ledger) acknowledged(o *order, id gocql.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.id = id
	for i := range o.states[:len(o.states)-1] {
		if o.states[i].over.IsZero() {
			o.states[i].over = time.Now()
		}
	}
}

// withdraw notes that the last write of an order is known to be in no table.
func (l *ledger) withdraw(o *order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.states = o.states[:len(o.states)-1]
}

// query is what was asked for, and when.
type query struct {
	table    string        // for messages
	user     gocql.UUID    // zero: of all users
	status   orders.Status // empty: in any
	limit    int           // 0: none
	from, to time.Time
}

// judge holds a list against what is known of all orders that belong into it.
func (l *ledger) judge(q query, list []orderservice.Order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shown := make(map[*order]int)
	for _, s := range list {
		o := l.orders[s.UserID][s.OrderID.Timestamp()]
		switch {
		case o == nil:
			l.fault("%s: order %v of user %v is there, and nobody created it", q.table, s.OrderID, s.UserID)
			continue
		case q.status != "" && s.Status != q.status, q.user != gocql.UUID{} && s.UserID != q.user:
			l.fault("%s: order %v, %s, of user %v is in the list of %v %s", q.table, s.OrderID, s.Status, s.UserID, q.user, q.status)
		}
		if shown[o]++; shown[o] == 2 {
			l.fault("%s: order %v is there twice", q.table, s.OrderID)
		}
		l.compare(q, o, s)
	}
	oldest := int64(-1) // what is not newer may be beyond the limit
	if q.limit > 0 && len(list) == q.limit {
		oldest = list[len(list)-1].OrderID.Timestamp()
	}
	for o := range l.of(q.user) {
		if o.made > oldest {
			l.place(q, o, shown[o] > 0)
		}
	}
}

// compare holds an order that is shown against what it may be.
func (l *ledger) compare(q query, o *order, s orderservice.Order) {
	l.checks++
	possible := o.possible(q.from, q.to)
	if !slices.ContainsFunc(possible, func(p state) bool { return p.status == s.Status && p.since.Equal(s.UpdatedAt) }) ||
		s.Total != o.total || o.id != (gocql.UUID{}) && s.OrderID != o.id {
		l.fault("%s: order %v is there as %v, total %s; it must be %v, total %s", q.table, s.OrderID,
			state{status: s.Status, since: s.UpdatedAt}, s.Total, possible, o.total)
	}
}

// judgeOne holds an answer about one order against what is known of it; nil says that there is none.
func (l *ledger) judgeOne(q query, o *order, shown *orderservice.Order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if shown != nil {
		l.compare(q, o, *shown)
	}
	l.place(q, o, shown != nil)
}

// of are the orders of a user, or all.
func (l *ledger) of(user gocql.UUID) iter.Seq[*order] {
	if user != (gocql.UUID{}) {
		return maps.Values(l.orders[user])
	}
	return slices.Values(l.list)
}

// place checks that an order which is not in the list of a query does not have to be, and counts what was judged of it.
func (l *ledger) place(q query, o *order, shown bool) {
	possible := o.possible(q.from, q.to)
	belongs := func(s state) bool { return s.status != "" && (q.status == "" || s.status == q.status) }
	if !shown && !slices.ContainsFunc(possible, func(s state) bool { return !belongs(s) }) {
		l.fault("%s: order %v is not in the list of user %v, status %q; it must be %v", q.table, o.id, q.user, q.status, possible)
	}
	if q.table == Table && len(possible) == 1 {
		l.judged[judged{o.phase, possible[0].phase, possible[0].status, shown}]++
	}
}

func (s state) String() string {
	if s.status == "" {
		return "absent"
	}
	return fmt.Sprintf("%s since %s", s.status, s.since.Format("15:04:05.000000"))
}
