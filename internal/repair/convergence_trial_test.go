package repair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// lawTrial is one case: changes of one entity, and how their mutations arrive.
type lawTrial struct {
	family  *lawFamily
	world   int
	changes []lawChange
	steps   []lawStep
}

// lawChange is a change with its place in time. Rows are numbers in the world's pool, -1 for none.
type lawChange struct {
	kind          tables.Kind
	before, after int
	timestamp     int64
	mutations     []statement.Mutation
	dropped       bool // left out of a failing case that fails without it, too
}

// lawStep is the delivery of one mutation, at a second between lawEpoch and lawDelivered.
type lawStep struct {
	change, mutation int
	second           int64
}

// lawPlan says how cases are drawn.
type lawPlan struct {
	families   []*lawFamily
	ties       bool  // most changes share their timestamp with another one
	tieInsert  bool  // with the insert, too
	lateInsert bool  // the insert's timestamp is not the smallest
	spread     int64 // changes follow each other by up to so many microseconds, 0: mostly by one
	// corrupt breaks the mutations of a change on purpose.
	corrupt func(r *rand.Rand, tr *lawTrial, c *lawChange)
}

const lawDelivered = lawEpoch + 60 // the second by which every mutation has arrived

var lawSoon, lawLater = time.Unix(lawEpoch+20, 0), time.Unix(lawEpoch+10_000, 0)

func (tr *lawTrial) row(i int) *lawRow { return &tr.family.worlds[tr.world][i] }

// insertSweeps says whether Insert is rendered like Update.
func (f *lawFamily) insertSweeps() bool { return f.upserts && len(f.moving) > 0 }

// draw makes a case out of the random numbers.
func (tr *lawTrial) draw(r *rand.Rand, p *lawPlan) error {
	tr.family = p.families[r.IntN(len(p.families))]
	tr.world = r.IntN(len(tr.family.worlds))
	tr.changes, tr.steps = tr.changes[:0], tr.steps[:0]
	for range 2 + r.IntN(5) {
		tr.changes = append(tr.changes, tr.drawChange(r))
	}
	if p.lateInsert {
		first := &tr.changes[0]
		*first = lawChange{kind: tables.Insert, before: -1, after: r.IntN(lawPool)}
		last := &tr.changes[1+r.IntN(len(tr.changes)-1)]
		*first, *last = *last, *first
	}
	tr.drawTimestamps(r, p)
	for i := range tr.changes {
		c := &tr.changes[i]
		rendered, err := tr.family.change(c.kind, tr.world, c.before, c.after).Internal().Render(c.timestamp, nil)
		if err != nil {
			return err
		}
		c.mutations = rendered.Mutations
		if p.corrupt != nil {
			p.corrupt(r, tr, c)
		}
	}
	tr.drawSteps(r)
	return nil
}

// drawChange adds to the changes so far. At most the first one is an Insert, except in sets whose inserts sweep.
func (tr *lawTrial) drawChange(r *rand.Rand) lawChange {
	c := lawChange{kind: tables.Update, before: -1, after: r.IntN(lawPool)}
	switch {
	case len(tr.changes) == 0 && r.IntN(3) > 0:
		c.kind = tables.Insert
	case r.IntN(5) == 0:
		c.kind, c.after = tables.Delete, -1
	case tr.family.upserts && r.IntN(3) == 0:
		c.kind = tables.Upsert
		if tr.family.insertSweeps() && r.IntN(2) == 0 {
			c.kind = tables.Insert
		}
	}
	if c.kind == tables.Update || c.kind == tables.Delete {
		c.before = tr.drawBefore(r)
	}
	return c
}

// drawBefore gives a before-image: the one that another writer started from, the latest row, a former one, or one that
// never was.
func (tr *lawTrial) drawBefore(r *rand.Rand) int {
	if len(tr.changes) > 0 {
		earlier := &tr.changes[r.IntN(len(tr.changes))]
		latest := &tr.changes[len(tr.changes)-1]
		switch n := r.IntN(8); {
		case n < 4 && earlier.before >= 0:
			return earlier.before
		case n < 6 && latest.after >= 0:
			return latest.after
		case n < 7 && earlier.after >= 0:
			return earlier.after
		}
	}
	return r.IntN(lawPool)
}

