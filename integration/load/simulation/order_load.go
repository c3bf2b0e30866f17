package simulation

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// orderLoad moves orders between statuses, from before-images that other clients overtake, and creates new ones.
type orderLoad struct {
	*crew
	history *history.History[Order]
	hot     []Order
}

func newOrderLoad(c *crew, p *process) (*orderLoad, error) {
	l := &orderLoad{crew: c, history: history.New[Order](nil)}
	random := chance(c.Seed, c.index, 1)
	for n := range things {
		o := l.order(random, l.number(0, n))
		noted := l.history.Begin(c.service.name, tables.Insert, o)
		result, err := p.writer.Write(p.ctx, "createOrder", orderSet.Insert(o))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		l.hot = append(l.hot, o)
	}
	return l, nil
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
			at := l.write(ctx, p, name, random, number, tables.Insert, o, 0, orderSet.Insert(o))
			if o.UpdatedAt = at; at != 0 && random.IntN(3) == 0 {
				l.write(ctx, l.current(ctx), name, random, number|deleted, tables.Delete, o, at, orderSet.Delete(o))
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
		l.write(ctx, p, name, random, number, tables.Update, after, before.UpdatedAt, orderSet.Update(before, after))
	})
}

// before reads one of the orders that all change.
func (l *orderLoad) before(random *rand.Rand) Order {
	o := l.hot[random.IntN(len(l.hot))]
	for {
		err := l.healthy.session.Reads().Query("SELECT user_id, status, bucket, total, updated_at FROM "+l.service.keyspace+".orders_by_id WHERE order_id = ?", o.OrderID).
			Consistency(gocql.LocalQuorum).Scan(&o.UserID, &o.Status, &o.Bucket, &o.Total, &o.UpdatedAt)
		if err == nil {
			return o
		}
		rest(random)
	}
}

// deleted marks the number of the write that deletes what another one has created.
const deleted = 1 << 31

// write writes, and leaves to the queue what fails, where it is to be brought to an end. It gives the timestamp of what was sent or
// will be, 0 if there is none.
func (l *orderLoad) write(
	ctx context.Context, p *process, name string, random *rand.Rand, number uint64, kind tables.Kind, row Order, stamp int64,
	change tables.Change,
) int64 {
	at := max(time.Now().Add(time.Duration(random.Int64N(int64(2*skew)))-skew).UnixMicro(), stamp+1+random.Int64N(1000))
	if !l.service.finish && random.IntN(2) == 0 { // the library chooses, and who is killed does not learn it
		at = 0
	}
	noted := l.history.BeginAt(name, kind, row, at)
	told := func(result writer.Result, err error) *writer.Error {
		err = l.Lie(err)
		l.history.End(noted, result.Timestamp, err)
		return l.failed(err)
	}
	return l.send(ctx, p, random, row.OrderID, number, at, change, &attempts{told, func() { l.history.Again(noted) }, func() { l.history.Repeat(noted) }})
}

func (l *orderLoad) finish(context.Context) {}

func (l *orderLoad) check(ctx context.Context, p *process, report *Report) error {
	contents, err := history.Read(ctx, p.session.Reads(), orderSet)
	if err != nil {
		return err
	}
	found, err := history.Check(orderSet, contents, l.history.Writes())
	if err == nil {
		report.orders(l, found)
	}
	return err
}
