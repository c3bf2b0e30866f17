// Package repair compares what the tables of a set hold of one entity, and says which mutations make them agree. It is
// pure: no I/O, no clock.
//
// A repair invents no writes: it sends mutations of a write that was attempted again, with the same values and the same
// timestamp. By the convergence law of package tables that changes nothing for a write that is complete, and finishes
// one that is not, however late the mutations arrive, how often, and from which reads they were computed. The one
// exception is a row without a base row: it is put into the base table at its own time, and only if the base table then
// still has no row, because a later delete covers it, is it removed, at that time.
package repair

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// Row is a row as it was read.
type Row struct {
	tablerow.Row
	// At is when it was written, in microseconds: the largest WRITETIME of its columns. 0: nothing says when.
	At int64
	// Written is of the columns that are not null and have a WRITETIME.
	Written map[string]statement.Written
	// Ends is when the first of them ends other than by default_time_to_live, in milliseconds; 0 if none does.
	Ends int64

	filled bool // its expiry was not in it, and follows from Ends
}

// again renders the write that has left the row again.
func (r *Row) again(nulls bool, keyspace func(string) string) ([]statement.Mutation, error) {
	return r.Redeliver(r.At, r.Written, nulls, keyspace)
}

// Rewrite renders a write of the row at a later time. Each value ends as ends says, and the stamp, which tells whether
// the row stays, with the last of them.
func (r *Row) Rewrite(at int64, ends func(statement.Written) int64, keyspace func(string) string) ([]statement.Mutation,
	error,
) {
	written := make(map[string]statement.Written)
	var last statement.Written
	for name, w := range r.Written {
		w = statement.Written{At: at, Ends: ends(w)}
		if len(written) == 0 || lasts(w, last) > 0 {
			last = w
		}
		written[name] = w
	}
	if name := tablerow.StampColumn(r.Layout()); r.Written[name] != (statement.Written{}) {
		written[name] = last
	}
	return r.Redeliver(at, written, true, keyspace)
}

// Class says in what way a row of a query table disagrees with the base row.
type Class uint8

// The classes.
const (
	Missing   Class = iota + 1 // the base row has a row in the table, and it is not there
	Differing                  // it is there, as old as the base row or older, with other values
	Ghost                      // a row as old as the base row or older, under a key that the base row does not have
	Orphan                     // a row whose entity has no base row
	Newer                      // a row that is newer than the base row
	Ahead                      // the entity has a time in the future: a row as any of the above
	Undatable                  // a row of which nothing says when it was written
	Unclaimed                  // the base row has a unique key, and no claim says so
	Shared                     // another base row has the same unique key, and the claim; or it has the same ID
)

var classNames = [...]string{
	Missing: "missing", Differing: "differing", Ghost: "ghost", Orphan: "orphan", Newer: "newer", Ahead: "ahead",
	Undatable: "undatable", Unclaimed: "unclaimed", Shared: "shared",
}

func (c Class) String() string { return printable.Enum("Class", c, classNames[:]) }

// Finding is one disagreement.
type Finding struct {
	Class         Class
	Table         string
	Key           string // encoded primary key in the table
	BaseAt, RowAt int64  // of the base row and of the row, 0 where there is none
	Column        string // of Differing: one that differs
}

// Look is what was read of one entity.
type Look struct {
	Base *Row // nil: there is no base row
	// Rows are the rows of query tables that have the base key of the entity.
	Rows []Row
	// Tables are the query tables that were asked for the row that the base row has there.
	Tables []tablerow.Layout
	// Unique are the tables of unique keys that were asked for the keys that the base row has there, and Claims what they
	// have, under keys of former looks too. A claim of a query table is another entity's with the same ID.
	Unique []tablerow.Layout
	Claims []Claim
	// BaseTable is the base table.
	BaseTable tablerow.Layout
	// All says that the base row was read from all replicas. Without it nothing is removed: another data centre may have a
	// base row that this one does not have yet.
	All bool
	// Promoted is that of the repair that was carried out and answered before the base row was read.
	Promoted map[string]int64
	// Version is of the base row of a set with Versioned.
	Version Version
	// Adopt is, in an adoption, the time until when rows may have been written without the library; else 0. Such rows are
	// compared by value.
	Adopt int64
	// Ahead is a time, in microseconds, that no clock which is right has reached. What is later is left to a person. 0:
	// nothing is.
	Ahead int64
}

