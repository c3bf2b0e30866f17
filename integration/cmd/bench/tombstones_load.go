package main

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

const (
	// ordersPerWrite go through their lives together, as what is measured is reading: one logical write then has fifty
	// rows of the same partitions of the status table, which cost little more than one.
	ordersPerWrite = 50
	workers        = 8
)

// load creates orders and changes their status as often as wanted, give or take a worker's last chunk.
func (y way) load(ctx context.Context, w *writer.Writer) error {
	chunks := int(moves/changesPerOrder())/ordersPerWrite + 1
	var done atomic.Int64
	begin := time.Now()
	return parallel.Do(workers, chunks, func(i int) error {
		err := y.loadChunk(ctx, w, uint64(i+1), &done)
		if (i+1)%(chunks/10+1) == 0 || i == chunks-1 {
			progress("%s: %d of %d changes after %.0f s", y.name, done.Load(), moves, time.Since(begin).Seconds())
		}
		return err
	})
}

// loadChunk lets some orders live. They live alike in both sets.
func (y way) loadChunk(ctx context.Context, w *writer.Writer, chunk uint64, done *atomic.Int64) error {
	random := rand.New(rand.NewPCG(1, chunk))
	rows := make([]order, ordersPerWrite)
	lives := make([][]orders.Status, ordersPerWrite)
	var inserts []tables.Change
	for i := range rows {
		rows[i] = order{OrderID: gocql.TimeUUID(), Status: orders.Open, Total: random.IntN(100_000)}
		lives[i] = drawLife(random)
		inserts = append(inserts, y.orders.Insert(rows[i]))
	}
	write := func(op string, changes []tables.Change) error {
		res, err := w.Write(ctx, op, changes...)
		for i := range rows {
			rows[i].UpdatedAt = res.Timestamp
		}
		return err
	}
	if err := write("createOrders", inserts); err != nil {
		return err
	}
	for step := 0; ; step++ {
		var updates []tables.Change
		for i := range rows {
			if step < len(lives[i]) {
				changed := rows[i]
				changed.Status = lives[i][step]
				updates = append(updates, y.orders.Update(rows[i], changed))
				rows[i] = changed
			}
		}
		if len(updates) == 0 {
			return nil
		}
		if err := write("changeOrders", updates); err != nil {
			return err
		}
		done.Add(int64(len(updates)))
	}
}
