package reconcile

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// slices of the findings of a set, so that no partition of them becomes large.
const findingSlices = 64

func sliceOf(entity string) int16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(entity))
	return int16(h.Sum32() % findingSlices)
}

// sighting is a finding as it is stored.
type sighting struct {
	entity                    []byte
	table                     string // as declared
	key                       []byte
	class, differs, certainty string
	baseAt, rowAt             int64
	first, last               time.Time
	run                       gocql.UUID // that saw it last, zero of one entity
	outcome, reason           string
}

const sightingColumns = "entity, tbl, row_key, class, differs, certainty, base_at, row_at, first_seen, last_seen, run, outcome, reason"

// scanSighting scans a row that others may have written. Nobody has seen a finding before its rows were written.
func scanSighting(s gocql.Scanner, f *sighting) error {
	err := s.Scan(&f.entity, &f.table, &f.key, &f.class, &f.differs, &f.certainty, &f.baseAt, &f.rowAt, &f.first, &f.last, &f.run, &f.outcome, &f.reason)
	f.first = later(f.first, later(moment(f.baseAt), moment(f.rowAt)))
	for _, text := range []*string{&f.differs, &f.reason} {
		*text = printable.Line((*text)[:min(len(*text), 1000)])
	}
	return err
}

// finding is what repair says of a row, and of no use if another version of the library has stored a class that this
// one does not know.
func (s *sighting) finding() repair.Finding {
	return repair.Finding{
		Class: named(s.class, repair.Missing, repair.Shared), Table: s.table, Key: string(s.key), BaseAt: s.baseAt, RowAt: s.rowAt, Column: s.differs,
	}
}

// named is the value that has a name, zero if none has.
func named[T interface {
	~uint8
	String() string
}](name string, from, to T) T {
	for v := from; v <= to; v++ {
		if v.String() == name {
			return v
		}
	}
	return 0
}

// recall gives a suspect the time when an earlier run saw it first in the same state, and with it another certainty.
// What was ahead then, is.
func (j *job) recall(ctx context.Context, s *suspect, l *repair.Look, began time.Time, c repair.Certainty) (repair.Certainty, error) {
	var same []repair.Finding
	var first time.Time
	if err := visit(ctx, j.store, scanSighting, func(f *sighting) error {
		if f.outcome == Repaired.String() || !j.compares(f.table) {
			return nil
		}
		if len(same) <= maxFindings {
			same = append(same, f.finding())
		}
		if at := max(f.baseAt, f.rowAt); f.class == Ahead.String() && slices.ContainsFunc(s.sighting.Findings, func(x repair.Finding) bool {
			return x.BaseAt == at || x.RowAt == at
		}) {
			s.held = max(s.held, at-1)
		}
		first = later(first, f.first)
		return nil
	}, "SELECT "+sightingColumns+" FROM "+j.store.name(findingTable)+" WHERE subject = ? AND slice = ? AND entity = ?",
		j.subject(), sliceOf(s.entity), []byte(s.entity)); err != nil {
		return c, err
	}
	l.Ahead = min(l.Ahead, j.ahead(s))
	s.sighting.Findings = l.Findings()
	if len(same) == 0 || !repair.Same(same, s.sighting.Findings) || !first.Before(s.sighting.First) {
		return c, nil
	}
	if s.sighting.First = first; !began.Before(first.Add(j.horizon())) {
		c = repair.Proven
	}
	return c, nil
}

// compares says whether a query table is one that the call is about.
func (j *job) compares(name string) bool {
	return slices.ContainsFunc(j.compared()[1:], func(t *table) bool { return t.Name() == name })
}

// A finding is stored when its repair begins, if it is repaired, and when that is done. The steps are microseconds of
// its timestamp.
type step int64

const (
	stepBegun step = iota
	stepDone
)

// begun is the stored outcome of a finding whose repair has begun.
const begun = "begun"

// timestamp is that of a stored finding.
func (s step) timestamp(seen time.Time) int64 { return seen.UnixMilli()*1000 + int64(s) }

// remember stores findings of an entity.
func (j *job) remember(ctx context.Context, entity string, seen time.Time, found []Finding, at step) error {
	var run *gocql.UUID // null of one entity
	if j.stored != nil {
		run = &j.stored.run
	}
	for _, f := range found {
		outcome := f.Outcome.String()
		if at == stepBegun {
			outcome = begun
		}
		err := j.store.exec(ctx, "INSERT INTO "+j.store.name(findingTable)+" (subject, slice, "+sightingColumns+
			") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?",
			j.subject(), sliceOf(entity), []byte(entity), f.t.Name(), []byte(f.key), f.Class.String(), f.Column, f.Certainty.String(),
			micros(f.BaseTime), micros(f.RowTime), f.FirstSeen, seen, run, outcome, f.Reason, at.timestamp(seen))
		if err != nil {
			return err
		}
	}
	return nil
}

// sightings reads what is stored of the set, a slice at a time. It leaves out rows whose keys are damaged.
func (j *job) sightings(ctx context.Context, f func(slice int16, stored *sighting) error) error {
	for slice := range int16(findingSlices) {
		if err := visit(ctx, j.store, scanSighting, func(s *sighting) error {
			if !j.compares(s.table) || !tablerow.HasKey(j.base().Layout, string(s.entity)) || !tablerow.HasKey(j.table(s.table).Layout, string(s.key)) {
				return nil
			}
			return f(slice, s)
		}, "SELECT "+sightingColumns+" FROM "+j.store.name(findingTable)+" WHERE subject = ? AND slice = ?", j.subject(), slice); err != nil {
			return err
		}
	}
	return nil
}

