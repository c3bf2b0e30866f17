package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/decide/versioned"
)

// keyless are rows of query tables that name no entity, as a column of the base key is null, or in no bucket. In a set
// with ID rows by hand are like that until a repair or an adoption has put the base row there. Others are orphans.
type keyless struct {
	mu   sync.Mutex
	rows []Finding // what they are if no base row turns up
	seen map[place]bool
	more bool // there were more than maxFindings
	// unsure says that a base row was not compared, so that a row may be its.
	unsure atomic.Bool
	// elsewhere says that a base row is under another key than the library gives it: a row that leads nowhere may be its.
	elsewhere atomic.Bool
}

// leadsNowhere notes a row that names no entity.
func (j *job) leadsNowhere(u *unit, t *table, key string, written int64) {
	if u != nil {
		u.unsafe.Store(true)
	}
	if t.Unique() || t == j.base() || j.counts != nil {
		if u != nil {
			u.failed.Store(true)
		}
		j.report.uncovered(j.namesNone(t))
		return
	}
	j.keyless.mu.Lock()
	defer j.keyless.mu.Unlock()
	at := place{t, key}
	switch {
	case j.keyless.seen[at]: // a page was read twice
		return
	case len(j.keyless.rows) == maxFindings:
		j.keyless.more = true
		return
	case j.keyless.seen == nil:
		j.keyless.seen = make(map[place]bool)
	}
	j.keyless.seen[at] = true
	j.keyless.rows = append(j.keyless.rows, Finding{
		Class: Orphan, Certainty: Settled, Table: t.qualified(), RowTime: moment(written), FirstSeen: time.Now().UTC(), key: key, t: t,
		Reason: "it leads to no row of " + j.base().qualified() + ", as a column of the base key is null, or in no bucket",
	})
}

// leftOut notes that a row of a table was not compared, as it ends soon, or has a flaw.
func (j *job) leftOut(t *table) {
	if t == j.base() {
		j.keyless.unsure.Store(true)
	}
}

// namesNone is the error of a row that names no entity, where it cannot be said whether it is an orphan.
func (j *job) namesNone(t *table) error {
	switch {
	case t.Unique():
		return versioned.Ownerless(t.qualified())
	case j.counts != nil:
		return fmt.Errorf("a row of %s leads to no row of %s, as its base key has a null: denorm verify --keys names it",
			t.qualified(), j.base().qualified())
	}
	if t == j.base() {
		return fmt.Errorf("a row of %s names no entity, as its key has no value or no bucket: correct or delete it", t.qualified())
	}
	return fmt.Errorf("a row of %s leads to no row of %s yet, as its base key has a null: correct what else is not compared, then run %s again",
		t.qualified(), j.base().qualified(), j.kind)
}

// settleKeyless makes findings of the rows that name no entity still, and that no base row wants. All entities that
// differ are settled.
func (j *job) settleKeyless(ctx context.Context) {
	if j.keyless.more {
		j.report.uncovered(errors.New("more rows lead to no base row than are kept: run " + j.kind + " again"))
		return
	}
	j.report.mu.Lock()
	sure := j.report.Uncovered == 0 && len(j.report.findings) < maxFindings && !j.keyless.unsure.Load() // else a base row may want them
	wanted := make(map[place]bool, len(j.report.findings))
	for i := range j.report.findings {
		wanted[j.report.findings[i].spot().place] = true
	}
	j.report.mu.Unlock()
	var failures atomic.Int64
	var group sync.WaitGroup
	room := make(chan struct{}, lookups)
	for _, f := range j.keyless.rows {
		if wanted[f.spot().place] {
			continue
		}
		if failures.Load() >= mostFailures {
			j.report.uncovered(j.namesNone(f.t))
			continue
		}
		_ = waitUntil(ctx, f.FirstSeen.Add(j.settle)) // if ctx ends, so does the read
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			switch r, err := j.row(ctx, f.t, f.key, j.level()); {
			case err != nil:
				failures.Add(1)
				j.unlooked(ctx, err)
			case r == nil || r.Entity() != "":
			case !sure:
				j.report.uncovered(j.namesNone(f.t))
			default:
				j.report.add([]Finding{f})
				j.tracedFindings(ctx, []Finding{f})
			}
		})
	}
	group.Wait()
}
