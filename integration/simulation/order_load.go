package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/integration/history"
	"github.com/denorm-go/denorm/integration/orders"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// orderLoad moves orders between statuses, from before-images that other clients overtake, and creates new ones.
type orderLoad struct {
	*crew
	history *history.History[orders.Order]
	hot     []orders.Order
}

func newOrderLoad(w *world, s service, index uint64, share int) (*orderLoad, error) {
	l := &orderLoad{crew: newCrew(w, s, index, share), history: history.New[orders.Order](nil)}
	random := chance(w.Seed, index, 1)
	p, err := boot(context.Background(), w.cluster, s.keyspace, 0, s.mode)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for n := range things {
		o := l.order(random, l.number(0, n))
		noted := l.history.Begin(s.name, tables.Insert, o)
		result, err := p.writer.Write(p.ctx, "createOrder", orders.Orders.Insert(o))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		l.hot = append(l.hot, o)
	}
	return l, nil
}

// order is a new one.
func (l *orderLoad) order(random *rand.Rand, number uint64) orders.Order {
	user := uuid(random)
	id := gocql.TimeUUIDWith(int64(random.Uint64()>>4), random.Uint32(), user[:6])
	return orders.Order{OrderID: id, UserID: user, Status: orders.Open, Total: inf.NewDec(int64(number), 2)}
}

func (l *orderLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		p := l.current(ctx)
		if random.IntN(4) == 0 {
			o := l.order(random, number)
			at := l.write(ctx, p, name, random, number, tables.Insert, o, 0, orders.Orders.Insert(o))
			if o.UpdatedAt = at; at != 0 && random.IntN(3) == 0 {
				l.write(ctx, l.current(ctx), name, random, number|deleted, tables.Delete, o, at, orders.Orders.Delete(o))
			}
			return
		}
		before := l.before(random)
		after := before
		after.Status = orders.Statuses[random.IntN(len(orders.Statuses))]
		after.Total = inf.NewDec(int64(number), 2)
		if random.IntN(2) == 0 {
			rest(random) // others overtake it
		}
		l.write(ctx, p, name, random, number, tables.Update, after, before.UpdatedAt, orders.Orders.Update(before, after))
	})
}

// before reads one of the orders that all change.
func (l *orderLoad) before(random *rand.Rand) orders.Order {
	o := l.hot[random.IntN(len(l.hot))]
	for {
		err := l.healthy.reads.Query("SELECT user_id, status, total, updated_at FROM "+l.service.keyspace+".orders_by_id WHERE order_id = ?", o.OrderID).
			Consistency(gocql.LocalQuorum).Scan(&o.UserID, &o.Status, &o.Total, &o.UpdatedAt)
		if err == nil {
			return o
		}
		rest(random)
	}
}

// deleted marks the number of the write that deletes what another one has created.
const deleted = 1 << 31

// write writes, and brings that to the end that the service is for. It gives the timestamp if that was acknowledged.
func (l *orderLoad) write(
	ctx context.Context, p *process, name string, random *rand.Rand, number uint64, kind tables.Kind, row orders.Order, stamp int64,
	change tables.Change,
) int64 {
	at := max(time.Now().Add(time.Duration(random.Int64N(int64(2*skew)))-skew).UnixMicro(), stamp+1+random.Int64N(1000))
	w := p.writer
	if !l.service.finish && random.IntN(2) == 0 { // the library chooses, and who is killed does not learn it
		at = 0
	} else {
		l.weather.begin(at, number)
		w = w.With(writer.At(at))
	}
	noted := l.history.BeginAt(name, kind, row, at)
	l.doom(p, random)
	l.meets(number)
	w = mood(w, random)
	result, err := w.Write(p.ctx, "changeOrder", change) //nolint:contextcheck // it ends with its process
	before := false                                      // a client that was killed has sent it before
	for tries := 0; ; tries++ {
		l.meets(number)
		if p.killed() {
			before = true
			l.weather.note("client killed", number)
			if !l.service.finish {
				return 0
			}
			p = l.current(ctx) // whoever asked for it asks again
			l.history.Again(noted)
			result, err = p.writer.With(writer.At(at)).Write(p.ctx, "changeOrder", change) //nolint:contextcheck // as before
			continue
		}
		err = l.Lie(err)
		l.history.End(noted, result.Timestamp, err)
		var failed *writer.Error
		switch {
		case err == nil:
			return result.Timestamp
		case !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) || errors.Is(err, writer.ErrExpired):
			l.trouble(fmt.Errorf("%s: %w", name, err))
			return 0
		case !l.service.finish || failed.NotApplied() && !before && random.IntN(2) == 0:
			return 0
		case tries > 200:
			l.trouble(fmt.Errorf("%s: not finished after %d tries: %w", name, tries, err))
			return 0
		}
		rest(random)
		l.history.Again(noted)
		result, err = p.writer.Resume(p.ctx, failed) //nolint:contextcheck // as before
	}
}

func (l *orderLoad) finish(context.Context) {}

func (l *orderLoad) check(ctx context.Context, report *Report) {
	p, err := boot(ctx, l.cluster, l.service.keyspace, 0, l.service.mode)
	if err != nil {
		l.trouble(err)
		return
	}
	defer p.close()
	contents, err := history.Read(ctx, p.reads, orders.Orders)
	if err == nil {
		var found *history.Report
		if found, err = history.Check(orders.Orders, contents, l.history.Writes()); err == nil {
			report.orders(l, found)
		}
	}
	if err != nil {
		l.trouble(fmt.Errorf("%s: %w", l.service.name, err))
	}
}
