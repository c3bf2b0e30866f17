package reconcile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// job is one call.
type job struct {
	config
	*access
	set     *layout.Set
	entity  string
	kind    string
	tables  []*table // the base table first
	queries []*table // the query tables that the call is about
	uniques []*table // the tables of unique keys that it is about
	report  *Report
	repairs bool
	one     *tablerow.Row                            // the entity that the call is about, nil for all
	digest  *digest                                  // nil: counterparts of rows are looked up
	spread  time.Duration                            // how long the reads are to take, 0: no longer than they need
	each    func(context.Context, *unit, *row) error // is called with each row of the base table, and nothing is compared; or nil
	adopt   int64                                    // of Adopt: the time, in microseconds, until when rows may have been written without the library; else 0

	unfit error // what rejects a repair: this clock is too far from a node's, or conditions would hold in no certain datacentre

	counts *pieces    // nil unless it is a unit of another engine
	store  *store     // nil without State
	stored *storedRun // nil without State, and for one entity

	queue   *queue
	segment atomic.Int64 // ranges done
	read    atomic.Int64 // rows that were read, and compared or put
	failing atomic.Int64 // pages in a row that could not be read, of all ranges
	removed atomic.Int64 // rows removed or put into the base table
	samples tableSamples
	keyless keyless
	stop    context.CancelCauseFunc
}

func (j *job) base() *table { return j.tables[0] }

// segment is a range of tokens: above low, up to high.
type segment struct{ low, high int64 }

// segments cuts the ring into equal ranges. They do not follow the nodes' own ranges, so that a node that comes or goes
// changes nothing: a range that several nodes own parts of is read through one that has the last token of it.
func segments(count int) []segment {
	width := math.MaxUint64/uint64(count) + 1
	out := make([]segment, count)
	low := int64(math.MinInt64)
	for i := range out {
		out[i] = segment{low, low + int64(width)} // the last one wraps, and is put right
		low = out[i].high
	}
	out[count-1].high = math.MaxInt64
	return out
}

const (
	segmentsPerTable = 256 // a divisor of 1<<64
	scanners         = 8
	digestScanners   = 32
)

// run scans the tables, looks again at what differs until it agrees or is certain, and completes the report.
func (j *job) run(ctx context.Context) (*Report, error) {
	for _, t := range j.compared() {
		j.report.table(t.qualified())
	}
	if j.repairs && !j.dryRun && j.unfit != nil {
		return nil, j.unfit
	}
	if err := j.begin(ctx); err != nil {
		return nil, err
	}
	caller := ctx
	ctx, j.stop = context.WithCancelCause(ctx)
	defer j.stop(nil)
	j.queue, j.samples = newQueue(), newTableSamples()
	ctx = j.traced(ctx)
	var done sync.WaitGroup
	ended := make(chan struct{})
	if j.onProgress != nil || len(j.tracer) > 0 {
		done.Go(func() { j.tell(ctx, ended) })
	}
	if j.stored != nil {
		done.Go(func() { j.stored.keep(ctx, j, ended) })
	}
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		j.settleAll(ctx)
	}()
	if j.one != nil {
		j.enqueue(ctx, *j.one)
	} else {
		j.scan(ctx)
	}
	if j.digest != nil && ctx.Err() == nil {
		if err := j.digest.join(ctx); err != nil && ctx.Err() == nil {
			j.report.uncovered(err)
		}
	}
	j.queue.close()
	<-settled
	j.settleKeyless(ctx)
	j.report.unsettled(j.queue.len())
	if j.stored != nil {
		j.stored.endFindings(ctx, j) // while the lease is renewed
	}
	if ctx.Err() != nil {
		j.fail(context.Cause(ctx))
	}
	close(ended)
	done.Wait()
	j.finish()
	if j.stored != nil {
		j.stored.storeEnd(ctx, j)
	}
	err := caller.Err()
	if err == nil {
		err = j.report.Err()
	}
	j.tracedEnd(ctx, err)
	return j.report, err
}

