// Package sample reads some rows of a table, in several places of the ring, one place after the other.
package sample

import (
	"context"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/retry"
)

// Reader reads samples.
type Reader struct {
	Reads   *gocql.Session
	Timeout time.Duration // of a request, which is sent once
	Places  int           // of the ring, a power of two
	Rows    int           // of each place, at most
	Pause   time.Duration // between two places
}

// Survey counts what is not as declared in rows of a table, whose default_time_to_live is ttl. It calls row with the
// cells of each, as [tablerow.Selected] selects them, until the next call. With an error it gives what was read before.
func (r *Reader) Survey(
	ctx context.Context, l tablerow.Layout, keyspace, table string, ttl time.Duration, row func(cells [][]byte),
) (seen tablerow.Survey, err error) {
	surveyor, retrier := tablerow.NewSurveyor(l), request.NewRetrier(retry.Policy{MaxAttempts: 1, AttemptTimeout: r.Timeout}, nil)
	surveyor.Default = ttl
	token := "token(" + strings.Join(l.Partition(), ", ") + ")"
	text := "SELECT " + strings.Join(tablerow.Selected(l), ", ") + " FROM " + table +
		" WHERE " + token + " > ? AND " + token + " <= ? LIMIT ?"
	low, width := int64(-1<<63), uint64(1<<63)/uint64(r.Places)*2
	for n := range r.Places {
		if n > 0 && r.Pause > 0 {
			if err := request.Sleep(ctx, r.Pause); err != nil {
				return seen, err
			}
		}
		high := low + int64(width-1)
		_, err := request.New(keyspace, nil).Do(ctx, &retrier, retry.Partition, func(ctx context.Context) error {
			q := r.Reads.Query(text, low, high, r.Rows).Consistency(l.Set.Level(gocql.LocalOne))
			return page(q.RetryPolicy(driver.NoRetry).WithContext(ctx), func(cells [][]byte, now time.Time) {
				if surveyor.Row(cells) {
					surveyor.Count(&seen, cells, now)
					row(cells)
				}
			})
		}, nil)
		if err != nil {
			return seen, err
		}
		low = high + 1
	}
	return seen, nil
}

func page(q *gocql.Query, row func(cells [][]byte, now time.Time)) error {
	iter, now := q.Iter(), time.Now()
	cells := make([]cell, len(iter.Columns()))
	dest := make([]any, len(cells))
	for i := range cells {
		dest[i] = &cells[i]
	}
	values := make([][]byte, len(cells))
	for iter.Scan(dest...) {
		for i := range cells {
			values[i] = cells[i]
		}
		row(values, now)
	}
	return iter.Close()
}

// cell scans the bytes of a value, which are those of the driver's buffer; nil for null.
type cell []byte

// UnmarshalCQL implements [gocql.Unmarshaler].
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*c = data
	return nil
}
