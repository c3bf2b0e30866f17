package repair

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
)

// ahead is the latest time of the entity if that is in the future, else 0.
func (l Look) ahead() int64 {
	last := l.Version.At
	if l.Base != nil {
		last = max(last, l.Base.At)
	}
	for i := range l.Rows {
		last = max(last, l.Rows[i].At)
	}
	if l.Ahead == 0 || last <= l.Ahead {
		return 0
	}
	return last
}

// HeldBack says why an entity with a time in the future is not repaired, and what a person may do about it. It is empty
// for others.
func (l Look) HeldBack() string {
	last := l.ahead()
	if last == 0 {
		return ""
	}
	if why := l.OtherUnit(); why != "" {
		return why
	}
	until := time.UnixMicro(last).UTC().Format(time.RFC3339)
	if l.BaseTable.Version() != "" {
		return fmt.Sprintf("the clock of a writer was ahead. Repair the entity after %s. Or choose KeepAhead (--ahead "+
			"keep): its rows then take no "+
			"writes until that time", until)
	}
	return fmt.Sprintf("the clock of a writer was ahead. KeepAhead (--ahead keep) puts its write into all tables, over "+
		"other changes and deletes. "+
		"RemoveAhead (--ahead remove) puts the other row of the entity over it, and removes it if there is none. After "+
		"either, the entity takes no "+
		"writes until %s", until)
}

// undo puts the base row, or the newest other row if that is of the future, over the rows that are, a moment after
// them. Without a base row it removes those. Rows under other keys go first: once the base row is newer, nothing says
// which row was put over it.
func (l Look) undo(r Rules) (out Repair, err error) {
	last, right := l.ahead(), l.Base
	future := func(q Row) bool { return q.At > l.Ahead }
	if right != nil && future(*right) {
		right = nil
		if rows := merged(slices.DeleteFunc(slices.Clone(l.Rows), future)); len(rows) > 0 {
			right = &rows[len(rows)-1]
		}
	}
	switch {
	case !r.Undo || l.BaseTable.Version() != "":
		return Repair{Reason: l.HeldBack()}, nil
	case right != nil && last == math.MaxInt64:
		return Repair{Reason: fmt.Sprintf(
			"a row has the last timestamp, so nothing can be put over it: delete it in CQL, USING TIMESTAMP %d", last)}, nil
	case l.Base != nil && (right == nil || !right.Whole()):
		return Repair{Reason: "the clock of a writer was ahead, and it has written the base row. No other row says what " +
			"was there before. Choose KeepAhead " +
			"(--ahead keep), or delete the entity after " + time.UnixMicro(last).UTC().Format(time.RFC3339)}, nil
	case !l.All:
		return Repair{ReadAll: true}, nil
	}
	var others, ahead []Row
	for _, q := range l.Rows {
		key, there := "", false
		if right != nil {
			key, there = right.KeyIn(q.Layout())
		}
		switch other := !there || key != q.Key(); {
		case future(q):
			if out.Removes = append(out.Removes, q); other {
				ahead = append(ahead, q)
			}
		case other && right != nil:
			others = append(others, q)
		}
	}
	if len(others) > 0 {
		ahead, out.Removes, right = others, others, nil
	}
	for _, q := range ahead {
		m, err := q.Remove(cmp.Or(q.At, last), r.Keyspace)
		if err != nil {
			return out, err
		}
		out.Send = append(out.Send, m)
	}
	if right == nil {
		return out, nil
	}
	if future(*l.Base) {
		out.Removes = append(out.Removes, *l.Base)
	}
	send, err := right.Rewrite(last+1, func(w statement.Written) int64 { return w.Ends }, r.Keyspace)
	out.Send = append(out.Send, send...)
	return out, err
}
