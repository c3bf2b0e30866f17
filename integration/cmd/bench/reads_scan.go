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

type scanContender struct {
	name      string
	sorted    bool
	read      func(ctx context.Context, yield func(Measurement) error) error
	perSecond figure // rows
	heap      figure // MB, the most that was seen
}

func (st *stream) scanContenders() []scanContender {
	return []scanContender{
		{name: byReader, sorted: true, read: func(ctx context.Context, yield func(Measurement) error) error {
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
		{name: oneAtATime, read: hourly(func(ctx context.Context, h int, yield func(Measurement) error) error {
			for b := range buckets {
				if err := st.bucket(ctx, h, b, yield); err != nil {
					return err
				}
			}
			return nil
		})},
		{name: "by hand: goroutines, a heap", sorted: true, read: hourly(st.merged)},
		{name: "one IN an hour", sorted: true, read: hourly(func(ctx context.Context, h int, yield func(Measurement) error) error {
			return each(st.session.Reads().Query(inBuckets, streamName, st.hour(h), allBuckets).PageSize(0).WithContext(ctx), yield)
		})},
	}
}

// hourly reads one hour after the other, the newest first.
func hourly(
	read func(ctx context.Context, h int, yield func(Measurement) error) error,
) func(context.Context, func(Measurement) error) error {
	return func(ctx context.Context, yield func(Measurement) error) error {
		for h := hours - 1; h >= 0; h-- {
			if err := read(ctx, h, yield); err != nil {
				return err
			}
		}
		return nil
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

func (st *stream) measureScans(ctx context.Context) ([]scanContender, error) {
	contenders := st.scanContenders()
	for round := range st.scanRounds {
		progress("scans, round %d of %d", round+1, st.scanRounds)
		for _, i := range rand.Perm(len(contenders)) {
			if err := st.scan(ctx, &contenders[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[i].name, err)
			}
		}
	}
	return contenders, nil
}

// scan reads everything once. The heap is looked at while that goes on.
func (st *stream) scan(ctx context.Context, c *scanContender) (err error) {
	runtime.GC()
	count := 0
	var last Measurement
	var took time.Duration
	var stats runtime.MemStats
	most := peak(func() uint64 {
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}, func() {
		start := time.Now()
		err = c.read(ctx, func(m Measurement) error {
			if c.sorted && count > 0 && newer(last, m) >= 0 {
				return fmt.Errorf("row %d is not in order", count)
			}
			last = m
			count++
			return nil
		})
		took = time.Since(start)
	})
	if err == nil && count != st.rows {
		err = fmt.Errorf("%d rows, want %d", count, st.rows)
	}
	c.perSecond.add(float64(count) / took.Seconds())
	c.heap.add(float64(most) / (1 << 20))
	return err
}
