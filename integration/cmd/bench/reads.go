package main

import (
	"context"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
)

// A stream of a day, in ten buckets an hour.
const (
	hours    = 24
	buckets  = 10
	streamed = 24_000
	scanned  = "one partition after the other, by hand"
)

var scans = []turn.Contender{
	scan(scanned, partitions(1)),
	scan("ten partitions at a time, by hand, not merged", partitions(buckets)),
	scan("reader.Read", func(ctx context.Context, p *turn.Place) (n int, err error) {
		q := reader.From(turn.Measurements, "measurements").Eq("stream", turn.StreamName).GtOrEq("ts", turn.Begins).Lt("ts", turn.Begins.Add(hours*time.Hour))
		for _, err := range reader.Read(ctx, p.Reader, "scan", q).All() {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}),
}

// scan makes a contender that reads the whole stream. The first one loads it.
func scan(name string, read func(context.Context, *turn.Place) (int, error)) turn.Contender {
	return turn.Contender{Name: name, Open: func(ctx context.Context, p *turn.Place) (turn.Prepare, error) {
		if err := loadStream(ctx, p); err != nil {
			return nil, err
		}
		return func(context.Context, int) (func(context.Context, int) error, error) {
			return func(ctx context.Context, want int) error {
				n, err := read(ctx, p)
				if err == nil && n != want {
					err = fmt.Errorf("%d rows, want %d", n, want)
				}
				return err
			}, nil
		}, nil
	}}
}

// loadStream writes the same rows whenever it is called.
func loadStream(ctx context.Context, p *turn.Place) error {
	if err := p.Ensure(ctx, schema.Sets(turn.Measurements)); err != nil {
		return err
	}
	return insertAll(ctx, p.Writer, turn.Measurements, func(yield func(turn.Measurement) bool) {
		for i := range streamed {
			if !yield(turn.MeasurementAt(i, hours*time.Hour/streamed)) {
				return
			}
		}
	})
}

// partitions reads all of them with the paging of the driver, so many at a time.
func partitions(atATime int) func(context.Context, *turn.Place) (int, error) {
	return func(ctx context.Context, p *turn.Place) (sum int, err error) {
		var rows [hours * buckets]int
		err = parallel.Do(atATime, len(rows), func(i int) error {
			iter := p.Session.Reads().Query(`SELECT stream, ts, value, note FROM measurements WHERE stream = ? AND hour = ? AND bucket = ?`,
				turn.StreamName, turn.Begins.Add(time.Duration(i/buckets)*time.Hour).Format("2006-01-02-15"), i%buckets).WithContext(ctx).Iter()
			for m := (turn.Measurement{}); iter.Scan(&m.Stream, &m.Ts, &m.Value, &m.Note); {
				rows[i]++
			}
			return iter.Close()
		})
		for _, n := range rows {
			sum += n
		}
		return sum, err
	}
}
