//go:build faults

package drift_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// rate is how many writes a second the service makes meanwhile. 200 would change each of 6,000 orders between the reads
// of two tables, and a run looks each of those up.
func rate() int {
	if *long {
		return 200
	}
	return 50
}

// service writes as an order service does: new orders, and changes of those that nothing is planted in. A write that
// fails is resumed until it is acknowledged.
type service struct {
	stop    func() // ends it
	group   sync.WaitGroup
	writes  atomic.Int64
	resumed atomic.Int64

	mu   sync.Mutex
	slow map[gocql.UUID]bool  // orders of writes that took longer than Settle, which are rightly found
	lost map[gocql.UUID]error // orders of writes that were not acknowledged in the end
}

func serve(t *testing.T, p *suite.Place, count, planted int, loaded int64, settle time.Duration) *service {
	t.Helper()
	over := make(chan struct{})
	s := &service{slow: make(map[gocql.UUID]bool), lost: make(map[gocql.UUID]error)}
	const workers = 100 // a write that takes less than half a second delays none
	for n := range workers {
		w := suite.NewWriter(t, p.Session)
		s.group.Go(func() {
			own := make([]orders.Order, 0, 100)
			tick := time.NewTicker(time.Second * workers / time.Duration(rate()))
			defer tick.Stop()
			for i := planted + n; ; i += workers {
				select {
				case <-over:
					return
				case <-tick.C:
				}
				var before, after orders.Order
				switch {
				case rand.IntN(3) == 0 || i >= count && len(own) == 0:
					after = orders.New(gocql.MustRandomUUID(), inf.NewDec(rand.Int64N(10_000), 2))
				case i < count:
					before = drift.Order(i, loaded)
				default:
					k := rand.IntN(len(own))
					before = own[k] // first: Delete overwrites it
					own = slices.Delete(own, k, k+1)
				}
				change := orders.Orders.Insert(after)
				if before.OrderID != (gocql.UUID{}) {
					after = before
					after.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
					change = orders.Orders.Update(before, after)
				}
				var ok bool
				if after.UpdatedAt, ok = s.write(w, change, after.OrderID, settle); ok && len(own) < cap(own) {
					own = append(own, after)
				}
			}
		})
	}
	s.stop = sync.OnceFunc(func() {
		close(over)
		s.group.Wait()
	})
	t.Cleanup(s.stop)
	return s
}

// write gives the timestamp of a write that was acknowledged.
func (s *service) write(w *writer.Writer, change tables.Change, id gocql.UUID, settle time.Duration) (at int64, ok bool) {
	s.writes.Add(1)
	begin := time.Now()
	res, err := w.Write(context.Background(), "serve", change)
	var failed *writer.Error
	for n := 0; errors.As(err, &failed) && failed.Resumable() && n < 60; n++ {
		s.resumed.Add(1)
		<-time.After(100 * time.Millisecond)
		res, err = w.Resume(context.Background(), failed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(begin) >= settle {
		s.slow[id] = true
	}
	if err != nil {
		s.lost[id] = err
	}
	return res.Timestamp, err == nil
}
