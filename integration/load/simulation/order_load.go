package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// orderLoad moves orders between statuses, from before-images that other clients overtake, and creates new ones.
type orderLoad struct {
	*crew
	set     *tables.Set[Order]
	history *history.History[Order]
	hot     []Order
}

func newOrderLoad(c *crew, p *process, set *tables.Set[Order]) (*orderLoad, error) {
	l := &orderLoad{crew: c, set: set, history: history.New[Order](nil)}
	random := chance(c.Seed, c.index, 1)
	for n := range things {
		o := l.order(random, l.number(0, n))
		noted := l.history.Begin(c.service.name, tables.Insert, o)
		result, err := p.writer.Write(p.ctx, "createOrder", set.Insert(o))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		for row, key := range l.noted(o) {
			statement := "UPDATE " + strings.Replace(row, " WHERE", " SET notes = ? WHERE", 1)
			if err := p.session.Writes().Query(statement, append([]any{notes}, key...)...).Exec(); err != nil {
				return nil, err
			}
		}
		l.hot = append(l.hot, o)
	}
	return l, nil
}

// noted are the rows of an order that have the list, with their keys.
func (l *orderLoad) noted(o Order) map[string][]any {
	_, names := l.set.Select()
	out := map[string][]any{"orders_by_id WHERE " + strings.Join(names, " = ? AND ") + " = ?": tables.Must(l.set.Key(o))}
	if l.set == orderSet {
		out["orders_by_user WHERE user_id = ? AND order_id = ?"] = []any{o.UserID, o.OrderID}
	}
	return out
}

// order is a new one.
func (l *orderLoad) order(random *rand.Rand, number uint64) Order {
	user := uuid(random)
	id := gocql.TimeUUIDWith(int64(random.Uint64()>>4), random.Uint32(), user[:6])
	o := Order{OrderID: id, UserID: user, Total: inf.NewDec(int64(number), 2)}
	o.put(status(random))
	return o
}

// status is one of an order, or none.
func status(random *rand.Rand) *orders.Status {
	if n := random.IntN(len(orders.Statuses) + 1); n < len(orders.Statuses) {
		return &orders.Statuses[n]
	}
	return nil
}

func (l *orderLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		p := l.current(ctx)
		if random.IntN(4) == 0 {
			o := l.order(random, number)
			at := l.write(ctx, p, name, random, number, tables.Insert, o, 0, l.set.Insert(o))
			if o.UpdatedAt = at; at == 0 || random.IntN(3) > 0 {
				return
			}
			at = l.write(ctx, l.current(ctx), name, random, number|deleted, tables.Delete, o, at, l.set.Delete(o))
			if at != 0 && l.set == userOrderSet { // its id comes back under another base key
				o.UserID = uuid(random)
				l.write(ctx, l.current(ctx), name, random, number|again, tables.Insert, o, at, l.set.Insert(o))
			}
			return
		}
		before := l.before(random)
		after := before
		after.put(status(random))
		after.Total = inf.NewDec(int64(number), 2)
		if random.IntN(2) == 0 {
			rest(random) // others overtake it
		}
		l.write(ctx, p, name, random, number, tables.Update, after, before.UpdatedAt, l.set.Update(before, after))
	})
}

// before reads one of the orders that all change.
func (l *orderLoad) before(random *rand.Rand) Order {
	o := l.hot[random.IntN(len(l.hot))]
	_, names := l.set.Select()
	text := "SELECT status, bucket, total, notes, updated_at FROM " + l.service.keyspace + ".orders_by_id WHERE " +
		strings.Join(names, " = ? AND ") + " = ?"
	for {
		err := l.healthy.session.Reads().Query(text, tables.Must(l.set.Key(o))...).
			Consistency(gocql.LocalQuorum).Scan(&o.Status, &o.Bucket, &o.Total, &o.Notes, &o.UpdatedAt)
		if err == nil {
			return o
		}
		rest(random)
	}
}

// deleted marks the number of a write that deletes what another one has created. again marks one that creates it again.
const (
	deleted = 1 << 31
	again   = 1 << 30
)

// write writes, and leaves to the queue what fails, where it is to be brought to an end. It gives the timestamp of what
// was sent or will be, 0 if there is none.
func (l *orderLoad) write(
	ctx context.Context, p *process, name string, random *rand.Rand, number uint64, kind tables.Kind, row Order, stamp int64,
	change tables.Change,
) int64 {
	at := max(time.Now().Add(time.Duration(random.Int64N(int64(2*skew)))-skew).UnixMicro(), stamp+1+random.Int64N(1000))
	if l.service.wrong || !l.service.finish && random.IntN(2) == 0 { // the library chooses, and who is killed does not learn it
		at = 0
	}
	noted := l.history.BeginAt(name, kind, row, at)
	return l.send(ctx, p, random, row.OrderID, number, at, change, &attempts{
		told(l.crew, l.history, noted), func() { l.history.Again(noted) }, func() { l.history.Repeat(noted) },
	})
}