// enqueue has an entity looked at in all places of a row.
func (j *job) enqueue(ctx context.Context, r tablerow.Row) {
	j.queue.add(ctx, r.Entity(), place{j.base(), r.Entity()}, nil)
	for _, q := range j.queries {
		keys, err := r.Places(q.Layout)
		if err != nil {
			j.report.uncovered(err)
		}
		for _, key := range keys {
			j.queue.add(ctx, r.Entity(), place{q, key}, nil)
		}
	}
	for _, u := range j.uniques {
		if key, there := r.KeyIn(u.Layout); there {
			j.queue.add(ctx, r.Entity(), place{u, key}, nil)
		}
	}
}

// fail ends the run.
func (j *job) fail(err error) {
	j.report.mu.Lock()
	if j.report.stopped == nil {
		j.report.stopped = err
	}
	j.report.mu.Unlock()
	j.stop(err)
}

func (j *job) finish() {
	j.report.Ended = time.Now()
	j.report.share()
	slices.SortStableFunc(j.report.findings, func(a, b Finding) int { return int(a.Class) - int(b.Class) })
}

// tell gives the progress about every second.
func (j *job) tell(ctx context.Context, ended <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			j.tellNow(ctx)
		case <-ended:
			j.tellNow(ctx)
			return
		}
	}
}

func (j *job) progress() Progress {
	bound, paused := j.throttle.state()
	p := Progress{Rows: int(j.read.Load()), Waiting: j.queue.len(), InFlight: bound}
	if paused {
		p.Waits = "the run is paused"
	} else if n, until := j.resting(); time.Until(until) > 0 {
		p.Waits = fmt.Sprintf("until %s to read %d %s again", until.UTC().Format(time.RFC3339), n, plural(n, "row"))
	}
	switch {
	case j.one == nil:
		p.Done = float64(j.segment.Load()) / float64(j.ranges*len(j.scanned()))
	case p.Waiting == 0:
		p.Done = 1
	}
	j.report.mu.Lock()
	defer j.report.mu.Unlock()
	p.Findings = len(j.report.findings) + j.report.omitted
	return p
}

// resting is how many entities or rows are to be read again, and from when on. It is 0 while there is something else to
// do.
func (j *job) resting() (n int, until time.Time) {
	if n, until, done := j.queue.resting(); !done {
		return n, until
	}
	j.keyless.mu.Lock()
	defer j.keyless.mu.Unlock()
	if n = len(j.keyless.rows); n > 0 {
		until = j.keyless.rows[n-1].FirstSeen.Add(j.settle)
	}
	return n, until
}

// scan reads all tables, several ranges at a time.
func (j *job) scan(ctx context.Context) {
	todo := make(chan *unit)
	var workers sync.WaitGroup
	for range j.scanners() {
		workers.Go(func() {
			for u := range todo {
				j.unit(ctx, u)
				j.segment.Add(1)
			}
		})
	}
	if j.stored != nil {
		j.stored.lookFirst(ctx, j)
	}
	step := j.spread / time.Duration(j.ranges*len(j.scanned()))
	var due time.Time // of the next range
	for _, t := range j.scanned() {
		for _, in := range segments(j.ranges) {
			u := newUnit(t, in)
			if j.stored != nil && j.stored.skip(j, u) {
				j.segment.Add(1)
				continue
			}
			if j.spread > 0 {
				_ = waitUntil(ctx, due) // if ctx ends, what was not read is noted
				due = time.Now().Add(step)
			}
			todo <- u
		}
	}
	close(todo)
	workers.Wait()
}

// scanned are the tables that are read from end to end.
func (j *job) scanned() []*table {
	if j.each != nil {
		return j.tables[:1]
	}
	return j.compared()
}

// scanners is how many ranges are read at a time, as far as the pace allows. Without a digest, each has lookups
// besides.
func (j *job) scanners() int {
	if j.digest == nil {
		return scanners
	}
	return min(j.inFlight, digestScanners)
}

