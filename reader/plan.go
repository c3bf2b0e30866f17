package reader

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/slots"
	"github.com/denorm-go/denorm/session"
)

// plan is what one read asks: partitions in groups, of which one after the other is merged.
type plan struct {
	*bound
	keyspace   string // physical
	mark       []byte
	from       *position
	selected   []string // columns to select, the clustering columns first
	kept       int      // how many of them are kept as bytes alongside the row
	confirm    *confirmation
	groups     [][]*partition
	partitions int
	head, tail string // of each statement, around its table and conditions
}

// partition is one partition of a plan.
type partition struct {
	number int // from 1
	table  string
	key    []*cqltype.Value
	id     []byte // orders rows of equal clustering keys
	scans  []scan // one after the other
	shown  []session.Bucket
}

// scan is one statement on a partition, with what is bound to it.
type scan struct {
	statement string
	values    []any
}

// plan works out what a query asks.
func (r *Reader) plan(q *query) (*plan, error) {
	if r.err != nil {
		return nil, q.rejected("", r.err.Error(), r.err)
	}
	b, err := q.bind()
	if err != nil {
		return nil, err
	}
	keyspace, err := r.physical(b.layout.Keyspace())
	if err != nil {
		return nil, b.invalid("", "no keyspace: "+err.Error())
	}
	p := &plan{bound: b, keyspace: keyspace, selected: b.layout.Columns(), kept: len(b.columns)}
	if b.confirmed {
		if p.confirm, err = r.confirmation(b); err != nil {
			return nil, err
		}
		p.selected, p.kept = p.confirm.selected, p.confirm.kept
	}
	p.head = selectFrom(keyspace, p.selected)
	if p.reverse { // the first column turns all of them
		p.tail = " ORDER BY " + p.columns[0] + " DESC"
		if p.layout.Desc(0) {
			p.tail = " ORDER BY " + p.columns[0] + " ASC"
		}
	}
	p.mark = b.mark(p.keyspace)
	if p.from, err = b.position(p.mark); err != nil {
		return nil, err
	}
	slots, err := b.slots(p.from, r.partitions)
	if err != nil {
		return nil, err
	}
	var group []*partition
	ordered := slots.Clock != "" && b.fixed < len(b.columns) && slots.Clock == b.columns[b.fixed]
	for i := range slots.List {
		s := &slots.List[i]
		if i > 0 && ordered && s.Group != slots.List[i-1].Group {
			p.groups, group = append(p.groups, group), nil
		}
		group = append(group, p.place(s))
	}
	if len(group) > 0 {
		p.groups = append(p.groups, group)
	}
	if ordered && b.descending(b.fixed) {
		slices.Reverse(p.groups)
	}
	for _, group := range p.groups {
		slices.SortFunc(group, func(x, y *partition) int { return bytes.Compare(x.id, y.id) })
		for _, x := range group {
			p.partitions++
			x.number = p.partitions
		}
	}
	return p, nil
}

// selectFrom begins a statement, up to the name of the table.
func selectFrom(keyspace string, columns []string) string {
	head := "SELECT " + strings.Join(columns, ",") + " FROM "
	if keyspace != "" {
		head += keyspace + "."
	}
	return head
}

func (p *plan) place(s *slots.Slot) *partition {
	out := &partition{table: s.Table, id: append([]byte(s.Table), 0)}
	n := 0
	for _, name := range p.partition {
		if !p.layout.Derived(name) {
			out.key = append(out.key, p.equal[name])
			continue
		}
		v := s.Buckets[n]
		n++
		out.key = append(out.key, v)
		out.id = binary.AppendUvarint(out.id, uint64(len(v.Data)))
		out.id = append(out.id, v.Data...)
		if p.equal[name] == nil {
			out.shown = append(out.shown, session.Bucket{Column: name, Value: shown(v)})
		}
	}
	out.scans = p.scans(out)
	return out
}

// shown is a bucket as text.
func shown(v *cqltype.Value) string {
	switch v.Type.String() {
	case "text":
		return string(v.Data)
	case "date":
		return cqltype.Day(v.Data).Format(time.DateOnly)
	}
	return strconv.FormatInt(cqltype.Number(v.Data), 10)
}

// scans are the statements that return the rows of a partition in order. From the beginning it is one statement. The
// rows after a key (a, b, c) are not one range for Cassandra if the columns are clustered in different directions, so
// they are read as several: those with a and b and after c, then those with a and after b, then those after a.
func (p *plan) scans(x *partition) []scan {
	var fixed []condition
	for i, name := range p.partition {
		fixed = append(fixed, condition{name, eq, x.key[i]})
	}
	for _, name := range p.columns[:p.fixed] {
		fixed = append(fixed, condition{name, eq, p.equal[name]})
	}
	if p.from == nil {
		return []scan{p.scan(x, append(fixed, p.limits(true, true)...))}
	}
	inclusive := bytes.Compare(x.id, p.from.ID) > 0 // a row with the same key in this partition comes later
	if p.fixed == len(p.columns) {
		if inclusive {
			return []scan{p.scan(x, fixed)}
		}
		return nil
	}
	var out []scan
	for last := len(p.columns) - 1; last >= p.fixed; last-- {
		conditions := slices.Clone(fixed)
		for i := p.fixed; i < last; i++ {
			conditions = append(conditions, condition{p.columns[i], eq, p.layout.Raw(i, p.from.Key[i])})
		}
		op := gt
		if p.descending(last) {
			op = lt
		}
		if inclusive && last == len(p.columns)-1 {
			op += "="
		}
		conditions = append(conditions, condition{p.columns[last], op, p.layout.Raw(last, p.from.Key[last])})
		if last == p.fixed {
			conditions = append(conditions, p.limits(p.descending(last), !p.descending(last))...)
		}
		out = append(out, p.scan(x, conditions))
	}
	return out
}

// limits are the ends of the query's range.
func (p *plan) limits(low, high bool) (out []condition) {
	limit := func(op operator, end *slots.Bound) {
		if !end.Open {
			op += "="
		}
		out = append(out, condition{p.ranged, op, end.Value})
	}
	if low && p.low != nil {
		limit(gt, p.low)
	}
	if high && p.high != nil {
		limit(lt, p.high)
	}
	return out
}

// scan makes a statement. Names in it come from the declaration, which checks them.
func (p *plan) scan(x *partition, conditions []condition) scan {
	var s scan
	var text strings.Builder
	text.WriteString(p.head)
	text.WriteString(x.table)
	before := " WHERE "
	for _, c := range conditions {
		for _, part := range [...]string{before, c.column, string(c.op), "?"} {
			text.WriteString(part)
		}
		s.values = append(s.values, c.value)
		before = " AND "
	}
	text.WriteString(p.tail)
	s.statement = text.String()
	return s
}