func (l *orderLoad) check(ctx context.Context, p *process, report *Report) error {
	contents, err := history.Read(ctx, p.session.Reads(), l.set)
	if err != nil {
		return err
	}
	found, err := history.Check(contents, l.history.Writes())
	if err != nil {
		return err
	}
	var faults []string
	diverging := make(map[string]int)
	for _, f := range found.Findings {
		if f.Kind.Diverges() && !l.service.whole() && f.Cause != history.None {
			diverging[fmt.Sprintf("%v, %v", f.Kind, f.Cause)]++
			continue
		}
		faults = append(faults, f.String())
	}
	for _, o := range l.hot {
		for row, key := range l.noted(o) {
			var got []string
			if err := p.session.Reads().Query("SELECT notes FROM "+row, key...).Consistency(gocql.All).Scan(&got); err != nil {
				return err
			}
			if !slices.Equal(got, notes) {
				faults = append(faults, fmt.Sprintf("Lists: the notes of order %v are %q, want %q: SELECT notes FROM %s", o.OrderID, got, notes, row))
			}
		}
	}
	report.add(l.crew, l.history.Count(), diverging, faults...)
	return nil
}

// mend repairs the tables once they have a default_time_to_live, and looks at them when it has passed. No row has
// expired, and the tables agree. Only orders that some table has from further ahead than [reconcile.Settle] are as they
// were, and those stay apart of which a delete from the future covers a row. An order whose time comes while the repair
// runs is either.
func (l *orderLoad) mend(ctx context.Context, p *process, report *Report) error {
	began := time.Now()
	before, newest, err := readOrders(ctx, p.session.Reads())
	if err != nil {
		return err
	}
	for _, table := range orderTables {
		l.cluster.Create(fmt.Sprintf("ALTER TABLE %s.%s WITH default_time_to_live = %d", l.service.keyspace, table, defaultTTL/time.Second))
	}
	r, err := reconcile.New(p.session, reconcile.MaxRemovals(1<<30), reconcile.OnRemoval(func(reconcile.Removal) error { return nil }))
	covered := make(map[string]bool)
	if err == nil {
		var repaired *reconcile.Report
		repaired, err = r.Repair(ctx, orderSet, reconcile.Rewrite()) // also rows that a delete shadows
		for f := range repaired.Findings() {
			covered[f.Entity()] = covered[f.Entity()] || f.Outcome == reconcile.Shadowed
		}
	}
	if err != nil && !errors.Is(err, reconcile.ErrDrift) {
		return err
	}
	ended := time.Now()
	<-time.After(defaultTTL + time.Minute)
	after, _, err := readOrders(ctx, p.session.Reads())
	if err != nil {
		return err
	}
	for id := range before {
		at := time.UnixMicro(newest[id]).Add(-settle)
		switch has, late := after[id], at.After(ended); {
		case covered["order_id = "+id.String()], !late && at.After(began) && has == before[id]:
		case late && has != before[id]:
			report.add(l.crew, nil, nil, fmt.Sprintf("repair of what is from too far ahead: order %v had %v, and has %v", id, before[id], has))
		case !late && (!has.agree() || has[0] == "" && before[id][0] != "" || before[id].agree() && has != before[id]):
			report.add(l.crew, nil, nil, fmt.Sprintf("repair: order %v had %v, and has %v", id, before[id], has))
		}
	}
	return nil
}

// settle is the default of [reconcile.Settle], and defaultTTL is longer than a repair takes.
const (
	settle     = 90 * time.Second
	defaultTTL = 10 * time.Minute
)

var orderTables = []string{"orders_by_id", "orders_by_user", "orders_by_status"}

// orderRows are the rows of an order, by table.
type orderRows [3]string

// orderRow is a row of any of the tables.
type orderRow struct {
	Order

	At int64 // WRITETIME of the total
}

func (r *orderRow) String() string {
	text, _ := json.Marshal(r) // never fails
	return string(text)
}

// agree says whether the rows are those of one base row, or none.
func (o orderRows) agree() bool {
	base, byUser, byStatus := o[0], o[1], o[2]
	if base == "" || strings.Contains(base, `"Status":null`) {
		return base == byUser && byStatus == ""
	}
	return base == byUser && byUser == byStatus
}

// readOrders reads the tables, and of each order the time of its newest cell, in microseconds.
func readOrders(ctx context.Context, session *gocql.Session) (orders map[gocql.UUID]orderRows, newest map[gocql.UUID]int64, err error) {
	orders, newest = make(map[gocql.UUID]orderRows), make(map[gocql.UUID]int64)
	for n, table := range orderTables {
		rows, err := history.All[orderRow](ctx, session, table, "order_id", "user_id", "status", "bucket", "total", "updated_at", "WRITETIME(total) AS at")
		if err != nil {
			return nil, nil, err
		}
		for _, r := range rows {
			o := orders[r.OrderID]
			o[n] += r.String()
			orders[r.OrderID], newest[r.OrderID] = o, max(newest[r.OrderID], r.At, r.UpdatedAt)
		}
	}
	return orders, newest, nil
}
