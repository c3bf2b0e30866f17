package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// stream reads one partition, a page ahead of its consumer.
type stream[T any] struct {
	read      *read[T]
	partition *partition
	limit     int           // rows that are needed at most, 0 for all
	pages     chan *page[T] // without room: what waits in it is the page ahead
	spare     chan *page[T] // pages that the consumer is done with
	group     *group[T]

	// Of the goroutine that fetches.
	decoder *decoder[T]
	key     []byte // of the partition, encoded
	end     session.RequestEnd

	// Of the consumer.
	page *page[T]
	pos  int
}

// fetch is the goroutine of a stream. It ends when the partition does, when enough rows were read, at an error, and
// when ctx ends.
func (s *stream[T]) fetch(ctx context.Context) {
	if s.read.tracer.Requests() {
		ctx = s.read.traced(ctx, s.read.plan.keyspace, s.partition.scans[0].statement, s.partition, s.partition.table)
	}
	p := s.read.plan
	s.decoder, s.key = newDecoder[T](p.layout, p.selected, p.kept), statement.PartitionKey(s.partition.key)
	failed := false // while the read went on
	defer func() {
		if !failed && s.read.stopped() {
			s.end.Err, s.end.Reason, s.end.BudgetSpent = nil, "", false // nothing waits for it any more
		}
		s.read.tracer.TraceRequestEnd(ctx, s.end)
	}()
	var state []byte
	gone := 0
	for n := 0; n < len(s.partition.scans); {
		p := s.next()
		var err error
		size := s.size(s.end.Rows, gone)
		state, err = s.fetchPage(ctx, &s.partition.scans[n], state, size, p)
		if err == nil && s.read.plan.confirm != nil && len(p.rows) > 0 {
			err = s.confirm(ctx, p)
		}
		if err != nil {
			p.reset(0)
			p.err = err
			failed = !s.read.stopped() // asked before the page is handed over, as whoever takes it stops the read
		}
		if len(state) == 0 {
			n++
		}
		s.end.Rows += p.good()
		gone += p.gone + p.dropped
		exhausted := err == nil && n == len(s.partition.scans)
		p.last = exhausted || s.limit > 0 && s.end.Rows >= s.limit
		if exhausted {
			s.group.exhausted.Add(1)
		}
		s.group.fetched.Add(int64(p.good()))
		if len(p.rows) == 0 && !p.last && p.err == nil {
			s.give(p)
			continue
		}
		select {
		case s.pages <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil || p.last {
			return
		}
	}
}

// traced reports a request to the tracer: one statement, or a page of lookups alike.
func (r *read[T]) traced(ctx context.Context, keyspace, text string, p *partition, tables ...string) context.Context {
	return r.tracer.TraceRequestStart(ctx, session.RequestStart{
		Op: r.plan.op, Keyspace: keyspace, Tables: tables, Statements: []string{text},
		Consistency: session.Consistency(r.consistency), Idempotent: true, Partition: p.number, Buckets: p.shown,
	})
}

// next is a page to read into.
func (s *stream[T]) next() *page[T] {
	select {
	case p := <-s.spare:
		return p
	default:
		return &page[T]{}
	}
}

// give takes back a page that is done with.
func (s *stream[T]) give(p *page[T]) {
	select {
	case s.spare <- p:
	default:
	}
}

// size is how many rows to ask for next, after so many rows, and so many (gone) that stand for no entity. It grows, so
// that a caller that stops early has not asked for many; with a limit, it doubles where all are gone.
func (s *stream[T]) size(rows, gone int) int {
	size := min(s.read.pageSize, max(firstPage, 4*(rows+gone)))
	if s.limit > 0 {
		size = min(size, max(s.limit-rows, s.limit-rows+gone)) // the sum may be more than an int has
	}
	return size
}

// firstPage is the size of the first page where there is no limit.
const firstPage = 100

// fetchPage reads one page, with retries, and returns where the next one begins: nil at the end.
func (s *stream[T]) fetchPage(ctx context.Context, at *scan, state []byte, size int, p *page[T]) ([]byte, error) {
	r := s.read
	next, attempts, err := r.send(ctx, r.plan.keyspace, attempt{
		at.statement, at.values, s.key, size, state,
		r.consistency,
	}, &s.end,
		func(a answer) { s.decoder.decode(a, p) })
	if err != nil {
		err = s.fail(err, attempts)
		if s.end.Err != nil {
			s.end.Err = err
		}
	}
	return next, err
}

// send asks for a page, with retries, and returns where the next one begins: nil at the end. It records in end what was
// sent.
func (r *read[T]) send(
	ctx context.Context, keyspace string, page attempt, end *session.RequestEnd, decode func(answer),
) (next []byte, attempts int, err error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	end.PageSize = max(end.PageSize, page.size)
	rows := 0
	outcome, err := request.New(keyspace, page.key).Do(ctx, &r.retrier, retry.Partition, func(ctx context.Context) error {
		end.Attempts++
		a := r.source.page(ctx, page)
		if h := a.Host(); h != nil {
			end.Host = session.HostOf(h)
		}
		rows = a.NumRows()
		decode(a)
		next = bytes.Clone(a.PageState())
		return a.Close()
	}, r.tracer.Observer(ctx, &end.Host))
	end.Pages++
	if err != nil {
		end.Reason, end.BudgetSpent, end.Err = outcome.Last.Reason, outcome.BudgetSpent, err
		return nil, outcome.Attempts, err
	}
	end.Returned += rows
	return next, outcome.Attempts, nil
}

// fail names the partition.
func (s *stream[T]) fail(err error, attempts int) error {
	p := s.read.plan
	err = period.Explain(err, func(table string) (keyspace string, rotates bool) {
		return "", table == s.partition.table && table != p.layout.Name() // the Error names the keyspace
	})
	var missing *period.MissingError
	if errors.As(err, &missing) {
		err = fmt.Errorf("%w; create it, or let the range begin later", err)
	}
	return &Error{
		Op: p.op, Keyspace: p.keyspace, Table: s.partition.table, Partition: s.partition.number, Partitions: p.partitions,
		Buckets: s.partition.shown, Attempts: attempts, Err: err,
	}
}

// group is partitions that are merged.
type group[T any] struct {
	streams   []*stream[T]
	exhausted atomic.Int64 // streams whose last page was fetched, though perhaps not given
	fetched   atomic.Int64 // rows
}

// source sends requests. It is the seam to the driver: tests put a fake behind it.
type source interface {
	// page asks for one page and waits for it.
	page(ctx context.Context, r attempt) answer
}

// attempt is one at one page.
type attempt struct {
	statement   string
	values      []any
	key         []byte // the encoded partition key
	size        int    // rows at most
	state       []byte // where the page begins; nil is the beginning
	consistency gocql.Consistency
}

// answer is a page. A [gocql.Iter] is one.
type answer interface {
	NumRows() int
	Scan(dest ...any) bool
	PageState() []byte
	Host() *gocql.HostInfo
	Close() error
}

// gocqlSource reads through gocql, with everything switched off that would act on its own: retries, whose errors it
// hides, and paging, which would go on behind the reader's back.
type gocqlSource struct{ session *gocql.Session }

func (s gocqlSource) page(ctx context.Context, r attempt) answer {
	return s.session.Query(r.statement, r.values...).
		Consistency(r.consistency).
		RoutingKey(r.key).
		PageSize(r.size).
		PageState(r.state). // also when it is nil: it turns automatic paging off
		Idempotent(true).
		RetryPolicy(driver.NoRetry).
		WithContext(ctx).
		Iter()
}
