package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// neighbour is what runs next to the service.
type neighbour struct {
	name string
	run  reconcileRun    // nil: nothing does
	took []time.Duration // by the service's writes of all rounds
	p99  figure          // ms, of each round
	rows figure          // a second
}

// percentile is that of the service's writes of all rounds, in ms. Those of single rounds are mostly about pauses of the nodes' garbage
// collectors, which some rounds have and others do not.
func (n *neighbour) percentile(p int) float64 {
	slices.Sort(n.took)
	return percentile(n.took, p)
}

// runLatency measures the service's writes next to runs that are paced.
func (b *reconcileBench) runLatency(ctx context.Context, p *place) (string, error) {
	r, err := reconcile.New(p.admin, reconcile.Settle(b.settle))
	if err != nil {
		return "", err
	}
	s := b.shop
	defer s.open(ctx, b.rate)()
	list := []*neighbour{
		{name: "nothing"},
		{name: "Verify", run: verify(r)},
		{name: "Repair", run: repair(r)},
		{name: "Backfill", run: backfill(r)},
		{name: fmt.Sprintf("Verify, Rate(%d)", b.pages), run: b.paced(verify(r), b.pages)},
		{name: fmt.Sprintf("Repair, Rate(%d)", b.pages), run: b.paced(repair(r), b.pages)},
		{name: fmt.Sprintf("Backfill, Rate(%d)", b.points), run: b.paced(backfill(r), b.points)},
	}
	list = slices.DeleteFunc(list, func(n *neighbour) bool {
		return n.run != nil && !strings.Contains(n.name, b.only)
	})
	warm := time.Now().Add(b.warm)
	for round := 0; round <= b.rounds; round++ {
		if time.Now().Before(warm) {
			round = 0
		}
		progress("latency: round %d of %d", round, b.rounds)
		for _, i := range rand.Perm(len(list)) {
			if err := list[i].measure(ctx, s, b.window, round > 0); err != nil {
				return "", fmt.Errorf("%s: %w", list[i].name, err)
			}
		}
	}
	return b.latencySection(list, len(s.unknown), s.writes), nil
}

func (b *reconcileBench) paced(run reconcileRun, rate int) reconcileRun {
	return func(ctx context.Context, more ...reconcile.Option) (*reconcile.Report, error) {
		return run(ctx, append(more, reconcile.Rate(rate), reconcile.PageSize(b.page))...)
	}
}

func verify(r *reconcile.Reconciler) reconcileRun {
	return func(ctx context.Context, more ...reconcile.Option) (*reconcile.Report, error) {
		return r.Verify(ctx, orders.Orders, more...)
	}
}

func repair(r *reconcile.Reconciler) reconcileRun {
	return func(ctx context.Context, more ...reconcile.Option) (*reconcile.Report, error) {
		return r.Repair(ctx, orders.Orders, append(more, reconcile.OnRemoval(func(reconcile.Removal) error { return nil }))...)
	}
}

// measure measures a window. A run that has read everything is begun again: while it only waits for Settle, it costs nothing.
func (n *neighbour) measure(ctx context.Context, s *shop, window time.Duration, counts bool) error {
	s.latencies()
	begin, rows, limit := time.Now(), 0, 0
	windowed, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	for windowed.Err() == nil {
		if n.run == nil {
			<-windowed.Done()
			continue
		}
		read := 0
		running, end := context.WithCancel(windowed)
		_, err := n.run(running, reconcile.OnProgress(func(p reconcile.Progress) {
			if read, limit = p.Rows, p.InFlight; p.Done >= 1 {
				end()
			}
		}))
		end()
		rows += read
		if err != nil && running.Err() == nil && !errors.Is(err, reconcile.ErrDrift) {
			return err
		}
	}
	took, all := time.Since(begin), s.latencies()
	if err := ctx.Err(); err != nil || len(all) == 0 {
		return errors.Join(err, errors.New("no write has ended"))
	}
	p50, p99 := percentile(all, 50), percentile(all, 99)
	progress("next to %s: p50 %.1f ms, p99 %.1f ms of %d writes, %.0f rows a second, limit %d", n.name, p50, p99, len(all), float64(rows)/took.Seconds(), limit)
	if counts {
		n.took = append(n.took, all...)
		n.p99.add(p99)
		n.rows.add(float64(rows) / took.Seconds())
	}
	return nil
}