// Findings compares. Of several looks at one entity those agree that give the same findings.
func (l Look) Findings() []Finding {
	var out []Finding
	ahead := l.ahead() != 0
	for _, q := range l.Rows {
		f := Finding{Table: q.Table(), Key: q.Key(), RowAt: q.At}
		switch {
		case l.Base == nil && q.At == 0:
			f.Class = Undatable
		case l.Base == nil:
			f.Class = Orphan
		case q.At > l.Base.At && !q.Patchable() && !l.foreign(&q):
			f.Class = Newer
		default:
			f.Class = l.older(&q, &f)
		}
		if l.Base != nil {
			f.BaseAt = l.Base.At
		}
		if ahead && f.Class != 0 && f.RowAt != 0 {
			f.Class = Ahead
		}
		if f.Class != 0 {
			out = append(out, f)
		}
	}
	if l.Base == nil {
		return out
	}
	out = append(out, l.claims()...)
	for _, t := range l.Tables {
		key, there := l.Base.KeyIn(t)
		f := Finding{Class: Missing, Table: t.Name(), Key: key, BaseAt: l.Base.At}
		switch {
		case l.shares(t):
			c, _ := l.claim(t.Name(), key)
			f.Class, f.RowAt = Shared, c.At
			out = slices.DeleteFunc(out, func(o Finding) bool { return o.Table == f.Table && o.Key == key })
		case !there, slices.ContainsFunc(l.Rows, func(q Row) bool { return q.Table() == t.Name() && q.Key() == key }):
			continue
		case ahead:
			f.Class = Ahead
		}
		out = append(out, f)
	}
	return out
}

// byKey is where each row is, by its table and key.
func (l Look) byKey() map[[2]string]*Row {
	rows := make(map[[2]string]*Row, len(l.Rows))
	for i := range l.Rows {
		rows[[2]string{l.Rows[i].Table(), l.Rows[i].Key()}] = &l.Rows[i]
	}
	return rows
}

// older is the class of a row that is not newer than the base row, 0 if it agrees.
func (l Look) older(q *Row, f *Finding) Class {
	if key, there := l.Base.KeyIn(q.Layout()); !q.Patchable() && (!there || key != q.Key()) {
		return Ghost // keys of a set that takes Patch never change, and a patch may make a base row without them
	}
	row := q.Row
	if l.Adopt != 0 {
		row = row.Unstamped()
	}
	if f.Column = l.Base.Differs(row); f.Column == "" && l.endsApart(q) {
		f.Column = tablerow.ExpiryColumn(l.BaseTable)
	}
	if f.Column != "" {
		return Differing
	}
	return 0
}

// Rules are what a repair has to know besides the rows.
type Rules struct {
	// Old says whether what was found is older than anything that may still be delivered, counted from when it was first
	// seen. Unproven says that rows are then removed, too, for which nothing proves a delete.
	Old, Unproven bool
	// Delivered is the time, in microseconds, before which no write is that may still be delivered; 0 if timestamps do not
	// tell. A base row that is older is put with its absent values left alone, not sent as null, which would be tombstones
	// that cover nothing.
	Delivered int64
	// Promotable is the time, in microseconds, below which no row is put into the base table: a tombstone that covers it
	// may be purged.
	Promotable int64
	// Before is a time, in an adoption, before all writes that may be in flight: rows of which nothing says when they were
	// written are removed at it.
	Before int64
	// Adopt is, for a set with Versioned that is adopted, the time until when rows may have been written without the
	// library: rows of entities that the base table does not have are removed.
	Adopt int64
	// Undo says that what is of the future is undone.
	Undo     bool
	Keyspace func(string) string // physical, of a declared one; nil: as declared
}