// compare reads the counterparts of rows, which were read since began, in the other tables, and notes the entities
// whose rows differ.
func (j *job) compare(ctx context.Context, u *unit, rows []row, began time.Time) error {
	return j.together(rows, func(r *row) error {
		if j.ending(r) {
			j.leftOut(u.t)
			return nil
		}
		if r.Entity() == "" {
			j.leadsNowhere(u, u.t, r.Key(), r.At)
			return nil
		}
		if j.flawed(r.flaw) {
			u.failed.Store(true)
			return nil
		}
		l, err := j.first(ctx, u.t, r)
		if err != nil || l.Base != nil && j.unversioned(l.Base.At) {
			return err
		}
		if u.t == j.base() {
			err = j.firstClaims(ctx, r, &l)
		}
		if err != nil {
			return err
		}
		agrees := len(l.Findings()) == 0 && len(l.Unheld()) == 0
		if agrees && j.adopt != 0 && u.t == j.base() {
			agrees, err = j.stampScanned(ctx, u, l, began)
		}
		if !agrees {
			j.queue.add(ctx, r.Entity(), place{u.t, r.Key()}, u)
			for _, q := range l.Rows { // once the base row is gone, it does not say where they are
				j.queue.add(ctx, r.Entity(), place{j.table(q.Table()), q.Key()}, u)
			}
		}
		return err
	})
}

// flawed notes the flaw of a base row, nil for none, unless an adoption has noted it. It says whether the row is not
// compared.
func (j *job) flawed(f *flaw) bool {
	if f == nil {
		return false
	}
	if f.unadopted && j.adopt == 0 && j.adopted == 0 {
		j.report.count(&j.report.Unadopted, 1)
	}
	if f.why != nil && j.adopted == 0 {
		j.report.uncovered(f.why)
	}
	if f.why != nil {
		j.leftOut(j.base())
	}
	if f.elsewhere {
		j.keyless.elsewhere.Store(true)
	}
	return f.why != nil
}

// unversioned says whether a base row of a time has no version, in a set with such: it was noted where the base table
// was read.
func (j *job) unversioned(at int64) bool { return j.base().version >= 0 && at == 0 }

// together calls f of each row, of several at a time, and gives the first error. It counts those of which there is
// none.
func (j *job) together(rows []row, f func(*row) error) error {
	var group sync.WaitGroup
	room := make(chan struct{}, lookups)
	var first atomic.Pointer[error]
	for i := range rows {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			if err := f(&rows[i]); err != nil {
				first.CompareAndSwap(nil, &err)
				return
			}
			j.read.Add(1)
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// lookups is how many rows of a page are looked up, or put, at a time, as far as the pace allows.
const lookups = 32

// ending says whether a row is so close to its expiry that another table may have lost it already.
func (j *job) ending(r *row) bool { return !r.ends.IsZero() && time.Until(r.ends) <= j.settle }

// first is a look, without claims, at a row that a scan has found, and its counterparts alone: of one of the base
// table those that it should have, else the base row. It may be wrong if the entity is being written.
func (j *job) first(ctx context.Context, t *table, r *row) (repair.Look, error) {
	l := repair.Look{BaseTable: j.base().Layout, Adopt: j.adopt}
	if t != j.base() {
		base, err := j.row(ctx, j.base(), r.Entity(), j.level())
		if base != nil {
			l.Base = &base.Row
		}
		if t.Unique() {
			l.Unique, l.Claims = []tablerow.Layout{t.Layout}, []repair.Claim{{Table: t.Name(), Key: r.Key(), Own: true}}
		} else {
			l.Rows = []repair.Row{r.Row}
		}
		l.FillExpiries()
		return l, err
	}
	l.Base, l.Tables = &r.Row, j.layouts()
	for _, q := range j.queries {
		key, there := r.KeyIn(q.Layout)
		if !there {
			continue
		}
		have, err := j.row(ctx, q, key, j.level())
		if err != nil {
			return l, err
		}
		if have != nil && have.Entity() == r.Entity() { // else it is of an entity with the same ID, which a look tells
			l.Rows = append(l.Rows, have.Row)
		}
	}
	l.FillExpiries()
	return l, nil
}

func (j *job) level() gocql.Consistency { return j.access.consistency }
