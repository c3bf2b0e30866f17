package reconcile_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
)

// stored is a row as a table has it.
type stored struct {
	id            gocql.UUID
	owner, status string // empty for null
	a, b, stamp   *int64
}

func (s stored) values() string { return fmt.Sprint("a ", show(s.a), ", b ", show(s.b)) }

func show(v *int64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

// read reads a table, by entity.
func (x *random) read(table string) map[gocql.UUID][]stored {
	x.t.Helper()
	out := make(map[gocql.UUID][]stored)
	iter := x.s.Reads().Query("SELECT id, owner, status, a, b, updated_at FROM " + table).Consistency(gocql.All).PageSize(100_000).Iter()
	for {
		var s stored
		var owner *gocql.UUID
		if !iter.Scan(&s.id, &owner, &s.status, &s.a, &s.b, &s.stamp) {
			break
		}
		if owner != nil {
			s.owner = owner.String()
		}
		if x.versioned && s.owner == "" {
			continue // of a delete that is remembered
		}
		out[s.id] = append(out[s.id], s)
	}
	if err := iter.Close(); err != nil {
		x.t.Fatal(err)
	}
	return out
}

// differences are the rows that disagree with the base table, by a comparison of its own.
func (x *random) differences() []string {
	base := x.read("items")
	var out []string
	owner, status := func(s stored) string { return s.owner }, func(s stored) string { return s.status }
	for table, columns := range map[string][2]func(stored) string{"items_by_owner": {owner, status}, "items_by_status": {status, owner}} {
		name, column, other := strings.TrimPrefix(table, "items_by_"), columns[0], columns[1]
		say := func(s stored) {
			value := column(s)
			if name == "status" {
				value = "'" + value + "'"
			}
			out = append(out, fmt.Sprintf("%s: %s = %s AND id = %v", table, name, value, s.id))
		}
		have := x.read(table)
		for id, rows := range have {
			for _, q := range rows {
				b := base[id]
				switch {
				case len(b) == 0, b[0].values() != q.values(), show(b[0].stamp) != show(q.stamp), other(b[0]) != other(q):
					say(q)
				case column(b[0]) == "" && !x.moves: // a patch of a deleted item makes such a base row
				case column(b[0]) != column(q):
					say(q)
				}
			}
		}
		for id, b := range base {
			if column(b[0]) != "" && !slices.ContainsFunc(have[id], func(q stored) bool { return column(q) == column(b[0]) }) {
				say(b[0])
			}
		}
	}
	slices.Sort(out)
	return out
}

// check compares the tables with what was written: they agree, and have of each column of each entity the newest
// acknowledged write, or a newer one that was attempted.
func (x *random) check() {
	x.t.Helper()
	if left := x.differences(); len(left) > 0 {
		x.t.Errorf("the tables disagree:\n%s", strings.Join(left, "\n"))
	}
	base := x.read("items")
	of := make(map[gocql.UUID][]*logged)
	for _, l := range x.log {
		of[l.row.ID] = append(of[l.row.ID], l)
	}
	for id := range base {
		if of[id] == nil {
			x.t.Errorf("item %v is of no write", id)
		}
	}
	for id, writes := range of {
		var have *stored
		if rows := base[id]; len(rows) > 0 {
			have = &rows[0]
		}
		for _, column := range x.columns() {
			if wrong := column.wrong(have, writes); wrong != "" {
				x.t.Errorf("item %v: %s\n%s", id, wrong, describe(writes))
			}
		}
	}
}

// columns are what is checked: the row as a whole, but each column by itself of sets that take patches, which are
// repaired so.
func (x *random) columns() []column {
	values := func(s stored) string { return s.values() }
	if x.moves {
		return []column{{"row", func(s stored) string { return s.status + ", " + values(s) }}}
	}
	return []column{{"a", func(s stored) string { return show(s.a) }}, {"b", func(s stored) string { return show(s.b) }}}
}

// column is a part of a row that is written as a whole.
type column struct {
	name string
	of   func(stored) string
}

const null = "null"

// gives is what a write leaves in the column, false if it leaves it alone.
func (c column) gives(l *logged) (string, bool) {
	switch {
	case l.Kind() == tables.Delete:
		return null, true
	case l.Kind() == tables.Patch && !slices.Contains(l.edits, c.name):
		return "", false
	}
	return c.of(stored{status: l.row.Status, a: l.row.A, b: l.row.B}), true
}

// wrong says what is wrong with what is there, which is nil where there is no row.
func (c column) wrong(have *stored, writes []*logged) string {
	value := null
	if have != nil {
		value = c.of(*have)
	}
	var acked int64
	for _, l := range writes {
		if _, writes := c.gives(l); writes && l.acked {
			acked = max(acked, l.at)
		}
	}
	if acked == 0 && value == null {
		return ""
	}
	for _, l := range writes {
		if v, writes := c.gives(l); writes && v == value && l.at >= acked && l.at != 0 {
			return ""
		}
	}
	return fmt.Sprintf("%s is %s, which is not of the newest acknowledged write, of %d, nor of a newer one", c.name, value, acked)
}

func describe(writes []*logged) string {
	var b strings.Builder
	slices.SortFunc(writes, func(a, b *logged) int { return int(a.at - b.at) })
	for _, l := range writes {
		fmt.Fprintf(&b, "  %d %v %v %s a %s, b %s, acknowledged %t\n", l.at, l.Kind(), l.edits, l.row.Status, show(l.row.A), show(l.row.B), l.acked)
	}
	return b.String()
}
