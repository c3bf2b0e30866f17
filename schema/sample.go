package schema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/sample"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/session"
)

// A sample of a base table is read in several places of the ring, one after the other.
const (
	samplePlaces  = 4
	sampleRows    = 25 // of each
	sampleTimeout = 2 * time.Second
)

// sampled compares rows of the base tables of sets with what the sets declare. A table with columns that differ is
// left out.
func sampled(ctx context.Context, s *session.Session, declared, live *Schema, found []Difference) (out []Difference) {
	r := &sample.Reader{Reads: s.Reads(), Timeout: sampleTimeout, Places: samplePlaces, Rows: sampleRows}
	for i := range declared.Entities {
		e := &declared.Entities[i]
		if e.set == nil || e.set.Internal().Counts {
			continue
		}
		for _, t := range live.lives(declared.Table(e.Tables[0])) {
			if slices.ContainsFunc(Breaking(found), func(d Difference) bool {
				return d.Keyspace == t.Keyspace && d.Table == t.Name && d.Column != ""
			}) {
				continue
			}
			for _, d := range sampledTable(ctx, r, tablerow.Layouts(e.set.Internal())[0], t) {
				if !slices.Contains(out, d) { // two sets may have one base table
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// sampledTable says what of rows of a base table a change through the set would damage.
func sampledTable(ctx context.Context, r *sample.Reader, l tablerow.Layout, t *Table) (out []Difference) {
	add := func(d Difference) {
		d.Keyspace, d.Table = t.Keyspace, t.Name
		out = append(out, d)
	}
	underived, key := make(map[string]int), make(map[string]bool)
	seen, err := r.Survey(ctx, l, t.Keyspace, t.String(), t.TTL(), func(cells [][]byte) {
		if r, err := tablerow.Read(l, cells[:len(l.AllColumns())]); err == nil {
			column, inKey := r.Underived()
			underived[column]++
			key[column] = inKey
		}
	})
	code := func(of int) bool {
		refused, ok := driver.RequestError(err)
		return ok && refused.Code() == of
	}
	switch {
	case err == nil:
	case code(gocql.ErrCodeUnauthorized):
		add(Difference{Note: true, Reason: "no row was looked at for a TTL, as the role has no permission to SELECT"})
	default:
		add(Difference{Note: true, Reason: fmt.Sprintf("no row, or not all of a sample, was looked at for a TTL: %v", err)})
	}
	of := func(n int) string { return fmt.Sprintf("%d of %d rows that were looked at", n, seen.Rows) }
	if n := seen.Partly; n > 0 {
		add(Difference{
			Reason:     of(n) + " have a TTL on some columns, which a change would lose, and no expiry fits",
			Impossible: tablerow.Alike,
		})
	}
	if n := seen.Ending - seen.Partly; n > 0 {
		fix, advice := tablerow.Keep(l, t.String())
		d := Difference{
			Reason: of(n) + " end by a TTL, which a change would lose", Note: l.Set.Expiry >= 0,
			Fix: fix, Impossible: advice,
		}
		if fix != "" {
			d.Reason += ": " + advice
		}
		add(d)
	}
	for _, unit := range slices.Sorted(maps.Keys(seen.Units)) {
		d := Difference{Reason: of(seen.Units[unit]) + " have write times in " + unit, Note: true, Impossible: "adopt the set"}
		if unit == tablerow.Nanoseconds {
			d.Note, d.Impossible = false, "no later write wins against them: copy the rows into a new table"
		}
		add(d)
	}
	for _, column := range slices.Sorted(maps.Keys(seen.Nulls)) {
		advice := "make the field a pointer, or an update writes the value that Go has instead of null"
		if slices.ContainsFunc(l.Set.Compared, func(i int) bool { return l.Set.Columns[i].Name == column }) {
			advice = "it is compared, so no change of these rows can hold: make the field a pointer, or UPDATE it to a value"
		}
		add(Difference{
			Column: column, Note: true, Reason: "null in " + of(seen.Nulls[column]) + ", and its field is not a pointer",
			Impossible: advice,
		})
	}
	for _, column := range slices.Sorted(maps.Keys(seen.Stuck)) {
		add(Difference{
			Column: column, Note: true, Reason: "null in " + of(seen.Stuck[column]) + ", so no change of these rows is valid",
			Impossible: "UPDATE it to a value, or make the field a pointer",
		})
	}
	delete(underived, "")
	for _, column := range slices.Sorted(maps.Keys(underived)) {
		d := Difference{
			Column: column, Reason: of(underived[column]) + " have another value than tables.Derive gives",
			Impossible: "correct them by CQL",
		}
		if d.Note = !key[column]; d.Note {
			d.Impossible += ", or Modify the entities"
		}
		add(d)
	}
	return out
}
