package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reader"
)

// confirmedRead is what listing a status through the library is like: of the set that sweeps, of that of a single writer, and of the latter
// with Confirm.
type confirmedRead struct {
	status orders.Status
	limit  int
	rows   int
	took   [3][]time.Duration
}

// confirm lists each status in these ways, in random order within a round.
func (b *tombstoneBench) confirm(ctx context.Context, p *place) ([]confirmedRead, error) {
	r, err := reader.New(p.admin)
	if err != nil {
		return nil, err
	}
	var results []confirmedRead
	for _, status := range []orders.Status{orders.Shipped, orders.Paid, orders.Open, orders.Cancelled} {
		results = append(results, confirmedRead{status: status, limit: limit}, confirmedRead{status: status, limit: 5 * limit})
	}
	const warmUp = 10
	for round := range b.rounds + warmUp {
		for _, n := range rand.Perm(3 * len(results)) {
			x, how := &results[n/3], n%3
			set := ways[min(how, 1)]
			query := reader.From(set.orders, set.status).Eq("status", x.status).Limit(x.limit)
			if how == 2 {
				query = query.Confirm()
			}
			begin := time.Now()
			rows, _, err := reader.List(ctx, r, "list", query)
			took := time.Since(begin)
			if err != nil {
				return nil, fmt.Errorf("list %s of %s, confirmed: %t: %w", x.status, set.name, how == 2, err)
			}
			if how > 0 {
				x.rows = len(rows)
			}
			if round >= warmUp {
				x.took[how] = append(x.took[how], took)
			}
		}
	}
	return results, nil
}

// confirmedText is the section about them.
func (r sweeps) confirmedText() string {
	var b strings.Builder
	for _, x := range r.confirmed {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", x.status, x.rows, quantiles(x.took[0]), quantiles(x.took[1]), quantiles(x.took[2]))
	}
	return fmt.Sprintf(`## Confirmed reads

A query with `+"`Confirm`"+` (package reader) shows no ghosts of a `+"`SingleWriter`"+` set: it reads the base row of each row
too, up to 16 at the same time. The same tables after %d changes of status, by reader.List, each %d times, in random order:

| status | rows | `+"`OneOf`"+`: p50, p99 | `+"`SingleWriter`"+` | `+"`SingleWriter`"+` with `+"`Confirm`"+` |
| --- | --- | --- | --- | --- |
%s
`, r.changes, r.rounds, b.String())
}

func quantiles(latencies []time.Duration) string {
	sorted := slices.Sorted(slices.Values(latencies))
	return fmt.Sprintf("%.1f ms, %.1f ms", percentile(sorted, 50), percentile(sorted, 99))
}
