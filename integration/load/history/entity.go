package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// checker checks one entity.
type checker[T any] struct {
	*Contents[T]
	report *Report
	rows   [][]*Row // by table
	images []*image[T]
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
	if len(c.images) == 0 {
		c.strangers()
		return nil
	}
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
