package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/session"
)

// confirmation is how the rows of a plan are checked against their base rows.
type confirmation struct {
	base       tablerow.Layout
	keyspace   string   // physical, of the base table
	selected   []string // columns to select from the query table: those that are kept, then the others
	kept       int
	place      []int    // by kept column, where it is among the columns of the query table
	columns    []string // of the base table, all of which are selected and kept
	partition  int      // how many columns of the base key are the partition key
	key        int      // all of them
	head, tail string   // of each statement, around its table
}

// maxLookup is how many base rows one request asks for. Its page has room for one more, so that the server sees that it
// was the last one.
const maxLookup = 100

// confirmation works out how the rows of a query are checked.
func (r *Reader) confirmation(b *bound) (*confirmation, error) {
	if column, reason := b.layout.Unconfirmable(); reason != "" {
		return nil, b.invalid(column, "Confirm: "+reason)
	}
	c := &confirmation{base: b.layout.Base()}
	var err error
	if c.keyspace, err = r.physical(c.base.Keyspace()); err != nil {
		return nil, b.invalid("", "Confirm: no keyspace of the base table: "+err.Error())
	}
	c.selected, c.columns = slices.Clone(b.columns), c.base.AllColumns()
	c.selected = append(c.selected, b.layout.EntityColumns()[len(b.partition)+len(b.columns):]...)
	c.kept = len(c.selected)
	c.place = each.Of(c.selected, func(name string) int { return slices.Index(b.layout.AllColumns(), name) })
	for _, name := range b.layout.Columns() {
		if !slices.Contains(c.selected, name) {
			c.selected = append(c.selected, name)
		}
	}
	c.partition, c.key = len(c.base.Partition()), len(c.base.Partition())+len(c.base.Clustering())
	c.head, c.tail = selectFrom(c.keyspace, c.columns), " WHERE "+strings.Join(c.columns[:c.key], "=? AND ")+"=?"
	if c.key > c.partition {
		c.tail = strings.TrimSuffix(c.tail, "=?") + " IN ?"
	}
	return c, nil
}

// lookup is a request for base rows: one, or several of one partition that differ in the last clustering column.
type lookup struct {
	table string
	key   []*cqltype.Value // but for the last clustering column, if there is any
	last  []*cqltype.Value // the values of it, each once
	rows  map[string][]candidate
}

// candidate is a row of a page, by the key of the entity in the base table.
type candidate struct {
	row int
	key string // in the query table
}

// lookups are the requests for the base rows of a page. Rows that do not identify an entity are left out.
func (s *stream[T]) lookups(p *page[T]) ([]*lookup, error) {
	plan, c := s.read.plan, s.read.plan.confirm
	open := make(map[string]*lookup)
	var out []*lookup
	for i := range p.rows {
		values := make([][]byte, len(plan.layout.AllColumns()))
		for n, v := range s.partition.key {
			values[n] = v.Data
		}
		for n, v := range p.key(i, plan.kept) {
			values[c.place[n]] = v
		}
		row, err := tablerow.Read(plan.layout, values)
		if err != nil {
			return nil, err
		}
		table, key, ok := row.BaseKey()
		if !ok {
			continue
		}
		shared := key[:max(c.partition, c.key-1)]
		id := table + "\x00" + string(statement.PartitionKey(shared))
		l := open[id]
		if l == nil || len(l.last) == maxLookup {
			l = &lookup{table: table, key: shared, rows: make(map[string][]candidate)}
			open[id], out = l, append(out, l)
		}
		of := row.Entity()
		if l.rows[of] == nil {
			l.last = append(l.last, key[c.key-1])
		}
		l.rows[of] = append(l.rows[of], candidate{i, row.Key()})
	}
	return out, nil
}

// attempt asks for the base rows.
func (l *lookup) attempt(r *Reader, c *confirmation, state []byte) attempt {
	values := each.Of(l.key, func(v *cqltype.Value) any { return v })
	if c.key > c.partition {
		values = append(values, tablerow.ListOf(l.last))
	}
	return attempt{
		c.head + l.table + c.tail, values, statement.PartitionKey(l.key[:c.partition]), maxLookup + 1, state,
		r.consistency,
	}
}