// Repair is what to do about the findings of a look.
type Repair struct {
	// Promote are mutations of the base table alone. Send them, wait until they are acknowledged, read the base row again
	// from all replicas, and decide again with Promoted: what the base row does not have then is covered by a later
	// delete. Promoted are the times by column, and by "" that of the row.
	Promote  []statement.Mutation
	Promoted map[string]int64
	// Send are mutations to be sent in any order.
	Send []statement.Mutation
	// Removes are the rows that Send removes, or of which it removes values.
	Removes []Row
	// ReadAll says that there is something to remove: read the base row from all replicas, and decide again with
	// [Look.All].
	ReadAll bool
	// Claim are the unique keys, as findings, that are to be claimed for the base row, which then gets a new version. It
	// brings the row to the query tables as well.
	Claim []Finding
	// RollForward says that a write of the entity is pending: finish it, and look again.
	RollForward bool
	// Reason says why something is left as it is. Later says that it is removed once it is Old.
	Reason string
	Later  bool
}

// Decide says what to do about the findings of a look. After it has been done, the entity is looked at
// again: what it leaves may be another finding.
func Decide(l Look, r Rules) (Repair, error) {
	d, err := decide(l, r)
	if reason := l.unwritable(d); err == nil && d.Reason == "" && reason != "" {
		return Repair{Reason: reason}, nil
	}
	return d, err
}

// Underived says what is wrong with a base row in which a column has another value than tables.Derive gives. It is empty
// without a column.
func Underived(what, column string, key bool) string {
	switch {
	case column == "":
		return ""
	case key:
		return fmt.Sprintf("%s has another %s than tables.Derive gives: correct it by CQL", what, column)
	}
	return fmt.Sprintf("%s has another %s than tables.Derive gives: correct it by CQL, or Modify the entity", what, column)
}

// underived is [Underived] of the base row.
func (l Look) underived() string {
	if l.Base == nil {
		return ""
	}
	column, key := l.Base.Underived()
	return Underived("the base row", column, key)
}

func decide(l Look, r Rules) (Repair, error) {
	switch {
	case slices.ContainsFunc(l.Tables, l.shares):
		return Repair{Reason: SharedID}, nil
	case l.underived() != "":
		return Repair{Reason: l.underived()}, nil
	case l.Base != nil && slices.ContainsFunc(l.Rows, func(q Row) bool { return q.With(l.Base.Row).Stale() }):
		return Repair{Reason: stale}, nil
	case l.OtherUnit() != "":
		return Repair{Reason: l.OtherUnit()}, nil
	case l.ahead() != 0:
		return l.undo(r)
	case l.BaseTable.Version() != "":
		return DecideVersioned(l, l.Version, r)
	case l.Base == nil && l.Adopt != 0 && len(merged(l.own())) == 0:
		return l.abandoned(r)
	}
	l, d, done, err := l.outside(r)
	if done {
		return d, err
	}
	rows := merged(l.own())
	switch {
	case l.Base == nil:
		return orphan(l, rows, r)
	case l.Base.Patchable():
		return cells(l, r)
	case l.Base.At == 0:
		return Repair{Reason: undated}, nil
	}
	if n := len(rows); n > 0 && rows[n-1].At > l.Base.At {
		newest := rows[n-1]
		if l.unadopted(&newest) {
			return Repair{Reason: writtenByHand}, nil
		}
		if !newest.Whole() {
			return Repair{Reason: "a row is newer than the base row, and its table lacks columns of the set: no row says what " +
				"the write wrote: Modify the entity, with no change"}, nil
		}
		send, err := newest.again(true, r.Keyspace)
		return Repair{Send: send}, err
	}
	// times by hand may be in other units
	out, nulls := Repair{}, !r.Old && (l.Base.At >= r.Delivered || l.foreign(l.Base))
	found := l.byKey()
	for _, f := range l.Findings() {
		nulls = nulls || f.Class == Differing
		if f.Class != Ghost {
			continue
		}
		if !l.All {
			return Repair{ReadAll: true}, nil
		}
		q := found[[2]string{f.Table, f.Key}]
		at := f.RowAt
		switch {
		case at == 0 && l.foreign(q):
			at = r.Before
		case at == 0: // the base row has replaced what is older than it
			at = l.Base.At - 1
		}
		m, err := q.Remove(at, r.Keyspace)
		if err != nil {
			return out, err
		}
		out.Send, out.Removes = append(out.Send, m), append(out.Removes, *q)
	}
	send, err := l.Base.again(nulls, r.Keyspace)
	if l.foreignNewer() {
		l.unstamp(send)
	}
	out.Send = append(out.Send, send...)
	return out, err
}

