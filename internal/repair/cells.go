package repair

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// cells repairs an entity of a set that takes Patch, whose rows never move, cell by cell: each has a write of its own,
// and the newer of two goes to the other table. A value that the base table does not have is put there at its own time;
// if the base table answers, and still has none, a later null or delete covers it, and the other tables get a null at
// that time.
//
// A column is not compared with a key: a complete patch of a deleted entity leaves a query row with the column in its
// key, and a base row without it.
func cells(l Look, r Rules) (Repair, error) {
	c := cellRepair{rules: r, look: l, out: Repair{Promoted: make(map[string]int64)}}
	if name := c.elements(); name != "" {
		return Repair{Reason: name + " has elements with times of their own, which cannot be read: read the entity, and " +
			"Update it by itself"}, nil
	}
	for i := range l.Rows {
		c.row(&l.Rows[i])
	}
	for _, f := range l.Findings() {
		if f.Class == Missing {
			i := slices.IndexFunc(l.Tables, func(t tablerow.Layout) bool { return t.Name() == f.Table })
			before := len(c.out.Send)
			for _, name := range l.Tables[i].Regular() {
				c.copy(l.Base, name, l.Base, l.Tables[i])
			}
			has := len(c.out.Send) > before || len(c.out.Promote) > 0 // values, or the next look has
			if has && !l.Tables[i].Leads() {
				continue
			}
			as := l.Base.keyWritten(l.Tables[i])
			if as.At == 0 {
				return Repair{Reason: undated}, c.err
			}
			c.add(&c.out.Send)(l.Base.KeyRow(l.Tables[i], as, r.Keyspace))
		}
	}
	if len(c.out.Removes) > 0 && !l.All {
		return Repair{ReadAll: true}, c.err
	}
	return c.out, c.err
}

// keyWritten is when the key that a base row has in a table was written: as the one of its columns that ends last, and
// of these the earliest. They never change, and a delete that covers one of them covers the row. Of a key of columns of
// the base key alone, it is one of all columns.
func (r *Row) keyWritten(in tablerow.Layout) (first statement.Written) {
	key := slices.Concat(in.Partition(), in.Clustering())
	for _, of := range [][]string{key, tablerow.Timed(r.Layout())} {
		for _, name := range of {
			w := r.Written[name]
			if longer := lasts(w, first); w.At != 0 && (first.At == 0 || longer > 0 || longer == 0 && w.At < first.At) {
				first = w
			}
		}
		if first.At != 0 {
			break
		}
	}
	return first
}

// lastWritten is of the newest of its columns, and of these the one that ends last.
func (r *Row) lastWritten() (last statement.Written) {
	for _, w := range r.Written {
		if w.At > last.At || w.At == last.At && lasts(w, last) > 0 {
			last = w
		}
	}
	return last
}

// lasts compares the ends of two cells.
func lasts(a, b statement.Written) int {
	if a.Ends == 0 || b.Ends == 0 { // never
		return cmp.Compare(b.Ends, a.Ends)
	}
	return cmp.Compare(a.Ends, b.Ends)
}

type cellRepair struct {
	rules Rules
	look  Look
	out   Repair
	err   error
}

// elements is a column with a value in some row that has a cell an element: rows of maps and sets are only compared.
func (c *cellRepair) elements() string {
	rows := slices.Clone(c.look.Rows)
	if c.look.Base != nil {
		rows = append(rows, *c.look.Base)
	}
	for _, q := range rows {
		timed := tablerow.Timed(q.Layout())
		for _, name := range q.Layout().Regular() {
			if v, _ := q.Value(name); v != nil && !slices.Contains(timed, name) {
				return name
			}
		}
	}
	return ""
}

func (c *cellRepair) row(q *Row) {
	removes := false
	var first statement.Written // of the values that are put into the base table
	for _, name := range q.Layout().Regular() {
		have, _ := q.Value(name)
		var want []byte
		var baseAt int64
		if c.look.Base != nil {
			want, _ = c.look.Base.Value(name)
			baseAt = c.look.Base.Written[name].At
		}
		switch at := q.Written[name].At; {
		case bytes.Equal(have, want) && (have == nil) == (want == nil):
		case want != nil && (have == nil || baseAt > at || c.look.foreignCell(q, at)):
			c.copy(c.look.Base, name, q, q.Layout()) // where that is older, and by hand, Rewrite follows
		case at > q.Stamp() && c.look.unadopted(q):
			c.out.Reason, c.out.Later = writtenByHand, false
		case want != nil:
			c.copy(q, name, q, c.look.BaseTable)
			if baseAt == at { // the server decides between the two by their bytes
				c.copy(c.look.Base, name, q, q.Layout())
			}
		case c.look.Promoted[name] >= at, c.look.foreignCell(q, at),
			at < c.rules.Promotable && c.rules.Old && c.rules.Unproven && tablerow.Unit(at) == "":
			removes = true
			c.add(&c.out.Send)(q.Cell(name, nil, q.Layout(), statement.Written{At: at}, c.rules.Keyspace))
		case tablerow.Unit(at) != "":
			c.out.Reason = "a value has a write time in " + tablerow.Unit(at) + ", so nothing says whether it was deleted: " +
				"Update the row by itself"
		case at < c.rules.Promotable:
			c.out.Reason, c.out.Later = purged(at), true
		default:
			c.add(&c.out.Promote)(q.Cell(name, &q.Row, c.look.BaseTable, q.Written[name], c.rules.Keyspace))
			c.out.Promoted[name] = max(c.out.Promoted[name], at)
			if first.At == 0 || at < first.At {
				first = q.Written[name]
			}
		}
	}
	if first.At != 0 {
		c.keys(q, first)
	}
	if removes {
		c.out.Removes = append(c.out.Removes, *q)
	}
}

// keys puts those columns of a row's key that the base row does not have into the base table, as the earliest of the
// values that are put there. They never change, so no other write of them has another value; a delete that covers the
// rest covers them.
func (c *cellRepair) keys(q *Row, as statement.Written) {
	for _, name := range c.look.BaseTable.Regular() {
		if v, _ := q.Value(name); v == nil || slices.Contains(q.Layout().Regular(), name) {
			continue
		}
		if c.look.Base != nil {
			if v, _ := c.look.Base.Value(name); v != nil {
				continue
			}
		}
		c.add(&c.out.Promote)(q.Cell(name, &q.Row, c.look.BaseTable, as, c.rules.Keyspace))
	}
}

// copy puts a value of a row into another table, at its time, under the key that row key has there.
func (c *cellRepair) copy(from *Row, name string, key *Row, to tablerow.Layout) {
	if v, _ := from.Value(name); v != nil {
		c.add(&c.out.Send)(key.Cell(name, &from.Row, to, from.Written[name], c.rules.Keyspace))
	}
}

func (c *cellRepair) add(to *[]statement.Mutation) func(statement.Mutation, error) {
	return func(m statement.Mutation, err error) {
		if err != nil {
			c.err = err
			return
		}
		*to = append(*to, m)
	}
}
