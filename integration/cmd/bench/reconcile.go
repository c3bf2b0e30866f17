package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
)

// reconcileBench reads all tables of orders: by hand, and as Verify and Repair do.
type reconcileBench struct {
	orders, rounds, lookups int
	profile                 string
}

func (b *reconcileBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.orders, "orders", 200_000, "how many orders")
	f.IntVar(&b.rounds, "rounds", 7, "how many rounds")
	f.IntVar(&b.lookups, "lookups", 1, "in how many of them rows are looked up one by one, which takes long")
	f.StringVar(&b.profile, "cpuprofile", "", "file for a CPU profile of Verify")
}

func (b *reconcileBench) schema() *schema.Schema { return orders.Schema }

// tableReader reads all rows of all tables in some way, and gives how many there were.
type tableReader struct {
	name     string
	rounds   int
	read     func(ctx context.Context) (rows int, err error)
	rows     figure // a second
	live     figure // MB of the heap, the most after any collection
	relative figure // of the scan by hand of the same round
}

const (
	byHandScan = "scan by hand"
	inFlight   = 8
)

func (b *reconcileBench) run(ctx context.Context, p *place) (map[string]string, error) {
	if err := b.load(ctx, p); err != nil {
		return nil, err
	}
	r, err := reconcile.New(p.admin, reconcile.InFlight(inFlight), reconcile.Target(time.Minute))
	if err != nil {
		return nil, err
	}
	list := []*tableReader{
		{name: byHandScan, rounds: b.rounds, read: byHandReader(p.admin.Reads(), false)},
		{name: "scan by hand, with WRITETIMEs and TTL", rounds: b.rounds, read: byHandReader(p.admin.Reads(), true)},
		{name: "Verify", rounds: b.rounds, read: func(ctx context.Context) (int, error) {
			return counted(r.Verify(ctx, orders.Orders))
		}},
		{name: "Repair, DryRun", rounds: b.rounds, read: func(ctx context.Context) (int, error) {
			return counted(r.Repair(ctx, orders.Orders, reconcile.DryRun()))
		}},
		{name: "Repair, DryRun, Lookup", rounds: b.lookups, read: func(ctx context.Context) (int, error) {
			return counted(r.Repair(ctx, orders.Orders, reconcile.DryRun(), reconcile.Lookup()))
		}},
	}
	for round := range b.rounds + 1 {
		progress("round %d of %d", round, b.rounds)
		for _, i := range rand.Perm(len(list)) {
			if c := list[i]; round == 0 && c.rounds == b.rounds || round > 0 && round <= c.rounds {
				if err := b.measure(ctx, c, round > 0); err != nil {
					return nil, fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		for _, c := range list {
			if len(c.rows) == round && round > 0 {
				c.relative.add(c.rows[round-1] / list[0].rows[round-1])
			}
		}
	}
	return map[string]string{"reconcile-benchmark.md": b.report(list, p.hosts)}, nil
}

func counted(r *reconcile.Report, err error) (rows int, _ error) {
	if err != nil {
		return 0, err
	}
	for _, t := range r.Tables {
		rows += t.Rows
	}
	return rows, nil
}

// measure has everything read once. The first round prepares statements and warms the servers, and is not counted.
func (b *reconcileBench) measure(ctx context.Context, c *tableReader, counts bool) error {
	if b.profile != "" && c.name == "Verify" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	runtime.GC()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() { peak <- mostLive(done) }()
	start := time.Now()
	rows, err := c.read(ctx)
	took := time.Since(start)
	close(done)
	live := <-peak
	if err == nil && rows != b.orders*len(orderTables) {
		err = fmt.Errorf("%d rows, want %d", rows, b.orders*len(orderTables))
	}
	progress("%s: %d rows in %.1f s, %d MB", c.name, rows, took.Seconds(), live>>20)
	if counts {
		c.rows.add(float64(rows) / took.Seconds())
		c.live.add(float64(live) / (1 << 20))
	}
	return err
}

// mostLive is the largest live heap until done is closed.
func mostLive(done <-chan struct{}) (most uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64())
		select {
		case <-tick.C:
		case <-done:
			return most
		}
	}
}
