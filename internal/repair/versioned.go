package repair

import (
	"slices"

	"github.com/denorm-go/denorm/internal/statement"
)

// Version is what a read at SERIAL says of a base row of a set with Versioned, in addition to its columns.
type Version struct {
	// At is the time of the version, or of that of a delete that is remembered, in microseconds. 0: there is neither.
	At int64
	// Pending says that something is left to be done in the query tables, for a row or a deleted one.
	Pending bool
}

// Why rows of a set with Versioned are left: a row is in a query table only after its transaction, so the base table
// has lost something.
const (
	forgotten = "the base table has neither the row nor a delete of it: Insert the entity through its set, or delete " +
		"the row at its own time"
	deleted = "the row is of a later version than the delete that the base table remembers: Insert the entity, or " +
		"delete the row at its own time"
	restored = "the row is of a later version than the base row, which was lost or restored: Update the base row to " +
		"it; a Modify replaces it"
)

// DecideVersioned is [Decide] for a set with Versioned. The rows of the look were read first, and then the base row: as
// a row is in a query table only after the transaction that wrote it, no later version explains one that the base row
// does not. A row is removed only at a version of the base row, or of a remembered delete.
func DecideVersioned(l Look, v Version, r Rules) (Repair, error) {
	switch {
	case v.Pending:
		return Repair{RollForward: true}, nil
	case l.Base != nil && v.At == 0:
		return Repair{Reason: "the base row has no version: Adopt (denorm adopt) gives it one"}, nil
	}
	out, put, rows := Repair{}, false, l.byKey()
	for _, f := range l.Findings() {
		switch f.Class {
		case Unclaimed:
			out.Claim = append(out.Claim, f)
			continue
		case Shared: // which of the two should have the key, nothing says
			continue
		case Missing, Differing:
			put = true
			continue
		case Ghost, Orphan, Newer, Ahead, Undatable:
		}
		q := rows[[2]string{f.Table, f.Key}]
		at := v.At
		switch {
		case v.At == 0 && (q.At == 0 || q.At > r.Adopt):
			return Repair{Reason: forgotten}, nil
		case v.At == 0 && !l.All:
			return Repair{ReadAll: true}, nil
		case v.At == 0:
			at = q.At
		case q.At > v.At && l.Base == nil:
			return Repair{Reason: deleted}, nil
		case q.At > v.At:
			return Repair{Reason: restored}, nil
		}
		m, err := q.Remove(at, r.Keyspace)
		if err != nil {
			return Repair{}, err
		}
		out.Send, out.Removes = append(out.Send, m), append(out.Removes, *q)
	}
	switch {
	case len(out.Claim) > 0: // the rest follows from the next look
		return Repair{Claim: out.Claim}, nil
	case !put:
		return out, nil
	}
	send, err := l.Base.Deliver(v.At, true, r.Keyspace)
	if err != nil {
		return Repair{}, err
	}
	out.Send = append(out.Send, slices.DeleteFunc(send, func(m statement.Mutation) bool {
		return m.Table == l.BaseTable.Name()
	})...)
	return out, nil
}
