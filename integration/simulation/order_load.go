package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
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

	open sync.Mutex
	owed []debt // what killed clients were at
}

// debt is a write that somebody has to finish.
type debt struct {
	noted  int
	at     int64
	change tables.Change
}

func newOrderLoad(w *world, s service, index uint64, share int) (*orderLoad, error) {
	l := &orderLoad{crew: newCrew(w, s, index, share), history: history.New[orders.Order](nil)}
	random := chance(w.Seed, index, 1)
	p, err := boot(context.Background(), w.cluster, s.keyspace, 0, s.mode)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for range things {
		o := l.order(random)
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
func (l *orderLoad) order(random *rand.Rand) orders.Order {
	var user gocql.UUID
	for i := range user {
		user[i] = byte(random.Uint32())
	}
	id := gocql.TimeUUIDWith(int64(random.Uint64()>>4), random.Uint32(), user[:6])
	return orders.Order{OrderID: id, UserID: user, Status: orders.Open, Total: inf.NewDec(int64(l.next()), 2)}
}

func (l *orderLoad) run(ctx context.Context) { l.work(ctx, l.client) }

func (l *orderLoad) client(ctx context.Context, name string, random *rand.Rand) {
	var ahead []orders.Order
	for l.take() {
		p := l.current(ctx)
		if random.IntN(4) == 0 {
			o := l.order(random)
			l.write(ctx, p, name, random, tables.Insert, o, 0, orders.Orders.Insert(o))
			continue
		}
		if len(ahead) == 0 {
			for range 1 + random.IntN(3) {
				ahead = append(ahead, l.before(p, random))
			}
		}
		before := ahead[0]
		ahead = ahead[1:]
		after := before
		after.Status = orders.Statuses[random.IntN(len(orders.Statuses))]
		after.Total = inf.NewDec(int64(l.next()), 2)
		l.write(ctx, p, name, random, tables.Update, after, before.UpdatedAt, orders.Orders.Update(before, after))
	}
}

// before reads one of the orders that all change.
func (l *orderLoad) before(p *process, random *rand.Rand) orders.Order {
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

// write writes, and brings that to the end that the service is for.
func (l *orderLoad) write(
	ctx context.Context, p *process, name string, random *rand.Rand, kind tables.Kind, row orders.Order, stamp int64, change tables.Change,
) {
	number := l.next()
	at := max(time.Now().Add(time.Duration(random.Int64N(int64(2*skew)))-skew).UnixMicro(), stamp+1+random.Int64N(1000))
	l.weather.begin(at, number)
	noted := l.history.BeginAt(name, kind, row, at)
	l.doom(p, random)
	l.meets(number)
	w := impatient(p.writer.With(writer.At(at)), random)
	result, err := w.Write(p.ctx, "changeOrder", change)
	for tries := 0; ; tries++ {
		l.meets(number)
		if p.killed() {
			l.weather.note("client killed", number)
			if !l.service.finish {
				return
			}
			p = l.current(ctx) // whoever asked for it asks again
			l.history.Again(noted)
			result, err = p.writer.With(writer.At(at)).Write(p.ctx, "changeOrder", change)
			continue
		}
		l.history.End(noted, result.Timestamp, err)
		var failed *writer.Error
		switch {
		case err == nil:
			return
		case !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) || errors.Is(err, writer.ErrExpired):
			l.trouble(fmt.Errorf("%s: %w", name, err))
			return
		case !l.service.finish || failed.NotApplied() && random.IntN(2) == 0:
			return
		case tries > 200:
			l.trouble(fmt.Errorf("%s: not finished after %d tries: %w", name, tries, err))
			return
		}
		rest(random)
		l.history.Again(noted)
		result, err = p.writer.Resume(p.ctx, failed)
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
