package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Check holds the contents of the tables of a set against all writes that were attempted. The contents are those of
// a quiet cluster, and the tables hold nothing but what these writes put there. It finds nothing in a set whose key
// columns are immutable or OneOf if every acknowledged write is complete.
//
// One fault is one finding, of the kind that says most: a value that nobody wrote is a phantom and not also a
// difference, and a row that differs is not also of unequal WRITETIME. The error is not nil if a row cannot be encoded.
func Check[T any](contents *Contents[T], writes []Write[T]) (*Report, error) {
	report := &Report{Writes: len(writes)}
	entities, err := collect(contents, writes, report)
	if err != nil {
		return nil, err
	}
	report.Entities = len(entities)
	for _, t := range contents.Tables {
		report.Rows += len(t.Rows)
	}
	for _, c := range entities {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// collect sorts rows and writes by entity, in the order in which they come, so that a report can be compared with
// another.
func collect[T any](contents *Contents[T], writes []Write[T], report *Report) (entities []*checker[T], err error) {
	byID := make(map[string]*checker[T])
	of := func(values map[string][]byte) *checker[T] {
		id := contents.id(values)
		if byID[id] == nil {
			byID[id] = &checker[T]{Contents: contents, report: report, rows: make([][]*Row, len(contents.Tables))}
			entities = append(entities, byID[id])
		}
		return byID[id]
	}
	for n := range writes {
		w := &writes[n]
		values, err := contents.image(w.Row, w.Timestamp)
		if err != nil {
			return nil, fmt.Errorf("%w, of the write by %s", err, w.By)
		}
		e := of(values)
		e.writes = append(e.writes, w)
	}
	for t := range contents.Tables {
		rows := contents.Tables[t].Rows
		for n := range rows {
			e := of(rows[n].Values)
			e.rows[t] = append(e.rows[t], &rows[n])
		}
	}
	return entities, nil
}

// checker checks one entity.
type checker[T any] struct {
	*Contents[T]
	report *Report
	rows   [][]*Row // by table
	writes []*Write[T]
	images []*image[T]       // of the writes, while the entity is checked: all at once take too much memory
	base   *Row              // nil: the base table has no row
	odd    map[*Row][]string // the columns of a row whose values nobody wrote
	apart  bool              // a row was found that is not as the base row
	ties   bool              // two writes have the timestamp of the base row
	cause  Cause             // of whatever is found
	by     string
}

// image is a write as it would show in the columns of the base table.
type image[T any] struct {
	write     *Write[T]
	values    map[string][]byte
	timestamp int64 // 0: not known
}

func (i *image[T]) puts() bool { return i.write.Kind != tables.Delete }

// possible says whether the write may have been applied.
func (i *image[T]) possible() bool { return i.write.Outcome != writer.NotApplied }

func (c *checker[T]) check() error {
	if len(c.writes) == 0 {
		c.strangers()
		return nil
	}
	for _, w := range c.writes {
		values, err := c.image(w.Row, w.Timestamp)
		if err != nil {
			return err
		}
		c.images = append(c.images, &image[T]{w, values, w.Timestamp})
	}
	defer func() { c.images = nil }()
	if err := c.recognise(); err != nil {
		return err
	}
	if len(c.rows[0]) > 0 {
		c.base = c.rows[0][0]
		c.ties = len(c.at(c.base.time())) > 1
		if c.ties {
			c.report.Ties++
		}
	}
	c.blame()
	c.phantoms()
	for t := 1; t < len(c.Tables); t++ {
		c.table(t)
	}
	c.newest()
	c.lost()
	c.unsound()
	return nil
}

// each calls f for all rows of the entity.
func (c *checker[T]) each(f func(p *Table, r *Row)) {
	for t := range c.rows {
		for _, r := range c.rows[t] {
			f(&c.Tables[t], r)
		}
	}
}

func (c *checker[T]) find(kind Kind, p *Table, r *Row, has, want string, concerned ...*image[T]) {
	f := Finding{Kind: kind, Table: p.Name, Has: has, Want: want, Cause: c.cause, By: c.by}
	if r != nil {
		f.Key = p.show(r, p.key)
	} else {
		i, base := c.images[0], &c.Tables[0]
		f.Key = base.show(&Row{Values: i.values}, base.key)
	}
	var writes []string
	for _, i := range concerned {
		if i != nil {
			writes = append(writes, c.describe(i))
		}
	}
	f.Writes = strings.Join(writes, "; ")
	c.report.Findings = append(c.report.Findings, f)
}

// describe is a write, for a finding.
func (c *checker[T]) describe(i *image[T]) string {
	base := &c.Tables[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s at %d (%s", i.write.Kind, i.write.By, i.timestamp, i.write.Outcome)
	for _, t := range c.Tables {
		if o, ok := i.write.Tables[t.Name]; ok {
			fmt.Fprintf(&b, ", %s %s", t.Name, o)
		}
	}
	b.WriteByte(')')
	if i.puts() {
		b.WriteString(" of " + base.show(&Row{Values: i.values}, base.rest))
	}
	return b.String()
}

// strangers are the rows of an entity that has no writes.
func (c *checker[T]) strangers() {
	c.each(func(p *Table, r *Row) {
		c.report.Findings = append(c.report.Findings, Finding{
			Kind: Phantom, Table: p.Name, Key: p.show(r, p.key), Has: p.show(r, p.rest), Want: "no row: nobody wrote this entity",
		})
	})
}

// recognise finds the timestamps of writes whose clients did not learn them, in the rows that they have left.
func (c *checker[T]) recognise() error {
	var failed error
	c.each(func(p *Table, r *Row) {
		at := r.time()
		if at == 0 || len(c.at(at)) > 0 {
			return
		}
		for _, i := range c.images {
			if i.timestamp != 0 || !i.puts() || !i.possible() {
				continue
			}
			values, err := c.image(i.write.Row, at)
			if err != nil {
				failed = err
				return
			}
			if p.matches(r, values, nil) {
				i.timestamp, i.values = at, values
				return
			}
		}
	})
	return failed
}

// matches says whether the row has these values, but for columns in except.
func (p *Table) matches(r *Row, values map[string][]byte, except []string) bool {
	return len(p.differ(r.Values, values, except)) == 0
}

// differ lists the columns that have other values in one row than in another, but for those in except.
func (p *Table) differ(one, other map[string][]byte, except []string) (columns []string) {
	for _, c := range p.Columns {
		if !slices.Contains(except, c.Name) && !same(one[c.Name], other[c.Name]) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// at is the writes with this timestamp.
func (c *checker[T]) at(timestamp int64) []*image[T] {
	var found []*image[T]
	for _, i := range c.images {
		if i.timestamp == timestamp && timestamp != 0 {
			found = append(found, i)
		}
	}
	return found
}

// one is the first write with this timestamp, or nil.
func (c *checker[T]) one(timestamp int64) *image[T] {
	if found := c.at(timestamp); len(found) > 0 {
		return found[0]
	}
	return nil
}

// phantoms finds values that nobody wrote to their columns.
func (c *checker[T]) phantoms() {
	c.odd = make(map[*Row][]string)
	c.each(func(p *Table, r *Row) {
		var odd []string
		for column, value := range r.Values {
			if !slices.ContainsFunc(c.images, func(m *image[T]) bool { return same(m.values[column], value) }) {
				odd = append(odd, column)
			}
		}
		if odd != nil {
			c.odd[r] = odd
			c.find(Phantom, p, r, p.show(r, odd), "a value that was written", c.one(r.time()))
		}
	})
}

// strange says whether nobody wrote the value of a column of a row.
func (c *checker[T]) strange(r *Row, column string) bool { return slices.Contains(c.odd[r], column) }

// table holds the rows of a query table against the base row.
func (c *checker[T]) table(t int) {
	p := &c.Tables[t]
	confirmed := c.base != nil
	if confirmed {
		for _, k := range p.key {
			if c.strange(c.base, k) {
				return // there is no telling which row it should be
			}
			confirmed = confirmed && c.base.Values[k] != nil // else the entity has no row here
		}
	}
	found := false
	for _, r := range c.rows[t] {
		switch {
		case slices.ContainsFunc(p.key, func(k string) bool { return c.strange(r, k) }):
		case confirmed && !slices.ContainsFunc(p.key, func(k string) bool { return !same(r.Values[k], c.base.Values[k]) }):
			found = true
			c.differing(p, r)
		default:
			c.apart = true
			c.find(Ghost, p, r, p.show(r, p.rest), "no row: the base table has "+c.showBase(), c.one(r.time()), c.baseWrite())
		}
	}
	if confirmed && !found {
		c.apart = true
		c.find(Missing, p, nil, "no row", "the row of "+c.showBase(), c.baseWrite())
	}
}

func (c *checker[T]) baseWrite() *image[T] {
	if c.base == nil {
		return nil
	}
	return c.one(c.base.time())
}

func (c *checker[T]) showBase() string {
	if c.base == nil {
		return "no row"
	}
	return c.Tables[0].show(c.base, c.Tables[0].rest)
}

// differing compares a row with the base row of the same key.
func (c *checker[T]) differing(p *Table, r *Row) {
	columns := slices.DeleteFunc(p.differ(r.Values, c.base.Values, slices.Concat(c.odd[r], c.odd[c.base])), func(column string) bool {
		return c.tied(r, column)
	})
	if len(columns) == 0 {
		return
	}
	c.apart = true
	writes := []*image[T]{c.baseWrite()}
	if r.time() != c.base.time() {
		writes = append(writes, c.one(r.time()))
	}
	c.find(Differing, p, r, p.show(r, columns), c.Tables[0].show(c.base, columns)+" as the base table", writes...)
}

// tied says whether a column of a row that differs may do so: of two writes at one timestamp each table keeps the
// greater value, and not every table gets both.
func (c *checker[T]) tied(r *Row, column string) bool {
	if !c.ties || r.time() != c.base.time() {
		return false
	}
	writes := c.at(r.time())
	wrote := func(value []byte) bool {
		return slices.ContainsFunc(writes, func(i *image[T]) bool { return same(i.values[column], value) })
	}
	return wrote(r.Values[column]) && wrote(c.base.Values[column])
}

// newest finds which write the base row is of, and holds the WRITETIME of all its copies against its timestamp.
func (c *checker[T]) newest() {
	if c.base == nil || c.ties {
		return
	}
	base := &c.Tables[0]
	var of *image[T]
	for _, i := range c.images {
		if !i.puts() || !base.matches(c.base, i.values, c.odd[c.base]) {
			continue
		}
		if of == nil || i.timestamp == c.base.time() || of.timestamp != c.base.time() && i.timestamp > of.timestamp {
			of = i
		}
	}
	if of == nil {
		if !c.apart && len(c.odd) == 0 { // otherwise what has been found says it already
			c.find(Phantom, base, c.base, base.show(c.base, base.rest), "the whole row of one write", c.baseWrite())
		}
		return
	}
	c.each(func(p *Table, r *Row) {
		if !p.matches(r, of.values, c.odd[r]) {
			return // another write's, which has been found
		}
		var unequal []string
		for column, at := range r.Times {
			if at != of.timestamp && !c.strange(r, column) {
				unequal = append(unequal, column)
			}
		}
		if unequal != nil {
			c.find(Unequal, p, r, p.show(r, unequal), fmt.Sprintf("WRITETIME %d", of.timestamp), of)
		}
	})
}

// lost looks for the last acknowledged write.
func (c *checker[T]) lost() {
	var last *image[T]
	for _, i := range c.images {
		if i.write.Outcome == writer.Applied && (last == nil || i.timestamp > last.timestamp) {
			last = i
		}
	}
	if last == nil {
		return
	}
	base := &c.Tables[0]
	if !last.puts() {
		if c.base != nil && c.base.time() < last.timestamp {
			c.find(Lost, base, nil, c.showBase(), "no row", last, c.baseWrite())
		}
		return
	}
	rows, visible := 0, false
	c.each(func(p *Table, r *Row) {
		rows++
		visible = visible || r.time() >= last.timestamp || r.time() == 0 && p.matches(r, last.values, nil)
	})
	if visible {
		return
	}
	for _, i := range c.images { // or has a later delete removed it?
		if i.puts() || i.timestamp != 0 && i.timestamp <= last.timestamp || c.base != nil {
			continue
		}
		if i.possible() {
			return
		}
		if rows == 0 && i.timestamp != 0 {
			c.find(Unsound, base, nil, "no row", "the row: the delete was not applied", last, i)
			return
		}
	}
	c.find(Lost, base, nil, c.showBase(), "this write or a later one", last, c.baseWrite())
}

// unsound holds what the clients were told in errors against what the tables show.
func (c *checker[T]) unsound() {
	for _, i := range c.images {
		if i.write.Contradiction != "" {
			c.find(Unsound, &c.Tables[0], nil, i.write.Contradiction, "one truth", i)
		}
		if i.timestamp == 0 {
			continue
		}
		var shown, lacking []string
		for t := range c.Tables {
			p := &c.Tables[t]
			switch i.write.Of(p.Name) {
			case writer.NotApplied:
				if i.puts() && len(c.at(i.timestamp)) == 1 && c.shows(t, i) {
					shown = append(shown, p.Name)
				}
			case writer.Applied:
				if i.write.Tables != nil && c.lacks(t, i) {
					lacking = append(lacking, p.Name)
				}
			case writer.Unknown, writer.Pending, writer.Conflict, writer.Taken, writer.Invalid, writer.NotFound: // the last four are of calls
			}
		}
		if shown != nil {
			c.find(Unsound, &c.Tables[0], nil, "the row in "+strings.Join(shown, ", "), "it nowhere that was told to be without", i)
		}
		if lacking != nil {
			c.find(Unsound, &c.Tables[0], nil, "neither the write nor a later one in "+strings.Join(lacking, ", "),
				"it in each table that was told to have it", i)
		}
	}
}

// shows says whether a table shows the row of a write, and not of another one.
func (c *checker[T]) shows(t int, i *image[T]) bool {
	p := &c.Tables[t]
	return slices.ContainsFunc(c.rows[t], func(r *Row) bool {
		return r.time() == i.timestamp && p.matches(r, i.values, nil)
	})
}

// lacks says whether a table shows neither a write nor a later one.
func (c *checker[T]) lacks(t int, i *image[T]) bool {
	p := &c.Tables[t]
	older, later := false, false
	for _, r := range c.rows[t] {
		if r.time() < i.timestamp {
			older = true
		} else {
			later = true
		}
	}
	if !i.puts() {
		return older
	}
	if !p.holds(i.values) {
		return false
	}
	return !later && !slices.ContainsFunc(c.images, func(d *image[T]) bool {
		if d.timestamp != 0 && d.timestamp <= i.timestamp || !d.possible() {
			return false
		}
		// One that puts the row elsewhere has removed it here, perhaps, though its own row has not arrived.
		of := d.write.Of(p.Name)
		return !d.puts() || !p.holds(d.values) || of == writer.Unknown || of == writer.Pending
	})
}

// holds says whether an entity with these values has a row in the table.
func (p *Table) holds(values map[string][]byte) bool {
	return !slices.ContainsFunc(p.key, func(k string) bool { return values[k] == nil })
}
