package main

import (
	"context"
	"slices"
	"time"

	"github.com/denorm-go/denorm/writer"
)

const (
	costCalls = 500
	costTime  = 8 * time.Second // on a slow machine there are fewer calls
)

// showCost measures createOrder in both of its modes, in turns, so that both meet the same machine.
func showCost(ctx context.Context, out *screen, s *shop) error {
	out.heading("What a write costs", "A fan-out sends its inserts at the same time, so it takes as long as the slowest of them. "+
		"A logged batch goes through Cassandra's batchlog, and is completed even if the client dies.")
	modes := []string{"createOrder as a fan-out", "createOrder as a logged batch"}
	writers := []*writer.Writer{s.w, s.w.With(writer.Logged())}
	took := make([][]time.Duration, len(modes))
	for began := time.Now(); len(took[0]) < costCalls && time.Since(began) < costTime; {
		for i, w := range writers {
			start := time.Now()
			if _, err := createOrder(ctx, w); err != nil {
				return err
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	rows := [][]string{{"", "p50", "p99"}}
	for i, values := range took {
		slices.Sort(values)
		rows = append(rows, []string{modes[i], milliseconds(values[len(values)/2]), milliseconds(values[len(values)*99/100])})
	}
	out.table(rows...)
	out.blank()
	out.say("Measured now: %s calls of each, one at a time, in turns.", number(len(took[0])))
	return nil
}