// confirm checks the rows of a page. Those that their base rows confirm become what these say, the others are marked.
func (s *stream[T]) confirm(ctx context.Context, p *page[T]) error {
	lookups, err := s.lookups(p)
	if err != nil {
		return s.fail(err, 0)
	}
	p.dropped = len(p.rows)
	p.unconfirmed = slices.Grow(p.unconfirmed[:0], len(p.rows))[:len(p.rows)]
	for i := range p.unconfirmed {
		p.unconfirmed[i] = true
	}
	end := session.RequestEnd{}
	if s.read.tracer.Requests() && len(lookups) > 0 {
		c, table := s.read.plan.confirm, lookups[0].table
		ctx = s.read.traced(ctx, c.keyspace, c.head+table+c.tail, s.partition, table)
		defer func() {
			if s.read.stopped() {
				end.Err, end.Reason = nil, ""
			}
			end.Rows = p.good()
			s.read.tracer.TraceRequestEnd(ctx, end)
		}()
	}
	if err := s.lookUp(ctx, lookups, p, &end); err != nil {
		s.end.Err, s.end.Reason = err, end.Reason // that the budget was spent is told of the lookups, once
		return err
	}
	for _, dropped := range p.unconfirmed {
		if !dropped {
			p.dropped--
		}
	}
	return nil
}

// lookUp sends the lookups, several at the same time. The first error ends the others. end records all of them.
func (s *stream[T]) lookUp(ctx context.Context, lookups []*lookup, p *page[T], end *session.RequestEnd) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var failed error
	next := 0
	work := func() {
		mu.Lock()
		defer mu.Unlock()
		for failed == nil && next < len(lookups) {
			l := lookups[next]
			next++
			mu.Unlock()
			one, err := s.lookUpOne(ctx, l, p)
			mu.Lock()
			end.Attempts, end.Pages, end.Returned = end.Attempts+one.Attempts, end.Pages+one.Pages, end.Returned+one.Returned
			end.PageSize = max(end.PageSize, one.PageSize)
			if err != nil && failed == nil {
				failed = err
				end.Err, end.Reason, end.BudgetSpent, end.Host = err, one.Reason, one.BudgetSpent, one.Host
				cancel()
			}
		}
	}
	var wait sync.WaitGroup
	for range min(len(lookups), s.read.parallel) {
		wait.Go(work)
	}
	wait.Wait()
	return failed
}

// lookUpOne reads the base rows of a lookup, and marks the rows of the page that they confirm.
func (s *stream[T]) lookUpOne(ctx context.Context, l *lookup, p *page[T]) (end session.RequestEnd, err error) {
	r, c := s.read, s.read.plan.confirm
	d, base := newDecoder[T](c.base, c.columns, len(c.columns)), &page[T]{}
	for state, first := []byte(nil), true; first || len(state) > 0; first = false {
		var attempts int
		state, attempts, err = r.send(ctx, c.keyspace, l.attempt(r.Reader, c, state), &end, func(a answer) {
			d.decode(a, base)
		})
		if err != nil {
			return end, s.failBase(l.table, err, attempts)
		}
		for i := range base.rows {
			row, err := tablerow.Read(c.base, base.key(i, len(c.columns)))
			if err != nil {
				return end, s.failBase(l.table, err, 0)
			}
			key, ok := row.KeyIn(r.plan.layout)
			for _, x := range l.rows[row.Entity()] {
				if ok && x.key == key {
					p.rows[x.row], p.unconfirmed[x.row] = base.rows[i], false
				}
			}
		}
	}
	return end, nil
}

// failBase is the error of base rows that were not read.
func (s *stream[T]) failBase(table string, err error, attempts int) error {
	c := s.read.plan.confirm
	err = period.Explain(err, func(name string) (keyspace string, rotates bool) {
		return c.keyspace, name == table && table != c.base.Name()
	})
	name := table
	if c.keyspace != "" {
		name = c.keyspace + "." + table
	}
	return s.fail(fmt.Errorf("base row in %s: %w", name, err), attempts)
}
