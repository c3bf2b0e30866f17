package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/decide/versioned"
)

// keyless are rows of query tables that name no entity, as a column of the base key is null, or in no bucket. In a set with ID rows by hand are
// like that until a repair or an adoption has put the base row there. Others are orphans.
type keyless struct {
	mu   sync.Mutex
	rows []Finding // what they are if no base row turns up
	more bool      // there were more than maxFindings
}

// leadsNowhere notes a row that names no entity.
func (j *job) leadsNowhere(u *unit, t *table, key string, at int64) {
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
	if len(j.keyless.rows) == maxFindings {
		j.keyless.more = true
		return
	}
	j.keyless.rows = append(j.keyless.rows, Finding{
		Class: Orphan, Certainty: Settled, Table: t.qualified(), RowTime: moment(at), FirstSeen: time.Now().UTC(), key: key, t: t,
		Reason: "it leads to no row of " + j.base().qualified() + ", as a column of the base key is null, or in no bucket",
	})
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
	return fmt.Errorf("a row of %s leads to no row of %s yet, as its base key has a null: run %s again, which fills or names it",
		t.qualified(), j.base().qualified(), j.kind)
}

// settleKeyless makes findings of the rows that name no entity still, and that no base row wants. All entities that differ are settled.
func (j *job) settleKeyless(ctx context.Context) {
	j.report.mu.Lock()
	sure := j.report.Uncovered == 0 && len(j.report.findings) < maxFindings && !j.keyless.more // else a base row may want them
	wanted := make(map[place]bool, len(j.report.findings))
	for i := range j.report.findings {
		wanted[j.report.findings[i].spot().place] = true
	}
	j.report.mu.Unlock()
	for _, f := range j.keyless.rows {
		if at := f.spot().place; wanted[at] {
			continue
		}
		_ = waitUntil(ctx, f.FirstSeen.Add(j.settle)) // if ctx ends, so does the read
		switch r, err := j.row(ctx, f.t, f.key, j.level()); {
		case err != nil:
			j.unlooked(ctx, err)
		case r == nil || r.Entity() != "":
		case !sure:
			j.report.uncovered(j.namesNone(f.t))
		default:
			j.report.add([]Finding{f})
			j.tracedFindings(ctx, []Finding{f})
		}
	}
	if j.keyless.more {
		j.report.uncovered(errors.New("more rows lead to no base row than are kept: run " + j.kind + " again"))
	}
}
