package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
)

// A sample of a query table is read in several places of the ring, as rows without counterpart may all be in one
// partition.
const (
	samplePlaces = 8
	sampleRows   = 16 // of each
	// leastMismatch is how many rows must have no counterpart: fewer may be all that a table has, and be drift.
	leastMismatch = 5
)

// sample says what a query table had before the run changed it.
type sample struct {
	rows    int // that were compared
	moved   int // of these: the base row is there, and does not have their key
	orphans int // of these: there is no base row
}

// mismatched says whether so many rows without counterpart are more than drift. One row in ten may agree: where the
// declaration is wrong, the service may have written rows with it already.
func (s sample) mismatched(without int) bool {
	return without >= leastMismatch && 10*without >= 9*s.rows
}

// tableSamples are those of a run, by table.
type tableSamples struct {
	turn chan struct{} // has room for the one who reads or adds one
	of   map[*table]sample
}

func newTableSamples() tableSamples {
	return tableSamples{make(chan struct{}, 1), make(map[*table]sample)}
}

// checkSamples ends the run, and says why, if nearly no row of a query table that is about to be changed has a
// counterpart: that is due to a wrong declaration of a key column more often than to drift, and the run would remove
// all rows of the table.
func (j *job) checkSamples(ctx context.Context, d repair.Repair) error {
	for _, q := range j.queries {
		removes := slices.ContainsFunc(d.Removes, func(r repair.Row) bool { return r.Table() == q.Name() })
		if removes || slices.ContainsFunc(d.Send, func(m statement.Mutation) bool { return m.Table == q.Name() }) {
			if err := j.checkSample(ctx, q, removes); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSample is checkSamples for one table. Puts are checked as well as removals: rows that the run has put have
// counterparts, and a run that continues it could not tell them from others.
func (j *job) checkSample(ctx context.Context, q *table, removes bool) error {
	if j.one != nil || j.maxRemovals > 0 {
		return nil
	}
	s, err := j.sampleOf(ctx, q)
	if err != nil {
		return leftError{error: fmt.Errorf("%s is not changed, as a sample of its rows could not be read before: %w", q.qualified(), err)}
	}
	without := s.moved
	if removes { // rows that a base table lacks are no reason not to put others
		without += s.orphans
	}
	if !s.mismatched(without) {
		return nil
	}
	err = fmt.Errorf("%w: nothing in %s is changed: of %d rows %d have none in %s: check its declared key, or set MaxRemovals (--max-removals)",
		ErrTooMuch, q.qualified(), s.rows, without, j.base().qualified())
	j.fail(err)
	return leftError{error: err}
}

// sampleOf reads the sample of a table before its first change, and keeps it for the run.
func (j *job) sampleOf(ctx context.Context, q *table) (s sample, err error) {
	j.samples.turn <- struct{}{}
	defer func() { <-j.samples.turn }()
	s, known := j.samples.of[q]
	if known {
		return s, nil
	}
	read := 0
	for _, in := range segments(samplePlaces) {
		rows, failed := j.samplePage(ctx, q, in)
		for i := range rows {
			if failed = j.sampleRow(ctx, q, &rows[i], &s); failed != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return s, ctx.Err()
		case failed != nil: // the scan says of this place that it cannot be read
			err = failed
		default:
			read++
		}
	}
	if read == 0 {
		return s, err
	}
	j.samples.of[q] = s
	return s, nil
}

// samplePage reads a page of a sample, a smaller one where tombstones do not let it be read, as the scan does.
func (j *job) samplePage(ctx context.Context, q *table, in segment) (rows []row, err error) {
	for size := min(sampleRows, j.pageSize); ; size = max(1, size/4) {
		rows, _, err = j.page(ctx, q, in, size, mark{})
		if err == nil || size == 1 || ctx.Err() != nil {
			return rows, err
		}
	}
}

// sampleRow counts a row of a sample.
func (j *job) sampleRow(ctx context.Context, q *table, r *row, s *sample) error {
	if j.ending(r) || r.Entity() == "" {
		return nil
	}
	l, err := j.first(ctx, q, r)
	if err != nil {
		return err
	}
	s.rows++
	if l.Base == nil {
		s.orphans++
		return nil
	}
	if key, there := l.Base.KeyIn(q.Layout); r.Patchable() || there && key == r.Key() || r.With(l.Base.Row).Stale() {
		return nil // a stale one is left
	}
	if !r.With(l.Base.Row).Misplaced() &&
		slices.ContainsFunc(l.Findings(), func(f repair.Finding) bool { return f.Class == repair.Newer }) {
		return nil // the base row is to get its key
	}
	s.moved++
	return nil
}
