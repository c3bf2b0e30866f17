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
	Reads  *gocql.Session
	Places int           // of the ring, a power of two
	Rows   int           // of each place, at most
	Pause  time.Duration // between two places

	retrier request.Retrier
}

// New makes a Reader whose requests may take a time, and are sent once.
func New(reads *gocql.Session, timeout time.Duration) *Reader {
	return &Reader{Reads: reads, retrier: request.NewRetrier(retry.Policy{MaxAttempts: 1, AttemptTimeout: timeout}, nil)}
}

// Each calls row with the cells of each row that is read of a table, as [tablerow.Selected] selects them, until the next call. Before an
// error it is called with what was read.
func (r *Reader) Each(ctx context.Context, l tablerow.Layout, keyspace, table string, row func(cells [][]byte, now time.Time)) error {
	token := "token(" + strings.Join(l.Partition(), ", ") + ")"
	text := "SELECT " + strings.Join(tablerow.Selected(l), ", ") + " FROM " + table +
		" WHERE " + token + " > ? AND " + token + " <= ? LIMIT ?"
	low, width := int64(-1<<63), uint64(1<<63)/uint64(r.Places)*2
	for n := range r.Places {
		if n > 0 && r.Pause > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(r.Pause):
			}
		}
		high := low + int64(width-1)
		_, err := request.New(keyspace, nil).Do(ctx, &r.retrier, retry.Partition, func(ctx context.Context) error {
			q := r.Reads.Query(text, low, high, r.Rows).Consistency(l.Set.Level(gocql.LocalOne))
			return page(q.RetryPolicy(driver.NoRetry).WithContext(ctx), row)
		}, nil)
		if err != nil {
			return err
		}
		low = high + 1
	}
	return nil
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
