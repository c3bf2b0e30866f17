package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reader"
)

const (
	wanted     = 10
	byReader   = "this library"
	unmerged   = "ten reads, not merged"
	oneAtATime = "one partition after the other"
)

const (
	inBucket  = `SELECT stream, ts, value, note FROM measurements WHERE stream = ? AND hour = ? AND bucket = ?`
	inBuckets = `SELECT stream, ts, value, note FROM measurements WHERE stream = ? AND hour = ? AND bucket IN ? ORDER BY ts DESC`
)

var allBuckets = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}

// each reads the rows of a query by hand.
func each(q *gocql.Query, yield func(Measurement) error) error {
	iter := q.Iter()
	for m := (Measurement{}); iter.Scan(&m.Stream, &m.Ts, &m.Value, &m.Note); {
		if err := yield(m); err != nil {
			return err
		}
	}
	return iter.Close()
}

func all(q *gocql.Query) (rows []Measurement, err error) {
	err = each(q, func(m Measurement) error {
		rows = append(rows, m)
		return nil
	})
	return rows, err
}

// newestOf reads the ten newest rows of one bucket of the last hour.
func (st *stream) newestOf(ctx context.Context, bucket int) ([]Measurement, error) {
	return all(st.session.Reads().Query(inBucket+" LIMIT 10", streamName, st.hour(hours-1), bucket).WithContext(ctx))
}

// concurrently reads all buckets of the last hour at once.
func (st *stream) concurrently(ctx context.Context) ([]Measurement, error) {
	var rows [buckets][]Measurement
	err := parallel.Do(buckets, buckets, func(b int) (err error) {
		rows[b], err = st.newestOf(ctx, b)
		return err
	})
	return slices.Concat(rows[:]...), err
}

func newer(a, b Measurement) int {
	return -cmp.Or(a.Ts.Time().Compare(b.Ts.Time()), bytes.Compare(a.Ts[:], b.Ts[:]))
}

type newestContender struct {
	name     string
	rows     int // that it reads
	read     func(context.Context) ([]Measurement, error)
	p50, p95 figure // in milliseconds
}

func (st *stream) newestContenders() []newestContender {
	q := st.all().OrderBy("ts DESC").Limit(wanted)
	return []newestContender{
		{name: byReader, rows: wanted, read: func(ctx context.Context) ([]Measurement, error) {
			rows, _, err := reader.List(ctx, st.reader, "newest", q)
			return rows, err
		}},
		{name: unmerged, rows: wanted * buckets, read: st.concurrently},
		{name: "by hand: goroutines, sorted", rows: wanted, read: func(ctx context.Context) ([]Measurement, error) {
			rows, err := st.concurrently(ctx)
			slices.SortFunc(rows, newer)
			return rows[:min(wanted, len(rows))], err
		}},
		{name: "one IN of ten buckets", rows: wanted, read: func(ctx context.Context) ([]Measurement, error) {
			return all(st.session.Reads().Query(inBuckets+" LIMIT 10", streamName, st.hour(hours-1), allBuckets).PageSize(0).WithContext(ctx))
		}},
		{name: "one read of one bucket", rows: wanted, read: func(ctx context.Context) ([]Measurement, error) { return st.newestOf(ctx, 0) }},
	}
}

func (st *stream) measureNewest(ctx context.Context) ([]newestContender, error) {
	contenders := st.newestContenders()
	var first []Measurement
	for round := range st.newestRounds + 1 {
		progress("newest, round %d of %d", round, st.newestRounds)
		took := make([][]time.Duration, len(contenders))
		for range st.times { // a turn of each, not many of one: what the machine does meanwhile meets them all
			for _, i := range rand.Perm(len(contenders)) {
				start := time.Now()
				rows, err := contenders[i].read(ctx)
				took[i] = append(took[i], time.Since(start))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", contenders[i].name, err)
				}
				if len(rows) != contenders[i].rows {
					return nil, fmt.Errorf("%s: %d rows", contenders[i].name, len(rows))
				}
				switch {
				case i == 0 && first == nil:
					first = rows
				case first != nil && (i == 0 || i == 2 || i == 3) && !slices.Equal(rows, first):
					return nil, fmt.Errorf("%s: other rows than %s", contenders[i].name, byReader)
				}
			}
		}
		if round == 0 { // it prepares statements and warms the servers
			continue
		}
		for i := range contenders {
			slices.Sort(took[i])
			contenders[i].p50.add(percentile(took[i], 50))
			contenders[i].p95.add(percentile(took[i], 95))
		}
	}
	return contenders, nil
}
