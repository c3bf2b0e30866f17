package repair_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/tables"
)

// lawReads are the seconds in which the tables are read: after the last delivery, and when whatever expires has.
var lawReads = []int64{lawDelivered + 100, lawLater.Unix() + 10_000}

// checkLaw holds the tables against the convergence law for distinct timestamps: every table is the projection of the
// row with the largest one, or empty if that was a delete. It returns what is wrong.
func checkLaw(tr *lawTrial, r *lawReplica) string {
	newest := tr.newest()
	reads := lawReads[:1]
	if r.family.expiry >= 0 {
		reads = lawReads
	}
	for _, now := range reads {
		var row *lawRow
		if newest.after >= 0 {
			row = tr.row(newest.after)
			if r.family.expiry >= 0 && row.values[r.family.expiry] != nil &&
				int64(binary.BigEndian.Uint64(row.values[r.family.expiry])) <= now*1000 {
				row = nil
			}
		}
		for i := range r.family.tables {
			var key []byte
			if row != nil {
				key = row.keys[i]
			}
			if wrong := r.differs(i, now, key, row, newest.timestamp); wrong != "" {
				return tr.wrong(i, key, row, wrong)
			}
		}
	}
	return ""
}

// checkTies holds the tables against the law for equal timestamps. The base row is gone if one of the newest changes is
// a delete, and else there, with the key values of one of them. Every query table with at most one OneOf column in
// its key holds the row, and only the row, under the key that the base row names; with none, it holds the base row's
// values, too. What a derived column follows from names the key, not the derived column of the base row: each cell of
// that row is of one of the writers, so the two need not be of the same one.
func checkTies(tr *lawTrial, r *lawReplica) string {
	f, now := r.family, lawReads[0]
	exists, timestamp := true, tr.newest().timestamp
	for i := range tr.changes {
		c := &tr.changes[i]
		exists = exists && (c.dropped || c.timestamp != timestamp || c.after >= 0)
	}
	var key []byte
	if exists {
		key = tr.row(0).keys[0] // one entity: all rows of the world have the same
	}
	if wrong := r.differs(0, now, key, nil, 0); wrong != "" {
		return tr.wrong(0, key, nil, wrong)
	}
	value := func(column int) []byte {
		if i := slices.Index(f.tables[0].columns, column); i >= 0 {
			return r.tables[0].Row(key).Value(i, now)
		}
		return tr.row(0).values[column] // in the base key
	}
	if exists {
		for _, column := range f.moving {
			if !tr.wrote(column, timestamp, value(column)) {
				return tr.wrong(0, key, nil, fmt.Sprintf("column %s has the value of none of the newest changes%s", f.names[column],
					r.show(0, now)))
			}
		}
	}
	for i := 1; i < len(f.tables); i++ {
		if f.tables[i].moving > 1 {
			continue
		}
		var want []byte
		if exists {
			r.key = r.key[:0]
			want = f.key(r.key, &f.tables[i], func(column int) []byte {
				if bucket := f.buckets[column]; bucket != nil {
					return bucket(value)
				}
				return value(column)
			})
		}
		wrong := r.differs(i, now, want, nil, 0)
		if t := &f.tables[i]; wrong == "" && want != nil && t.moving == 0 {
			row := r.tables[i].Row(want)
			for n, column := range t.columns {
				if !bytes.Equal(row.Value(n, now), value(column)) {
					wrong = fmt.Sprintf("column %s differs from the base row's%s", f.names[column], r.show(i, now))
				}
			}
		}
		if wrong != "" {
			return tr.wrong(i, want, nil, wrong+"\nwhile the base table "+f.tables[0].name+r.show(0, now))
		}
	}
	return ""
}

// wrote says whether a change at the timestamp wrote the value to the column.
func (tr *lawTrial) wrote(column int, timestamp int64, value []byte) bool {
	return slices.ContainsFunc(tr.changes, func(c lawChange) bool {
		if c.dropped || c.timestamp != timestamp || c.after < 0 {
			return false
		}
		v := tr.row(c.after).values[column]
		return bytes.Equal(v, value) && (v == nil) == (value == nil)
	})
}

// wrong prints what a table, for which key was expected, holds instead of row, or if that is nil of any row.
func (tr *lawTrial) wrong(table int, key []byte, row *lawRow, what string) string {
	f, want := tr.family, "no row"
	if key != nil {
		want = "one row, under " + f.keyText(table, string(key))
	}
	if key != nil && row != nil {
		want = "the row " + f.text(row)
	}
	return fmt.Sprintf("table %s should hold %s, but %s", f.tables[table].name, want, what)
}

// lawCoverage counts what the cases contain.
type lawCoverage struct {
	concurrent, absent, nulls, repeats, deleteUpdate, twoMoving, clustered, sparse, subset, adjacent int
}

func (c *lawCoverage) fields() []struct {
	name  string
	count *int
} {
	return []struct {
		name  string
		count *int
	}{
		{"concurrent moves", &c.concurrent},
		{"absent values", &c.absent},
		{"absent values sent as null", &c.nulls},
		{"repeats", &c.repeats},
		{"delete then update", &c.deleteUpdate},
		{"two OneOf columns", &c.twoMoving},
		{"OneOf in a clustering position", &c.clustered},
		{"sparse tables", &c.sparse},
		{"subset tables", &c.subset},
		{"adjacent timestamps", &c.adjacent},
	}
}

func (c *lawCoverage) add(other *lawCoverage) {
	to, from := c.fields(), other.fields()
	for i := range to {
		*to[i].count += *from[i].count
	}
}

// count looks at one case.
func (c *lawCoverage) count(tr *lawTrial) {
	f := tr.family
	var concurrent, absent, nulls, deleteUpdate, sparse, adjacent bool
	mutations := 0
	for i := range tr.changes {
		a := &tr.changes[i]
		mutations += len(a.mutations)
		adjacent = adjacent || i > 0 && a.timestamp == tr.changes[i-1].timestamp+1
		if a.after >= 0 {
			row := tr.row(a.after)
			sparse = sparse || f.sparse(row)
			absent = absent || row.absent > 0
			replaces := a.kind != tables.Insert || f.insertSweeps()
			nulls = nulls || replaces && row.absent > 0
		}
		for j := range i {
			b := &tr.changes[j]
			if a.kind != tables.Update {
				continue
			}
			deleteUpdate = deleteUpdate || b.kind == tables.Delete && b.timestamp < a.timestamp
			concurrent = concurrent || b.kind == tables.Update && b.before == a.before &&
				f.moved(tr.row(a.before), tr.row(a.after)) &&
				f.moved(tr.row(a.before), tr.row(b.after)) && f.moved(tr.row(a.after), tr.row(b.after))
		}
	}
	for _, x := range []struct {
		is    bool
		count *int
	}{
		{concurrent, &c.concurrent},
		{absent, &c.absent},
		{nulls, &c.nulls},
		{len(tr.steps) > mutations, &c.repeats},
		{deleteUpdate, &c.deleteUpdate},
		{len(f.moving) > 1, &c.twoMoving},
		{f.clustered, &c.clustered},
		{sparse, &c.sparse},
		{f.subset, &c.subset},
		{adjacent, &c.adjacent},
	} {
		if x.is {
			*x.count++
		}
	}
}
