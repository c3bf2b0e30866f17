package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/denorm-go/denorm/internal/tablerow"
)

// ErrUnsafe says that some rows are not safe to change. They have a TTL, which a change would lose, or no write of the
// library wins against them. The text says what to do.
var ErrUnsafe = errors.New("denorm: reconcile: rows are not safe to change")

// rows counts rows of a table that were read.
func (r *Report) rows(t *table, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table(t.qualified()).Rows += n
}

// surveyed adds rows of a unit that were read to the report.
func (j *job) surveyed(u *unit, seen *tablerow.Survey) {
	if j.set.Expiry < 0 {
		u.ending.Add(int64(seen.Ending))
	}
	adopts := j.adopt != 0 || j.adopted != 0
	if seen.Ending > 0 || seen.Units[tablerow.Nanoseconds] > 0 || adopts && len(seen.Stuck) > 0 {
		u.unsafe.Store(true)
	}
	j.report.mu.Lock()
	defer j.report.mu.Unlock()
	t := j.report.table(u.t.qualified())
	t.Rows += seen.Rows
	t.Ending += seen.Ending
	t.partly += seen.Partly
	tablerow.AddCounts(&t.Units, seen.Units)
	if adopts {
		tablerow.AddCounts(&t.Nulls, seen.Nulls)
		tablerow.AddCounts(&t.stuck, seen.Stuck)
	}
	if j.set.Expiry < 0 {
		fix, declare := tablerow.Keep(u.t.Layout, u.t.qualified())
		if t.keep = declare; fix != "" {
			t.keep = fix + "; and " + declare
		}
	}
}

// unsafe says of each table why rows of it are not safe to change.
func (r *Report) unsafe() (out []error) {
	for _, t := range r.Tables {
		if n := t.Ending - t.partly; n > 0 && t.keep != "" {
			out = append(out, fmt.Errorf("%w: %s has %d %s with a TTL, which a change would lose: %s", ErrUnsafe, t.Table,
				n, plural(n, "row"), t.keep))
		}
		if n := t.partly; n > 0 {
			out = append(out, fmt.Errorf("%w: %s has %d %s with a TTL on some columns, and no expiry fits: %s", ErrUnsafe, t.Table,
				n, plural(n, "row"), tablerow.Alike))
		}
		if n := t.Units[tablerow.Nanoseconds]; n > 0 {
			out = append(out, fmt.Errorf("%w: write times of %d %s of %s are in nanoseconds, so no later write wins: "+
				"copy them into a new table", ErrUnsafe, n, plural(n, "row"), t.Table))
		}
		for _, column := range slices.Sorted(maps.Keys(t.stuck)) {
			n := t.stuck[column]
			out = append(out, fmt.Errorf("%w: %s is null in %d %s of %s, which no change takes: UPDATE it by CQL, or make the field a "+
				"pointer", ErrUnsafe, column, n, plural(n, "row"), t.Table))
		}
	}
	return out
}

// notes are what is worth knowing of the rows of a table, alongside its findings.
func (t *TableReport) notes() (out []string) {
	if t.Unheld > 0 {
		out = append(out, fmt.Sprintf("%d %s that no base row holds", t.Unheld, plural(t.Unheld, "claim")))
	}
	if n := t.Ending - t.partly; n > 0 && t.keep == "" {
		out = append(out, fmt.Sprintf("%d %s with a TTL and no expiry, which adopt fills", n, plural(n, "row")))
	}
	for _, unit := range slices.Sorted(maps.Keys(t.Units)) {
		out = append(out, fmt.Sprintf("write times of %d %s in %s", t.Units[unit], plural(t.Units[unit], "row"), unit))
	}
	for _, column := range slices.Sorted(maps.Keys(t.Nulls)) {
		out = append(out, fmt.Sprintf("%s is null in %d (%.3g %%), and its field is not a pointer", column, t.Nulls[column],
			100*float64(t.Nulls[column])/float64(max(1, t.Rows))))
	}
	return out
}
