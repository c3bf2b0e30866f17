package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
)

// foresight is how far ahead estimate looks, as the rules on size of package lint do.
const foresight = 5 * schema.Year

// split is a way to divide the partitions of a table.
type split struct {
	By           string            `json:"by"`               // time, hash, time and hash, column or table
	Column       string            `json:"column,omitempty"` // of the time, the hash, or the values
	Unit         string            `json:"unit,omitempty"`   // of time
	Parts        int               `json:"parts,omitempty"`  // hash buckets, or values of the column
	PartitionKey []string          `json:"partitionKey"`     // of the table then
	Key          string            `json:"primaryKey"`
	Moved        []string          `json:"moved,omitempty"`    // columns that go to another table
	Other        string            `json:"otherKey,omitempty"` // primary key of that one
	Bounded      bool              `json:"bounded"`            // whether partitions are known to stop growing
	After5Years  estimate.Size     `json:"after5Years"`        // the largest partition
	Limits       map[string]*int64 `json:"limits"`
	Note         string            `json:"note"` // what it costs

	way   string             // for people
	after *estimate.Estimate // of the table then
}

// planned is a table with its volume, and what comes of it.
type planned struct {
	schema *schema.Schema
	table  *schema.Table
	volume schema.Volume
	known  bool // the volume is stated or measured; otherwise it is one row
	void   bool // rows are stated of a partition that has only one
	e      *estimate.Estimate
}

// bounded says whether partitions stop growing.
func (p *planned) bounded() bool { return ends(p.volume, p.e) }

func ends(v schema.Volume, e *estimate.Estimate) bool {
	return v.Per == 0 || e.Keep() > 0 && v.Growth == 0
}

// single says whether a partition is one row.
func single(t *schema.Table) bool { return len(t.Of(schema.Clustering)) == 0 }

// small says whether a size is below the limits up to which partitions are no trouble.
func small(s estimate.Size) bool {
	return s.Rows < estimate.GoodRows && s.Bytes < estimate.GoodBytes && s.Cells < estimate.MaxCells
}

// tolerable says whether a size is below the limits beyond which a partition strains its nodes, or cannot be written
// to.
func tolerable(s estimate.Size) bool {
	return s.Bytes < estimate.BadBytes && s.Cells < estimate.MaxCells
}

// change estimates the table with other columns and another volume. It is nil if that cannot be.
func (p *planned) change(s split, v schema.Volume, columns func([]schema.Column) []schema.Column) *split {
	t := *p.table
	t.Columns = columns(slices.Clone(t.Columns))
	v.Width, v.Elements, v.Filled = only(v.Width, &t), only(v.Elements, &t), only(v.Filled, &t)
	after, err := estimate.New(&schema.Schema{Tables: []schema.Table{t}, Types: p.schema.Types}, v)
	if err != nil {
		return nil
	}
	s.after, s.Key = after, t.Key()
	s.PartitionKey = each.Of(t.Of(schema.PartitionKey), func(c schema.Column) string { return c.Name })
	return &s
}

// only leaves out of what is stated of columns those that the table does not have.
func only(stated map[string]float64, t *schema.Table) map[string]float64 {
	stated = maps.Clone(stated)
	maps.DeleteFunc(stated, func(name string, _ float64) bool { return t.Column(name) == nil })
	return stated
}

// key adds columns to the partition key, under names that the table does not have.
func (p *planned) key(names ...string) func([]schema.Column) []schema.Column {
	return func(columns []schema.Column) []schema.Column {
		for _, name := range names {
			for p.table.Column(name) != nil {
				name += "_2"
			}
			columns = append(columns, schema.Column{Name: name, Type: "text", Kind: schema.PartitionKey})
		}
		return columns
	}
}

// units are the times that a bucket may cover.
var units = []struct {
	name string
	time time.Duration
	read string
}{
	{"hour", time.Hour, "a read of a day asks 24 partitions"},
	{"day", schema.Day, "a read of a month asks 30 partitions"},
	{"week", 7 * schema.Day, "a read of a year asks 52 partitions"},
	{"month", schema.Month, "a read of a year asks 12 partitions"},
	{"year", schema.Year, "a read of ten years asks 10 partitions"},
}

