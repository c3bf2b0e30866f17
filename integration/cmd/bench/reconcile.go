package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/schema"
)

// reconcileBench compares what package reconcile does with what a service would write for the same.
type reconcileBench struct {
	orders, rounds        int
	limit, window, settle time.Duration
	warm                  time.Duration
	rate                  int
	pages, points, page   int
	parts, only, profiles string
	heap                  string

	loaded int64 // the timestamp of the orders
	shop   *shop // its state goes on from part to part
}

func (b *reconcileBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.orders, "orders", 200_000, "how many orders")
	f.IntVar(&b.rounds, "rounds", 7, "how many rounds")
	f.DurationVar(&b.limit, "limit", time.Minute, "for how long rows are looked up one by one, which would take long for all of them")
	f.DurationVar(&b.window, "window", 20*time.Second, "for how long latencies of the service are measured, of each contender in each round")
	f.DurationVar(&b.warm, "warm", 5*time.Minute, "for how long latencies do not count yet, besides one round: the nodes compile what they run")
	f.DurationVar(&b.settle, "settle", 15*time.Second, "option Settle of runs next to the service")
	f.IntVar(&b.rate, "rate", 200, "how many writes a second the service makes")
	f.IntVar(&b.pages, "pages", 10, "Rate of runs of Verify and Repair that are paced next to the service; a request is a page")
	f.IntVar(&b.page, "page", 100, "PageSize of runs that are paced next to the service")
	f.IntVar(&b.points, "points", 100, "Rate of a Backfill that is paced next to the service; most requests put a row")
	f.StringVar(&b.only, "only", "", "measure the service only next to runs whose name contains this")
	f.StringVar(&b.parts, "parts", "scan,backfill,latency,diff", "which parts to run")
	f.StringVar(&b.heap, "heap", "", "option -heap of the cluster, for the report")
	f.StringVar(&b.profiles, "cpuprofile", "", "folder for CPU profiles of scan and backfill: go tool pprof merges those of one contender")
}

func (b *reconcileBench) schema() *schema.Schema { return orders.Schema }

func (b *reconcileBench) run(ctx context.Context, p *place) (_ map[string]string, err error) {
	b.loaded = time.Now().Add(-time.Hour).UnixMicro()
	begin := time.Now()
	if err = drift.Load(ctx, p.admin.Writes(), b.orders, b.loaded, drift.Tables...); err != nil {
		return nil, err
	}
	progress("%d orders loaded in %.0f s", b.orders, time.Since(begin).Seconds())
	if b.shop, err = newShop(p.session, b.orders, b.loaded); err != nil {
		return nil, err
	}
	var sections []string
	for _, part := range []struct {
		name string
		run  func(context.Context, *place) (string, error)
	}{{"scan", b.runScan}, {"backfill", b.runBackfill}, {"latency", b.runLatency}, {"diff", b.runDiff}} {
		if !slices.Contains(strings.Split(b.parts, ","), part.name) {
			continue
		}
		section, err := part.run(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		progress("%s", section) // should a later part fail
		sections = append(sections, section)
	}
	return map[string]string{"reconcile-benchmark.md": b.report(sections, p.hosts)}, nil
}
