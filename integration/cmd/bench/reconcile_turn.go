package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
)

// rowReader reads or copies rows in some way, and gives how many there were.
type rowReader struct {
	name     string
	rounds   int
	want     int                         // rows, 0 if not all are read
	before   func(context.Context) error // not measured; may be nil
	read     func(context.Context) (rows int, err error)
	rows     figure // a second
	live     figure // MB of the heap, the most after any collection
	relative figure // of the first contender in the same round
}

// takeTurns measures contenders in rounds. The first round prepares statements and warms the servers, and is not counted.
func (b *reconcileBench) takeTurns(ctx context.Context, list []*rowReader) error {
	for round := range b.rounds + 1 {
		progress("round %d of %d", round, b.rounds)
		for _, i := range rand.Perm(len(list)) {
			if c := list[i]; round == 0 && c.rounds == b.rounds || round > 0 && round <= c.rounds {
				if err := b.turn(ctx, c, round > 0); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		for _, c := range list {
			if len(c.rows) == round && round > 0 {
				c.relative.add(c.rows[round-1] / list[0].rows[round-1])
			}
		}
	}
	return nil
}

// turn lets a contender read once.
func (b *reconcileBench) turn(ctx context.Context, c *rowReader, counts bool) error {
	if c.before != nil {
		if err := c.before(ctx); err != nil {
			return err
		}
	}
	stop, err := profile(b.profiles, c.name)
	if err != nil {
		return err
	}
	defer stop()
	runtime.GC()
	var rows int
	var took time.Duration
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	cpu := cpuTime()
	live := peak(func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}, func() {
		start := time.Now()
		rows, err = c.read(ctx)
		took = time.Since(start)
	})
	if err == nil && c.want != 0 && rows != c.want {
		err = fmt.Errorf("%d rows, want %d", rows, c.want)
	}
	progress("%s: %d rows in %.1f s, %.1f s of them CPU, %d MB", c.name, rows, took.Seconds(), (cpuTime() - cpu).Seconds(), live>>20)
	if counts {
		c.rows.add(float64(rows) / took.Seconds())
		c.live.add(float64(live) / (1 << 20))
	}
	return err
}

// lines are the lines of contenders in a report.
func lines(list []*rowReader) string {
	var rows strings.Builder
	for _, c := range list {
		if len(c.rows) > 0 {
			fmt.Fprintf(&rows, "| %s | %d | %s | %s | %s |\n", c.name, len(c.rows), c.rows.cell("%.0f"), c.relative.cell("%.2f x"), c.live.cell("%.0f MB"))
		}
	}
	return rows.String()
}