// earlier is what an earlier process has found in a run that is continued.
type earlier struct {
	mu     sync.Mutex
	report map[string][]place   // by entity: findings that the report has
	gone   map[spot]bool        // rows that are read again, and were not found to disagree
	begun  map[string][]Finding // by entity: findings whose repair it had begun
	todo   map[string][]place   // by entity: rows to be looked at first
}

// restore adds to the report what the run has found, and what others have since it began, except for rows that the run
// reads again. Those beyond a bound are only counted.
func (j *job) restore(ctx context.Context, r *storedRun) error {
	r.earlier = earlier{report: make(map[string][]place), gone: make(map[spot]bool), begun: make(map[string][]Finding), todo: make(map[string][]place)}
	kept := 0
	return j.sightings(ctx, func(_ int16, f *sighting) error {
		if r.outdated(f) {
			return nil
		}
		t, outcome := j.table(f.table), named(f.outcome, Found, Failed)
		if f.run == r.run && outcome == Repaired && slices.Contains([]string{Ghost.String(), Orphan.String(), Ahead.String()}, f.class) {
			j.removed.Add(1)
		}
		at := place{t, string(f.key)}
		finding := Finding{
			Class: named(f.class, repair.Missing, repair.Shared), Certainty: named(f.certainty, repair.Agrees, repair.Proven),
			Table: t.qualified(), Column: f.differs, BaseTime: moment(f.baseAt), RowTime: moment(f.rowAt), FirstSeen: f.first,
			Outcome: outcome, Reason: f.reason, key: string(f.key), entity: string(f.entity), t: t,
		}
		again, maybe := r.again(j, f)
		begun := f.run == r.run && f.outcome == begun
		if outcome == Repaired || !begun && !again {
			j.report.add([]Finding{finding})
		}
		e := &r.earlier
		switch entity := string(f.entity); {
		case outcome == Repaired:
			return nil
		case kept == j.restored:
			if begun {
				j.report.uncovered(errUnsettled)
			}
			return nil
		case begun:
			e.begun[entity] = append(e.begun[entity], finding)
			e.todo[entity] = append(e.todo[entity], at)
			e.gone[finding.spot()] = true
		case again:
			e.gone[finding.spot()] = true
		default:
			if maybe {
				e.todo[entity] = append(e.todo[entity], at)
			}
			e.report[entity] = append(e.report[entity], at)
		}
		kept++
		return nil
	})
}

// again says whether the run reads a range again in which it finds a row that disagrees still, or only maybe: from the
// base row those are seen that are under the key which it has. A digest reads all of them again.
func (r *storedRun) again(j *job, f *sighting) (again, maybe bool) {
	base := !r.covers(j.base(), string(f.entity), j.ranges)
	class := named(f.class, repair.Missing, repair.Shared)
	if ofBase(class, f.rowAt) {
		return base, false
	}
	return !r.covers(j.table(f.table), string(f.key), j.ranges), base && (class == Newer || class == Differing || class == Ahead)
}

// covers says whether the range of a row was done by an earlier process.
func (r *storedRun) covers(t *table, key string, ranges int) bool {
	_, partition := tablerow.Arguments(t.Layout, key)
	token := murmur3.Token(partition)
	all := segments(ranges)
	in := all[slices.IndexFunc(all, func(s segment) bool { return token <= s.high })]
	_, ok := r.covered[coveredKey{t.Name(), in.low, in.high}]
	return ok
}

// lookToo adds the places of what an earlier process has found of an entity, in ranges that may be done.
func (r *storedRun) lookToo(s *suspect) {
	e := &r.earlier
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range e.report[s.entity] {
		s.places[at] = true
	}
}

// looked corrects what an earlier process has found of an entity, which was looked at again.
func (r *storedRun) looked(report *Report, entity string, found []Finding) {
	e := &r.earlier
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range e.report[entity] {
		gone := spot{at, entity}
		report.drop(gone)
		e.gone[gone] = true
	}
	delete(e.report, entity)
	for i := range found {
		delete(e.gone, found[i].spot())
	}
}

// lookFirst has entities looked at of which no range that is read again says all: one that a repair had begun may have
// a new base row, in a range that is done.
func (r *storedRun) lookFirst(ctx context.Context, j *job) {
	for entity, places := range r.earlier.todo {
		for _, p := range places {
			j.queue.add(ctx, entity, p, nil)
		}
	}
}

// finished gives the findings of an entity, whose repair an earlier process has begun, that are no more.
func (r *storedRun) finished(entity string, found []Finding) (repaired []Finding) {
	e := &r.earlier
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.begun[entity] {
		if !slices.ContainsFunc(found, func(still Finding) bool { return still.t == f.t && still.key == f.key }) {
			f.Outcome = Repaired
			repaired = append(repaired, f)
			delete(e.gone, f.spot())
		}
	}
	delete(e.begun, entity)
	return repaired
}

// forget deletes what no longer differs: the run has read everything since it began, and has not seen it. The timestamp
// leaves what another run has seen meanwhile.
func (j *job) forget(ctx context.Context, r *storedRun) error {
	return j.sightings(ctx, func(slice int16, f *sighting) error {
		if !r.outdated(f) && !r.earlier.gone[spot{place{j.table(f.table), string(f.key)}, string(f.entity)}] {
			return nil
		}
		return j.store.exec(ctx, "DELETE FROM "+j.store.name(findingTable)+
			" USING TIMESTAMP ? WHERE subject = ? AND slice = ? AND entity = ? AND tbl = ? AND row_key = ?",
			stepDone.timestamp(f.last), j.subject(), slice, f.entity, f.table, f.key)
	})
}

// outdated says whether a sighting is of before the run. What the run has seen itself is not, whatever the clocks say:
// stored times are in milliseconds.
func (r *storedRun) outdated(f *sighting) bool { return f.run != r.run && f.last.Before(r.began) }