// merged are the rows, those of one time as one, which has the columns of all: they were put by one write. The newest
// is the last.
func merged(rows []Row) []Row {
	rows = slices.DeleteFunc(slices.Clone(rows), func(q Row) bool { return q.At == 0 })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
	var out []Row
	for _, q := range rows {
		if n := len(out); n > 0 && out[n-1].At == q.At {
			out[n-1].Row = out[n-1].With(q.Row)
			written := make(map[string]statement.Written)
			maps.Copy(written, q.Written)
			maps.Copy(written, out[n-1].Written)
			out[n-1].Written = written
			continue
		}
		out = append(out, q)
	}
	return out
}

// orphan decides about rows without a base row, the newest first.
func orphan(l Look, rows []Row, r Rules) (Repair, error) {
	if len(rows) == 0 {
		return Repair{}, nil
	}
	newest := rows[len(rows)-1]
	whole := newest.Whole() || newest.Patchable()
	unproven := !whole || newest.At < r.Promotable // the base table cannot say whether it was deleted
	remove := l.Promoted[""] >= newest.At || r.Old && r.Unproven && unproven
	switch {
	case remove && !l.All:
		return Repair{ReadAll: true}, nil
	case remove:
		out := Repair{Removes: l.Rows}
		for _, q := range l.Rows {
			send, err := q.Withdraw(q.At, r.Keyspace)
			if err != nil {
				return out, err
			}
			out.Send = append(out.Send, send...)
		}
		return out, nil
	case !whole:
		return Repair{Reason: "no table that has a row has all columns, so the base row cannot be made of them", Later: true},
			nil
	case unproven:
		return Repair{Reason: purged(newest.At), Later: true}, nil
	case l.unadopted(&newest) && r.Promotable != 0: // else a person says that the base table has lost rows
		return Repair{Reason: orphanedByHand}, nil
	}
	if newest.Patchable() {
		l.Rows = l.own()
		out, err := cells(l, r)
		if out.Promoted == nil || err != nil {
			return out, err
		}
		out.Promoted[""] = newest.At
		if !slices.ContainsFunc(out.Promote, func(m statement.Mutation) bool { return m.Timestamp == newest.At }) {
			var m statement.Mutation // what leads to the base row is newer than the values
			m, err = newest.KeyRow(l.BaseTable, newest.lastWritten(), r.Keyspace)
			out.Promote = append(out.Promote, m)
		}
		return out, err
	}
	send, err := newest.again(true, r.Keyspace)
	if err != nil {
		return Repair{}, err
	}
	promote := slices.DeleteFunc(send, func(m statement.Mutation) bool { return m.Table != l.BaseTable.Name() })
	return Repair{Promote: promote, Promoted: map[string]int64{"": newest.At}}, nil
}

// A process whose last function is another one has deleted the row under ours, at the time at which a repair would put
// it there, and at a tie the delete wins; so it would be nowhere once it was removed here.
const stale = "the row is where an earlier bucket function has put it, and where readers find it: Modify the entity, " +
	"with no change, which moves it"

// SharedID is why an entity is left whose ID another one has.
const SharedID = "two base rows have the ID of the entity, and nothing says which is right: delete one of them"

const undated = "nothing says when the base row was written, so it cannot be said which row is newer"

func purged(at int64) string {
	return "what was written at " + time.UnixMicro(at).UTC().Format(time.RFC3339) +
		" is not put into the base table, which may have purged a later delete: Rewrite (--rewrite) puts it there"
}
