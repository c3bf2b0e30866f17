package main

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/denorm-go/denorm/reader"
)

// throughput is what a contender for the whole stream does.
type throughput struct {
	name      string
	perSecond figure // rows
	heap      figure // MB, the most that was seen
}

type scanContender struct {
	name   string
	sorted bool
	read   func(ctx context.Context, yield func(Measurement) error) error
}

func (st *stream) scanContenders() []scanContender {
	return []scanContender{
		{byReader, true, func(ctx context.Context, yield func(Measurement) error) error {
			for row, err := range reader.Read(ctx, st.reader, "scan", st.all()).All() {
				if err != nil {
					return err
				}
				if err := yield(row); err != nil {
					return err
				}
			}
			return nil
		}},
		{oneAtATime, false, func(ctx context.Context, yield func(Measurement) error) error {
			for h := hours - 1; h >= 0; h-- {
				for b := range buckets {
					if err := st.bucket(ctx, h, b, yield); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"by hand: goroutines, a heap", true, func(ctx context.Context, yield func(Measurement) error) error {
			for h := hours - 1; h >= 0; h-- {
				if err := st.merged(ctx, h, yield); err != nil {
					return err
				}
			}
			return nil
		}},
		{"one IN an hour", true, func(ctx context.Context, yield func(Measurement) error) error {
			for h := hours - 1; h >= 0; h-- {
				q := st.session.Reads().Query(inBuckets, streamName, st.hour(h), allBuckets).PageSize(0).WithContext(ctx)
				if err := each(q, yield); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// bucket reads one partition with the driver's own paging.
func (st *stream) bucket(ctx context.Context, h, b int, yield func(Measurement) error) error {
	return each(st.session.Reads().Query(inBucket, streamName, st.hour(h), b).PageSize(1000).WithContext(ctx), yield)
}

// merged reads the buckets of an hour at once and merges them, as one writes it by hand.
func (st *stream) merged(ctx context.Context, h int, yield func(Measurement) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var rows [buckets]chan Measurement
	var errs [buckets]error
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for b := range buckets {
		rows[b] = make(chan Measurement, 100)
		wg.Go(func() {
			defer close(rows[b])
			errs[b] = st.bucket(ctx, h, b, func(m Measurement) error {
				select {
				case rows[b] <- m:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
	}
	var q queue
	take := func(b int) error {
		if m, ok := <-rows[b]; ok {
			heap.Push(&q, head{m, b})
			return nil
		}
		return errs[b]
	}
	for b := range buckets {
		if err := take(b); err != nil {
			return err
		}
	}
	for len(q) > 0 {
		top := heap.Pop(&q).(head) //nolint:forcetypeassert // it holds nothing else
		if err := yield(top.Measurement); err != nil {
			return err
		}
		if err := take(top.bucket); err != nil {
			return err
		}
	}
	return nil
}

type head struct {
	Measurement
	bucket int
}

type queue []head

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return newer(q[i].Measurement, q[j].Measurement) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(head)) } //nolint:forcetypeassert // it holds nothing else
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (st *stream) measureScans(ctx context.Context) ([]throughput, error) {
	contenders := st.scanContenders()
	out := make([]throughput, len(contenders))
	for round := range st.scanRounds {
		progress("scans, round %d of %d", round+1, st.scanRounds)
		for _, i := range rand.Perm(len(contenders)) {
			c := contenders[i]
			out[i].name = c.name
			rate, peak, err := st.scan(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			out[i].perSecond.add(rate)
			out[i].heap.add(peak)
		}
	}
	return out, nil
}

// scan reads everything once. The heap is looked at while that goes on.
func (st *stream) scan(ctx context.Context, c scanContender) (perSecond, megabytes float64, err error) {
	runtime.GC()
	done, peaks := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		var stats runtime.MemStats
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&stats)
			peak = max(peak, stats.HeapAlloc)
			select {
			case <-tick.C:
			case <-done:
				peaks <- peak
				return
			}
		}
	}()
	count := 0
	var last Measurement
	start := time.Now()
	err = c.read(ctx, func(m Measurement) error {
		if c.sorted && count > 0 && newer(last, m) >= 0 {
			return fmt.Errorf("row %d is not in order", count)
		}
		last = m
		count++
		return nil
	})
	took := time.Since(start)
	close(done)
	peak := <-peaks
	if err == nil && count != st.rows {
		err = fmt.Errorf("%d rows, want %d", count, st.rows)
	}
	return float64(count) / took.Seconds(), float64(peak) / (1 << 20), err
}
