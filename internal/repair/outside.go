package repair

import (
	"fmt"
	"slices"
)

// outside decides about rows under a value that OneOf does not list, which nothing puts anywhere: other code has
// written them, or an older release. It gives the look without those that are left, and false if the rest is to be
// decided about.
func (l Look) outside(r Rules) (Look, Repair, bool, error) {
	in, out := l, []Row(nil)
	in.Rows = nil
	for _, q := range l.Rows {
		if q.Outside() != "" && (l.Base == nil || q.At > l.Base.At && !l.foreign(&q)) {
			out = append(out, q)
		} else {
			in.Rows = append(in.Rows, q)
		}
	}
	remove := r.Old && r.Unproven
	switch {
	case l.Base != nil && l.Base.Outside() != "":
		return l, Repair{Reason: unlisted("the base row", l.Base)}, true, nil
	case len(out) == 0:
		return l, Repair{}, false, nil
	case l.Base != nil:
		return l, Repair{Reason: unlisted("a row that is newer than the base row", &out[0])}, true, nil
	case !remove && len(in.Rows) > 0:
		return in, Repair{}, false, nil
	case !remove || slices.ContainsFunc(out, timeless):
		return l, Repair{Reason: unlisted("a row without a base row", &out[0]), Later: !slices.ContainsFunc(out, timeless)},
			true, nil
	case !l.All:
		return l, Repair{ReadAll: true}, true, nil
	}
	d := Repair{Removes: out}
	for i := range out {
		m, err := out[i].Remove(out[i].At, r.Keyspace)
		if err != nil {
			return l, d, true, err
		}
		d.Send = append(d.Send, m)
	}
	return l, d, true, nil
}

func timeless(q Row) bool { return q.At == 0 }

func unlisted(what string, q *Row) string {
	return fmt.Sprintf("%s has a value of %s that OneOf does not list, so it is put into no other table", what,
		q.Outside())
}
