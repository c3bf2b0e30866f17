package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/tablerow"
)

const (
	// calmPages is after how many pages a smaller one grows again.
	calmPages = 4
	// mostHalvings bounds how often a range is halved: few tables have so many partitions that two of them are in the
	// least part.
	mostHalvings = 20
	// mostFailures in a row end the scan of a range: one partition that cannot be read causes fewer, by halving the page
	// and then the range.
	mostFailures = 32
	// failurePause, times the failures in a row, goes before the next page.
	failurePause = 100 * time.Millisecond
)

// stretch is a part of a range that is to be read, from a mark on.
type stretch struct {
	in segment
	at mark
}

// rest is what is left of it. The partition of the mark is in it, as it may have more rows.
func (s *stretch) rest() segment {
	if s.at.state == nil {
		return s.in
	}
	return segment{s.at.token - 1, s.in.high}
}

// split cuts what is left: after the partition of the mark, else into halves not narrower than least. It gives none
// where that cannot be done.
func (s *stretch) split(least uint64) []stretch {
	width := uint64(s.in.high) - uint64(s.in.low)
	switch {
	case s.at.state != nil && s.at.token < s.in.high:
		return []stretch{{segment{s.in.low, s.at.token}, s.at}, {in: segment{s.at.token, s.in.high}}}
	case s.at.state != nil, width < 2 || width/2 < least:
		return nil
	}
	middle := s.in.low + int64(width/2)
	return []stretch{{in: segment{s.in.low, middle}}, {in: segment{middle, s.in.high}}}
}

// scanSegment reads a range. Where a page cannot be read, as replicas meet too many tombstones or take too long, a
// smaller one is tried, down to one row, then smaller ranges. What cannot be read even so is noted, and the rest is
// read.
func (j *job) scanSegment(ctx context.Context, u *unit) (unread error) {
	var gaps []gap
	defer func() {
		for _, g := range gaps {
			j.unread(ctx, u, g.segment, g.err)
		}
	}()
	least := (uint64(u.in.high) - uint64(u.in.low)) >> mostHalvings
	todo := []stretch{{in: u.in}}
	for size, calm, failures := j.pageSize, 0, 0; len(todo) > 0; {
		last := len(todo) - 1
		s := &todo[last]
		next, err := j.scanPage(ctx, u, s, size)
		if err == nil {
			j.failing.Store(0)
			failures = 0
			if calm++; calm == calmPages {
				size, calm = min(j.pageSize, 2*size), 0
			}
			if s.at = next; next.state == nil {
				todo = todo[:last]
			}
			continue
		}
		failures, calm = failures+1, 0
		parts := s.split(least)
		switch {
		case ctx.Err() != nil:
			gaps = []gap{{u.in, context.Cause(ctx)}}
			return context.Cause(ctx)
		case !tooMuch(err), failures >= mostFailures, j.failing.Add(1) >= int64(mostFailures*j.scanners()): // no matter of this place
			gaps = join(gaps, gap{segment{s.rest().low, u.in.high}, err})
			return err
		case size > 1:
			size /= 2
		case parts != nil:
			todo = append(todo[:last], parts[1], parts[0])
		default:
			gaps, unread, todo = join(gaps, gap{s.rest(), err}), err, todo[:last]
		}
		_ = waitUntil(ctx, time.Now().Add(time.Duration(failures)*failurePause)) // if ctx ends, so does the next page
	}
	if err := context.Cause(ctx); err != nil { // a row was not queued
		gaps = []gap{{u.in, err}}
		return err
	}
	return unread
}

// gap is a part of a range that was not read, and why.
type gap struct {
	segment
	err error
}

// join adds a gap to those before it, to the last of them where it goes on.
func join(to []gap, g gap) []gap {
	if n := len(to); n > 0 && to[n-1].high >= g.low {
		to[n-1].high, to[n-1].err = g.high, g.err
		return to
	}
	return append(to, g)
}

// scanPage reads a page of a stretch, and compares its rows or puts them. It gives where the next one begins.
func (j *job) scanPage(ctx context.Context, u *unit, s *stretch, size int) (next mark, err error) {
	var (
		seen  tablerow.Survey
		rows  []row
		began = time.Now()
	)
	if j.digest != nil {
		seen, next, err = j.digest.page(ctx, u.t, s.in, size, s.at)
		j.read.Add(int64(seen.Rows))
	} else {
		rows, next, err = j.page(ctx, u.t, s.in, size, s.at)
		for i := range rows {
			seen.Add(&rows[i].survey)
		}
	}
	switch {
	case err != nil:
	case j.each != nil:
		err = j.visitEach(ctx, u, rows)
	case j.digest == nil:
		err = j.compare(ctx, u, rows, began)
	}
	if err != nil {
		return mark{}, err
	}
	u.rows.Add(int64(seen.Rows))
	j.surveyed(u, &seen)
	return next, nil
}

// unread notes a part of a unit that was not read.
func (j *job) unread(ctx context.Context, u *unit, in segment, err error) {
	u.failed.Store(true)
	u.cause.Store(&err)
	u.again.Store(true)
	if ctx.Err() == nil && tooMuch(err) {
		j.report.unread(u.t, in, err)
	} else {
		j.report.uncovered(err)
	}
	if j.digest == nil {
		return
	}
	j.digest.fails(u.t, in)
	if errors.Is(err, errSpool) {
		j.stop(err) // nothing that is read from now on can be compared
	}
}

// tooMuch says whether an error may be due to how much was asked for at once.
func tooMuch(err error) bool {
	var failed *gocql.RequestErrReadFailure
	return errors.As(err, &failed) || hosts.Overloaded(err)
}

// advice is what to do about ranges that could not be read.
func advice(err error) string {
	var failed *gocql.RequestErrReadFailure
	switch {
	case errors.As(err, &failed):
		return "a replica has failed to read them, one row at a time too, and its log says why: if it has met too many tombstones, compact the table " +
			"once gc_grace_seconds have passed, or raise tombstone_failure_threshold until a run has read them; then run again"
	case tooMuch(err):
		return "the nodes have too much to do, or are down: run again when they have less, or with a Rate (--rate)"
	}
	return "run again"
}
