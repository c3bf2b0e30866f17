package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// shop writes at a rate, as an order service does: of three writes one is a new order, the others change the status of one. It remembers
// the state of each order that was acknowledged last.
type shop struct {
	w      *writer.Writer
	loaded int
	at     int64 // of orders that were loaded

	mu      sync.Mutex
	acked   map[gocql.UUID]orders.Order
	unknown map[gocql.UUID]bool // not acknowledged: any state is right
	busy    map[gocql.UUID]bool
	own     []gocql.UUID // orders that it has made
	took    []time.Duration
	writes  int
}

func newShop(s *session.Session, loaded int, at int64) (*shop, error) {
	w, err := writer.New(s)
	return &shop{
		w: w, loaded: loaded, at: at, acked: make(map[gocql.UUID]orders.Order), unknown: make(map[gocql.UUID]bool), busy: make(map[gocql.UUID]bool),
	}, err
}

// open lets the shop write until it is closed, which waits for the writes in flight. Whether earlier ones are done or not, each begins at its time.
func (s *shop) open(ctx context.Context, rate int) (closeShop func()) {
	over, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		var group sync.WaitGroup
		defer group.Wait()
		for due := time.Now(); ; due = due.Add(time.Second / time.Duration(rate)) {
			select {
			case <-over:
				return
			case <-time.After(time.Until(due)):
			}
			group.Go(func() { s.write(ctx, due) })
		}
	}()
	return func() {
		close(over)
		<-closed
	}
}

// write makes a write that was due at some time, since when it is measured.
func (s *shop) write(ctx context.Context, due time.Time) {
	before, after := s.choose()
	change := orders.Orders.Insert(after)
	if before != nil {
		change = orders.Orders.Update(*before, after)
	}
	res, err := s.w.Write(ctx, "serve", change)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	s.took = append(s.took, time.Since(due))
	delete(s.busy, after.OrderID)
	if err != nil {
		s.unknown[after.OrderID] = true
		return
	}
	after.UpdatedAt = res.Timestamp
	s.acked[after.OrderID] = after
	if before == nil {
		s.own = append(s.own, after.OrderID)
	}
}

// choose gives what to write: a new order, or an order with its next state.
func (s *shop) choose() (before *orders.Order, after orders.Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch n := rand.IntN(3); {
		case n == 0:
			after = orders.New(gocql.MustRandomUUID(), inf.NewDec(rand.Int64N(10_000), 2))
			s.busy[after.OrderID] = true
			return nil, after
		case n == 1 && len(s.own) > 0:
			after = s.acked[s.own[rand.IntN(len(s.own))]]
		default:
			after = s.order(rand.IntN(s.loaded))
		}
		if !s.busy[after.OrderID] && !s.unknown[after.OrderID] {
			was := after
			for after.Status == was.Status {
				after.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
			}
			s.busy[after.OrderID] = true
			return &was, after
		}
	}
}

// order is the state of an order of those that were loaded.
func (s *shop) order(i int) orders.Order {
	o := drift.Order(i, s.at)
	if now, changed := s.acked[o.OrderID]; changed {
		return now
	}
	return o
}

// latencies are those since the last call, sorted.
func (s *shop) latencies() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.took
	s.took = nil
	slices.Sort(out)
	return out
}

// wrong counts the orders that tables have other rows of than was acknowledged last. The shop must be closed.
func (s *shop) wrong(ctx context.Context, on *session.Session) (int, error) {
	want := make(map[gocql.UUID]uint64)
	for i := range s.loaded {
		o := s.order(i)
		want[o.OrderID] = drift.Digest(o)
	}
	for _, id := range s.own {
		want[id] = drift.Digest(s.acked[id])
	}
	wrong := make(map[gocql.UUID]bool)
	for _, table := range drift.Tables {
		have, err := drift.Read(ctx, on.Reads(), table)
		if err != nil {
			return 0, err
		}
		for id, digest := range want {
			if have[id] != digest && !s.unknown[id] {
				wrong[id] = true
			}
		}
		for id := range have {
			if _, known := want[id]; !known && !s.unknown[id] {
				wrong[id] = true
			}
		}
	}
	return len(wrong), nil
}