// drawTimestamps lets the changes follow each other, mostly by one microsecond, so that what is sent at T-1 meets what
// another change sent at T.
func (tr *lawTrial) drawTimestamps(r *rand.Rand, p *lawPlan) {
	timestamp := int64(lawEpoch * 1_000_000)
	for i := range tr.changes {
		gap := one[int64](r, 1, 1, 1, 1, 2, 3, 1000)
		if p.spread > 0 {
			gap = 1 + r.Int64N(p.spread)
		}
		alone := i == 1 && tr.changes[0].kind == tables.Insert && !tr.family.insertSweeps() && !p.tieInsert
		if p.ties && r.IntN(3) > 0 && !alone {
			gap = 0
		}
		if i > 0 {
			timestamp += gap
		}
		tr.changes[i].timestamp = timestamp
	}
}

// drawSteps delivers every mutation once and, in two cases of three, up to half of them again, in random order.
func (tr *lawTrial) drawSteps(r *rand.Rand) {
	for i := range tr.changes {
		for j := range tr.changes[i].mutations {
			tr.steps = append(tr.steps, lawStep{change: i, mutation: j})
		}
	}
	if n := len(tr.steps); n > 0 && r.IntN(3) > 0 {
		for range 1 + r.IntN(n/2+1) {
			tr.steps = append(tr.steps, tr.steps[r.IntN(n)])
		}
	}
	r.Shuffle(len(tr.steps), func(i, j int) { tr.steps[i], tr.steps[j] = tr.steps[j], tr.steps[i] })
	for i := range tr.steps {
		tr.steps[i].second = lawEpoch + r.Int64N(lawDelivered-lawEpoch)
	}
}

// newest is the largest timestamp, and a change that has it.
func (tr *lawTrial) newest() *lawChange {
	var newest *lawChange
	for i := range tr.changes {
		if c := &tr.changes[i]; !c.dropped && (newest == nil || c.timestamp > newest.timestamp) {
			newest = c
		}
	}
	return newest
}

// shrink leaves out of a failing case what it fails without: changes, then repeats.
func (tr *lawTrial) shrink(fails func() bool) {
	for i := range tr.changes {
		tr.changes[i].dropped = true
		if tr.newest() == nil || !fails() {
			tr.changes[i].dropped = false
		}
	}
	all := slices.DeleteFunc(slices.Clone(tr.steps), func(s lawStep) bool { return tr.changes[s.change].dropped })
	tr.steps = all
	for i := len(all) - 1; i >= 0; i-- {
		same := func(s lawStep) bool { return s.change == all[i].change && s.mutation == all[i].mutation }
		if slices.IndexFunc(tr.steps, same) == i {
			continue // its only delivery, or the first
		}
		before := tr.steps
		if tr.steps = slices.Delete(slices.Clone(before), i, i+1); !fails() {
			tr.steps = before
		}
	}
}

// String prints the case: changes by time, then mutations as they arrive.
func (tr *lawTrial) String() string {
	var b strings.Builder
	f := tr.family
	fmt.Fprintf(&b, "set %s\nchanges:\n", f.name)
	for i, c := range tr.changes {
		if c.dropped {
			continue
		}
		fmt.Fprintf(&b, "  c%d %s at %s", i, c.kind, lawTime(c.timestamp))
		if c.before >= 0 {
			fmt.Fprintf(&b, "\n      from %s", f.text(tr.row(c.before)))
		}
		if c.after >= 0 {
			fmt.Fprintf(&b, "\n      to   %s", f.text(tr.row(c.after)))
		}
		b.WriteString("\n")
	}
	b.WriteString("delivered:\n")
	for _, s := range tr.steps {
		c := &tr.changes[s.change]
		if c.dropped {
			continue
		}
		m := &c.mutations[s.mutation]
		fmt.Fprintf(&b, "  c%d %-6s %s at %s:", s.change, m.Kind, m.Table, lawTime(m.Timestamp))
		for i, name := range m.Names {
			column := slices.Index(f.names, name)
			if column < 0 || column == f.stamp {
				continue
			}
			text := "unset"
			if v, ok := m.Args[i].(*cqltype.Value); ok {
				text = lawValue(f.types[column], v.Data)
			}
			fmt.Fprintf(&b, " %s=%s", name, text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
