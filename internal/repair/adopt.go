package repair

import (
	"maps"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// Adoption: tables whose rows were written without the library have no stamps, and each table has times of its own, so
// that a row of a query table may be newer than the base row although it is of an earlier write. Of such rows the
// values are compared, and the base table is right.

// foreign says whether something other than the library has written the row, or a part of it: its stamp is not its
// largest WRITETIME. A table without the stamp has only its times to tell by.
func (l Look) foreign(q *Row) bool {
	switch {
	case l.Adopt == 0:
		return false
	case tablerow.HasStamp(q.Layout()):
		return q.byHand()
	}
	return q.At != 0 && q.At <= l.Adopt
}

// byHand says whether something other than the library wrote the row last, as far as its stamp tells.
func (r *Row) byHand() bool {
	_, has := r.Value(tablerow.StampColumn(r.Layout())) // of rows of one time, one may have it
	return has && (r.Stamp() == 0 || r.Stamp() != r.At)
}

// unadopted says whether a repair finds such a row outside an adoption. Of a row in a table without the stamp, the base
// row tells. When a Patch that expires has ended, so has the stamp.
func (l Look) unadopted(q *Row) bool {
	if _, has := q.Value(tablerow.StampColumn(l.BaseTable)); !has && l.Base != nil {
		q = &Row{Row: l.Base.Row}
		if q.Stamp() != 0 {
			return false
		}
	}
	return l.Adopt == 0 && q.byHand() && (!q.Patchable() || l.BaseTable.Set.Expiry < 0)
}

// Why a repair leaves such rows. An adoption would put the base row over the one, and remove the other; one that was
// not completed may have left them.
const (
	writtenByHand  = "the newer row was written without the library: adopt the set, or Modify the entity, with no change"
	orphanedByHand = "the row was written without the library: adopt the set, which removes it, or Insert the entity"
)

// foreignCell says whether something other than the library may have written a cell of a row, though a patch of another
// one has stamped the row since. Without a base row there is nothing that is right instead.
func (l Look) foreignCell(q *Row, at int64) bool {
	return l.Adopt != 0 && l.Base != nil && at <= l.Adopt && (l.foreign(q) || at != q.Stamp())
}

// foreignNewer says whether, in an adoption, such a row is newer than the base row, which may then have to be written
// again.
func (l Look) foreignNewer() bool {
	return slices.ContainsFunc(l.Rows, func(q Row) bool { return q.At > l.Base.At && l.foreign(&q) })
}

// unstamp leaves the stamp out of rows that are put. Who changes a row that has one takes it for right, and rows get
// theirs once they agree.
func (l Look) unstamp(send []statement.Mutation) {
	for _, m := range send {
		if i := slices.Index(m.Names, tablerow.StampColumn(l.BaseTable)); i >= 0 && m.Kind == statement.Put {
			m.Args[i] = gocql.UnsetValue
		}
	}
}

// own are the rows that the library has written.
func (l Look) own() []Row {
	return slices.DeleteFunc(slices.Clone(l.Rows), func(q Row) bool { return l.foreign(&q) })
}

// Unended says whether an adoption has met a row that was written without the library when nobody was to do so any
// more.
func (l Look) Unended() bool {
	late := func(q *Row) bool { return l.foreign(q) && tablerow.Micros(q.At) > l.Adopt }
	return l.Base != nil && late(l.Base) || slices.ContainsFunc(l.Rows, func(q Row) bool { return late(&q) })
}

// Stamps are the mutations that give the rows of an entity without findings one stamp, where they have none or others,
// and its time. That is the largest WRITETIME of the rows, so that the next write, which is ordered after the stamp, is
// newer than all of them. They are written at that time, so that a write or delete that is newer wins. So is an expiry
// that was filled.
func (l Look) Stamps(keyspace func(string) string) (at int64, send []statement.Mutation, err error) {
	if l.Adopt == 0 || l.Base == nil || len(l.Findings()) > 0 {
		return 0, nil, nil
	}
	rows := append([]Row{*l.Base}, l.Rows...)
	for i := range rows {
		at = max(at, rows[i].At)
	}
	if at != 0 {
		at = max(at, entity.LeastStamp) // of rows by hand at times in milliseconds: a write rejects a smaller stamp
	}
	for i := range rows {
		q := &rows[i]
		var columns []string
		if tablerow.HasStamp(q.Layout()) && (at == 0 || q.Stamp() != at) {
			columns = append(columns, tablerow.StampColumn(q.Layout()))
		}
		if q.filled {
			columns = append(columns, tablerow.ExpiryColumn(q.Layout()))
		}
		ends, known := q.ends()
		if !known { // it has a key alone, and was put with the base row
			ends, _ = l.Base.ends()
		}
		for _, column := range columns {
			m, err := q.Restamp(column, statement.Written{At: at, Ends: ends}, keyspace)
			if err != nil {
				return 0, nil, err
			}
			send = append(send, m)
		}
	}
	return at, send, nil
}

// ends is when the last value of the row expires, 0 if one does not: the stamp must not outlive the row. It is false of
// a row without values.
func (r *Row) ends() (last int64, known bool) {
	for name, w := range r.Written {
		if name == tablerow.StampColumn(r.Layout()) {
			continue
		}
		if known = true; w.Ends == 0 {
			return 0, true
		}
		last = max(last, w.Ends)
	}
	return last, known
}

// sameEnd is how far two tables' ends of one row may be apart that were written by hand: each counts from its own
// INSERT.
const sameEnd = int64(time.Minute / time.Millisecond)

// FillExpiries gives, in an adoption, a base row that ends and does not say when its expiry, and its other rows the
// same.
func (l *Look) FillExpiries() {
	if l.Adopt == 0 || l.Base == nil || l.BaseTable.Set.Expiry < 0 || l.Base.Ends == 0 || !l.Base.Unexpiring() {
		return
	}
	base := l.Base.withExpiry(l.Base.Ends)
	for i := range l.Rows {
		if q := &l.Rows[i]; !l.endsApart(q) && q.Unexpiring() {
			*q = q.withExpiry(base.Ends)
		}
	}
	l.Base = &base
}

// endsApart says whether a row of a set with ExpiresAt ends at another time than the base row, in an adoption.
func (l Look) endsApart(q *Row) bool {
	base := l.Base.Ends
	switch {
	case l.Adopt == 0 || l.BaseTable.Set.Expiry < 0 || len(q.Written) == 0:
		return false
	case base == 0 || q.Ends == 0:
		return base != q.Ends
	}
	return max(q.Ends-base, base-q.Ends) > sameEnd
}

// withExpiry is the row with an end as its expiry.
func (r *Row) withExpiry(ends int64) Row {
	out := *r
	out.Row, out.filled, out.Written = r.Expiring(statement.Written{Ends: ends}.Last()), true, maps.Clone(r.Written)
	last, _ := r.ends()
	out.Written[tablerow.ExpiryColumn(r.Layout())] = statement.Written{At: r.At, Ends: last} // as it will be
	return out
}

// abandoned removes the rows of an entity that has no base row, none of which the library has written.
func (l Look) abandoned(r Rules) (Repair, error) {
	if !l.All {
		return Repair{ReadAll: true}, nil
	}
	var out Repair
	for i := range l.Rows {
		q := &l.Rows[i]
		if !l.foreign(q) {
			return Repair{Reason: undated}, nil
		}
		at := q.At
		if at == 0 {
			at = r.Before
		}
		m, err := q.Remove(at, r.Keyspace)
		if err != nil {
			return out, err
		}
		out.Send, out.Removes = append(out.Send, m), append(out.Removes, *q)
	}
	return out, nil
}
