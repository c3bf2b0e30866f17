package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

const (
	// ordersPerWrite go through their lives together, as what is measured is reading: one logical write then has fifty
	// rows of the same partitions of the status table, which cost little more than one.
	ordersPerWrite = 50
	workers        = 8
)

// load creates orders and changes their status as often as wanted, give or take a worker's last chunk.
func (s *shop) load(ctx context.Context, set set, changes int) error {
	chunks := int(float64(changes)/changesPerOrder())/ordersPerWrite + 1
	var next, done atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	begin := time.Now()
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				chunk := next.Add(1)
				if chunk > int64(chunks) || failed.Load() != nil {
					return
				}
				if err := s.loadChunk(ctx, set, uint64(chunk), &done); err != nil {
					failed.Store(&err)
					return
				}
				if chunk%(int64(chunks)/10+1) == 0 {
					fmt.Fprintf(os.Stderr, "tombstones: %s: %d of %d changes after %.0f s\n", set.name, done.Load(), changes,
						time.Since(begin).Seconds())
				}
			}
		}()
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Fprintf(os.Stderr, "tombstones: %s: %d changes of %d orders in %.0f s\n", set.name, done.Load(), chunks*ordersPerWrite,
		time.Since(begin).Seconds())
	return nil
}

// loadChunk lets some orders live. Both sets get the same lives.
func (s *shop) loadChunk(ctx context.Context, set set, chunk uint64, done *atomic.Int64) error {
	random := rand.New(rand.NewPCG(1, chunk))
	rows := make([]order, ordersPerWrite)
	lives := make([][]orders.Status, ordersPerWrite)
	var inserts []tables.Change
	for i := range rows {
		rows[i] = order{OrderID: gocql.TimeUUID(), Status: orders.Open, Total: random.IntN(100_000)}
		lives[i] = drawLife(random)
		inserts = append(inserts, set.orders.Insert(rows[i]))
	}
	res, err := s.w.Write(ctx, "createOrders", inserts...)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].UpdatedAt = res.Timestamp
	}
	for step := 0; ; step++ {
		var updates []tables.Change
		for i := range rows {
			if step < len(lives[i]) {
				changed := rows[i]
				changed.Status = lives[i][step]
				updates = append(updates, set.orders.Update(rows[i], changed))
				rows[i] = changed
			}
		}
		if len(updates) == 0 {
			return nil
		}
		res, err := s.w.Write(ctx, "changeOrders", updates...)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].UpdatedAt = res.Timestamp
		}
		done.Add(int64(len(updates)))
	}
}
