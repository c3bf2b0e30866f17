package main

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/writer"
)

const (
	latencyCalls = 500
	latencyTime  = 8 * time.Second // on a machine so slow that the calls would take longer, there are fewer
)

// showLatency measures createOrder in both of its modes, in turns, so that both meet the same machine.
func showLatency(ctx context.Context, out *screen, s *shop) error {
	out.heading("What a write costs", "A fan-out sends its inserts at the same time, so it costs what its slowest insert "+
		"costs. A logged batch goes through the batchlog, and is completed even if the client dies.")
	fanOut, logged := new(recorder), new(recorder)
	concurrently := s.w.With(writer.Trace(fanOut))
	batched := s.w.With(writer.Logged(), writer.Trace(logged))
	bar := out.progress("measuring", latencyCalls)
	calls := 0
	for began := time.Now(); calls < latencyCalls && time.Since(began) < latencyTime; calls++ {
		for _, w := range []*writer.Writer{concurrently, batched} {
			if _, err := createOrder(ctx, w); err != nil {
				return err
			}
		}
		bar.add()
	}
	out.clear()

	rest := make([]time.Duration, len(fanOut.whole))
	for i := range rest {
		rest[i] = fanOut.whole[i] - fanOut.slowest[i]
	}
	var rows [][]cell
	for _, r := range []struct {
		what   string
		values []time.Duration
		style  style
	}{
		{"createOrder as a fan-out", fanOut.whole, bold},
		{"  its slowest insert, in the same calls", fanOut.slowest, bold},
		{"  everything else in the same calls", rest, plain},
		{"createOrder as a logged batch", logged.whole, plain},
	} {
		rows = append(rows, []cell{
			{r.what, plain}, {milliseconds(percentile(r.values, 50)), r.style}, {milliseconds(percentile(r.values, 99)), r.style},
		})
	}
	out.table([]string{"", "p50", "p99"}, []bool{1: true, 2: true}, rows)
	out.blank()
	out.say("Measured here and now: %s calls each, one at a time, in turns.", number(calls))
	if s.nodes == 1 {
		out.say("One node keeps the batchlog itself; in a larger cluster other nodes store a batch first.")
	}
	return nil
}
