package reader

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/denorm-go/denorm/session"
)

// Rows is a query that is ready to be read. It is not safe for concurrent use.
type Rows[T any] struct {
	query
	unconfirmed []func(T)
	ctx         context.Context //nolint:containedctx // of the one call that All makes
	reader      *Reader
	plan        *plan
	given       *position // the last row that was given; nil for none
	count       int
}

// Read prepares a query under ctx. op names it in errors and traces, for example newestLogs, and must not be empty.
// Nothing is sent before the rows are ranged over. ctx limits the whole read; without a deadline only its requests are
// limited, by the retry policy.
func Read[T any](ctx context.Context, r *Reader, op string, q Query[T]) *Rows[T] {
	q.op = op
	return &Rows[T]{query: q.query, unconfirmed: q.unconfirmed, ctx: ctx, reader: r}
}

// List reads a query that has few rows, or a limit, into a slice; see [From] for what is in the rows. The token
// continues the query. After the last row it is empty, unlike the token of [Rows.Token]. If the limit was met it is not
// empty, though there may be no more rows. On an error List also returns the rows before it, and the token that
// continues after them.
func List[T any](ctx context.Context, r *Reader, op string, q Query[T]) ([]T, Token, error) {
	rows := Read(ctx, r, op, q)
	var out []T
	for row, err := range rows.All() {
		if err != nil {
			return out, rows.Token(), err
		}
		out = append(out, row)
	}
	if q.limit == 0 || len(out) < q.limit {
		return out, "", nil
	}
	return out, rows.Token(), nil
}

// Token returns a token that continues the query after the last row that was returned. It is empty if no row was
// returned and the query began without a token. It may be called at any time: in the loop, after a break, after an
// error. After the last row it is not empty, unlike [List]'s: it continues with rows that come later.
func (r *Rows[T]) Token() Token {
	if r.given == nil {
		return r.token
	}
	return r.given.token(r.plan.mark)
}

// All yields the rows. A second loop goes on after the last row that was yielded, with the rest of the limit. The
// error, if any, comes last, without a row; it matches [ErrInvalid] if the query was rejected, and is an [*Error]
// otherwise.
func (r *Rows[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := r.all(func(row T) bool { return yield(row, nil) }); err != nil {
			yield(*new(T), err)
		}
	}
}

func (r *Rows[T]) all(yield func(T) bool) error {
	q := r.query
	if r.ctx == nil && r.reader == nil && r.op == "" && !q.made {
		return q.invalid("", "the Rows are a zero value: they are made by reader.Read")
	}
	if fault := unusable(r.ctx, r.reader, r.op); fault != "" {
		return q.invalid("", fault)
	}
	if r.given != nil {
		q.token = r.Token()
		if q.limit > 0 {
			if q.limit -= r.count; q.limit == 0 {
				return nil
			}
		}
	}
	ctx := r.reader.tracer.TraceStart(r.ctx, session.OperationStart{
		Operation: session.OperationRead, Op: r.op, Table: q.name, Limit: q.limit, Continued: q.token != "",
	})
	end := session.OperationEnd{Operation: session.OperationRead, Op: r.op, Err: errPanicked}
	defer func() { r.reader.tracer.TraceEnd(ctx, end) }()
	err := func() error {
		p, err := r.reader.plan(&q)
		if err != nil {
			return err
		}
		r.plan = p
		end.Keyspace, end.Partitions = p.keyspace, p.partitions
		return newRead[T](ctx, r.reader, p, &end).run(func(s *stream[T]) bool {
			row := s.page.rows[s.pos]
			if s.page.drops(s.pos) {
				end.Unconfirmed++
				for _, tell := range r.unconfirmed {
					if tell != nil {
						tell(row)
					}
				}
				return true
			}
			r.place(s.page.key(s.pos, p.kept)[:len(p.columns)], s.partition.id)
			r.count++
			end.Rows++
			return yield(row)
		})
	}()
	end.Err = err
	return err
}

// errPanicked is what a tracer is told of a read that no return has ended.
var errPanicked = errors.New("denorm: the loop over the rows has panicked")

// place notes the row that is given. Its bytes stay as they are when the page is used again, the slices of them do not.
func (r *Rows[T]) place(key [][]byte, id []byte) {
	if r.given == nil {
		r.given = &position{}
	}
	r.given.Key, r.given.ID = append(r.given.Key[:0], key...), id
}

// read is one run of a plan.
type read[T any] struct {
	*Reader
	caller context.Context //nolint:containedctx // lives as long as the run, as does ctx
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelFunc
	plan   *plan
	limit  int           // rows still wanted, 0 for all
	slots  chan struct{} // one for each request in flight
	wait   sync.WaitGroup
	groups []*group[T] // begun
	end    *session.OperationEnd
}

func newRead[T any](ctx context.Context, r *Reader, p *plan, end *session.OperationEnd) *read[T] {
	if level := p.layout.Set.Level(r.consistency); level != r.consistency {
		own := *r
		own.consistency, r = level, &own
	}
	x := &read[T]{Reader: r, caller: ctx, plan: p, limit: p.limit, slots: make(chan struct{}, r.parallel), end: end}
	x.ctx, x.cancel = context.WithCancel(ctx) //nolint:gosec // run calls it
	return x
}

// stopped says whether the read has ended while requests were in flight.
func (r *read[T]) stopped() bool { return r.ctx.Err() != nil && r.caller.Err() == nil }

// run yields all rows, group after group. When it returns, nothing of it is running any more.
func (r *read[T]) run(yield func(*stream[T]) bool) error {
	defer r.wait.Wait()
	defer r.cancel()
	ahead := 0 // how many groups are begun before they are needed
	for n := range r.plan.groups {
		r.begin(n + ahead)
		g := r.groups[n]
		m, err := newMerger(r, g.streams)
		if err != nil {
			return err
		}
		before := r.end.Rows
		for s := m.next(); s != nil; s = m.next() {
			if !yield(s) || r.limit > 0 && r.end.Rows >= r.limit {
				return nil
			}
			r.foresee(n, before)
			if err := m.advance(); err != nil {
				return err
			}
		}
		// Where nothing is found, look at more and more of what comes next at once.
		if r.end.Rows == before {
			ahead = min(max(1, 2*ahead), max(1, r.parallel/max(1, len(g.streams))))
		} else {
			ahead = min(ahead, 1)
		}
		r.groups[n] = nil
	}
	return nil
}

// foresee begins the next group when all of group n has been fetched and is not enough.
func (r *read[T]) foresee(n, before int) {
	g := r.groups[n]
	if len(r.groups) > n+1 || int(g.exhausted.Load()) < len(g.streams) {
		return
	}
	if r.limit == 0 || before+int(g.fetched.Load()) < r.limit {
		r.begin(n + 1)
	}
}

// begin begins all groups up to n that have not begun.
func (r *read[T]) begin(n int) {
	for len(r.groups) <= n && len(r.groups) < len(r.plan.groups) {
		g := &group[T]{}
		for _, p := range r.plan.groups[len(r.groups)] {
			if len(p.scans) == 0 {
				continue // all of it came before the place where the query continues
			}
			s := &stream[T]{read: r, partition: p, pages: make(chan *page[T]), spare: make(chan *page[T], 2), group: g}
			if r.limit > 0 {
				s.limit = r.limit - r.end.Rows
			}
			g.streams = append(g.streams, s)
		}
		r.groups = append(r.groups, g)
		for _, s := range g.streams {
			r.wait.Go(func() { s.fetch(r.ctx) })
		}
	}
}