// splits gives the ways to divide the partitions, those first that keep them small.
func (p *planned) splits() []split {
	if single(p.table) || small(p.e.At(foresight)) {
		return nil
	}
	var out []split
	add := func(s ...*split) {
		for _, x := range s {
			if x != nil && x.after.At(foresight).Bytes < 0.75*p.e.At(foresight).Bytes { // otherwise it is no help
				x.Bounded, x.After5Years, x.Limits = ends(p.volume, x.after) && !p.volume.Measured, x.after.At(foresight), limitsJSON(x.after)
				out = append(out, *x)
			}
		}
	}
	add(p.byTime()...)
	add(p.byHash(p.volume, split{By: "hash"}))
	add(p.byColumn()...)
	add(p.byTable())
	return out
}

// byTime gives buckets of time: the longest that keeps partitions small, the longer ones that keep them tolerable, and
// the first that does not.
func (p *planned) byTime() []*split {
	counts := slices.ContainsFunc(p.table.Columns, func(c schema.Column) bool { return c.Type == "counter" })
	if p.volume.Per == 0 || counts { // a counter goes on counting, whenever its row came
		return nil
	}
	of, note := p.moment()
	var all []*split
	best := 0
	for _, u := range units {
		if keep := p.e.Keep(); keep > 0 && u.time >= keep {
			break
		}
		v := p.volume
		v.Window = u.time
		s := p.change(split{By: "time", way: "by " + u.name + " of " + cmp.Or(of, "a new column"), Column: of, Unit: u.name, Note: u.read + note}, v, p.key(u.name))
		if s == nil {
			return nil
		}
		if small(s.after.At(foresight)) {
			best = len(all)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil
	}
	all = all[best:]
	for i, s := range all {
		if !tolerable(s.after.At(foresight)) {
			all = all[:i+1]
			break
		}
	}
	if finest := all[0]; !small(finest.after.At(foresight)) {
		v := p.volume
		v.Window = time.Hour
		return append([]*split{p.byHash(v, *finest)}, all...)
	}
	return all
}

// moment is the column whose time a bucket can be of, empty if the table has none.
func (p *planned) moment() (column, note string) {
	for _, kind := range []schema.Kind{schema.Clustering, schema.Regular} {
		for _, c := range p.table.Of(kind) {
			if c.Type != "timestamp" && c.Type != "timeuuid" && c.Type != "date" {
				continue
			}
			if kind == schema.Regular {
				note = "; " + c.Name + " must not change, and is needed to find a row"
			}
			return c.Name, note
		}
	}
	return "", "; the time of a row is needed to find it"
}

// byHash gives the fewest hash buckets, a power of two, that keep partitions small; or tolerable, where they grow on
// beyond that.
func (p *planned) byHash(v schema.Volume, s split) *split {
	// What tells the rows of a partition apart.
	clustering := p.table.Of(schema.Clustering)
	of := clustering[len(clustering)-1]
	if i := slices.IndexFunc(clustering, func(c schema.Column) bool { return c.Type == "uuid" || c.Type == "timeuuid" }); i >= 0 {
		of = clustering[i]
	}
	names := []string{"bucket"}
	if s.Unit != "" {
		names = []string{s.Unit, "bucket"}
	}
	enough := small
	if s.Unit == "" && !p.bounded() && !tolerable(p.e.At(foresight)) {
		enough = tolerable
	}
	for n := 2; n <= 1024; n *= 2 { // tables.Hash has as many
		less := v
		less.Rows /= float64(n)
		next := s
		next.Parts, next.Note = n, fmt.Sprintf("a read of all rows asks %s partitions", grouped(n))
		if s.Unit == "" {
			next.way, next.Column = fmt.Sprintf("by hash of %s into %s", of.Name, grouped(n)), of.Name
		} else {
			next.By, next.Note = "time and hash", fmt.Sprintf("a read of %s %s asks %s partitions", article(s.Unit), s.Unit, grouped(n))
			next.way += fmt.Sprintf(" and hash of %s into %s", of.Name, grouped(n))
		}
		if got := p.change(next, less, p.key(names...)); got == nil || enough(got.after.At(foresight)) {
			return got
		}
	}
	return nil
}

func article(unit string) string {
	if unit == "hour" {
		return "an"
	}
	return "a"
}

// byColumn gives columns of the table whose number of values is known, as part of the partition key: three at most,
// those with most values first.
func (p *planned) byColumn() []*split {
	var out []*split
	for _, c := range p.table.Columns {
		if c.Domain < 2 || c.Kind != schema.Clustering && c.Kind != schema.Regular {
			continue
		}
		v := p.volume
		v.Rows /= float64(c.Domain)
		cost := fmt.Sprintf("if its %s values are equally frequent", grouped(c.Domain))
		if c.Kind == schema.Regular || p.moves(c.Name) {
			cost += "; a change of it moves the row"
		}
		if s := p.change(split{By: "column", way: "by " + c.Name, Column: c.Name, Parts: c.Domain, Note: cost}, v, func(columns []schema.Column) []schema.Column {
			i := slices.IndexFunc(columns, func(x schema.Column) bool { return x.Name == c.Name })
			columns[i].Kind = schema.PartitionKey
			return columns
		}); s != nil {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *split) int { return b.Parts - a.Parts })
	return out[:min(len(out), 3)]
}

// moves says whether a column of a key is known to change.
func (p *planned) moves(column string) bool {
	return slices.ContainsFunc(p.schema.Entities, func(e schema.Entity) bool {
		return slices.Contains(e.Tables, p.table.ID) && slices.Contains(e.Moves, column)
	})
}

// byTable gives the fewest of the widest columns without which rows are at most half as large: in another table they
// are read when they are needed.
func (p *planned) byTable() *split {
	v := p.volume
	without := func(names []string) *split {
		return p.change(split{By: "table", way: "by a second table", Moved: names}, v, func(columns []schema.Column) []schema.Column {
			return slices.DeleteFunc(columns, func(c schema.Column) bool { return slices.Contains(names, c.Name) })
		})
	}
	type column struct {
		name  string
		bytes float64
	}
	var widest []column
	for _, c := range p.table.Of(schema.Regular) {
		if c.Type == "counter" {
			return nil
		}
		if s := without([]string{c.Name}); s != nil {
			widest = append(widest, column{c.Name, p.e.Row().Bytes - s.after.Row().Bytes})
		}
	}
	slices.SortStableFunc(widest, func(a, b column) int { return cmp.Compare(b.bytes, a.bytes) })
	var names []string
	for _, c := range widest {
		names = append(names, c.name)
		s := without(names)
		if s == nil || 2*s.after.Row().Bytes > p.e.Row().Bytes {
			continue
		}
		s.Other = p.rowKey()
		s.Note = amount(s.after.Row().Bytes) + " bytes a row stay"
		return s
	}
	return nil
}

// rowKey is a primary key of one row a partition for rows of the table: the ID of the entity, or the key of its base
// table, if the rows have it, or all of their own.
func (p *planned) rowKey() string {
	for _, e := range p.schema.Entities {
		if len(e.ID) > 0 && slices.Contains(e.Tables, p.table.ID) {
			t := schema.Table{Columns: each.Of(e.ID, func(name string) schema.Column {
				return schema.Column{Name: name, Kind: schema.PartitionKey}
			})}
			return t.Key()
		}
		base := p.schema.Table(e.Tables[0])
		if base != nil && single(base) && slices.Contains(e.Tables, p.table.ID) &&
			!slices.ContainsFunc(base.Of(schema.PartitionKey), func(c schema.Column) bool { return p.table.Column(c.Name) == nil }) {
			return base.Key()
		}
	}
	t := schema.Table{Columns: each.Of(p.table.Of(schema.PartitionKey, schema.Clustering), func(c schema.Column) schema.Column {
		return schema.Column{Name: c.Name, Kind: schema.PartitionKey}
	})}
	return t.Key()
}
