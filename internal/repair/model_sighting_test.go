package repair_test

import (
	"cmp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
)

const (
	sightSpan   = 100            // microseconds from the timestamp of a write until the last of its mutations is applied
	sightSettle = sightSpan + 30 // and the time that a look takes
)

// sightCase is a case of which a verifier takes looks while its writes are in flight.
type sightCase struct {
	*repairer
	arrivals []sightArrival // in order
	done     int            // how many of them have been applied
	now      int64
	late     int64 // by how much the clocks are ahead of the timestamps: an import, written with At
}

type sightArrival struct {
	at       int64
	mutation []statement.Mutation
}

// seen is what one look has found.
type seen struct {
	began, ended time.Time
	findings     []repair.Finding
}

// sightRules say whether looks are reported as drift.
var sightRules = [...]struct {
	name  string
	naive bool
	is    func(looks []seen, at bool) bool
}{
	{"one look", true, func(looks []seen, _ bool) bool { return len(looks[0].findings) > 0 }},
	{"two looks", true, func(looks []seen, _ bool) bool {
		return len(looks) > 1 && len(looks[0].findings) > 0 && slices.Equal(looks[0].findings, looks[1].findings)
	}},
	{"two looks, aged by timestamps though the set is written with At", true, func(looks []seen, at bool) bool {
		return at && settled(looks, repair.Patience{Settle: sightSettle * time.Microsecond})
	}},
	{"the rule", false, func(looks []seen, at bool) bool {
		return settled(looks, repair.Patience{Settle: sightSettle * time.Microsecond, At: at})
	}},
}

func settled(looks []seen, p repair.Patience) bool {
	p.Horizon = time.Hour
	var s repair.Sighting
	return slices.ContainsFunc(looks, func(l seen) bool {
		c, _ := s.Look(l.began, l.ended, l.findings, p)
		return c == repair.Settled
	})
}

// TestSightings: a verifier looks while creates, moves and deletes are in flight, and reads no two rows at one moment.
// What it reports must be lost mutations, all of them, and never a write that has not ended.
func TestSightings(t *testing.T) {
	const schedules = 16 // of each case
	var alarms, found [len(sightRules)]atomic.Int64
	var planted atomic.Int64
	runs := length.Of(t, 300_000)
	runRepairs(repairPlan{families: stamped(false), spread: 2 * sightSpan, run: func(x *repairer) string {
		if x.rand.IntN(4) == 0 {
			x.drawNotes(func() int64 { return 1 + x.rand.Int64N(2*sightSpan) })
		}
		c := &sightCase{repairer: x}
		for range schedules {
			lost := c.draw()
			looks := c.looks(lost)
			drift := lost && len(c.finally()) > 0
			if drift {
				planted.Add(1)
			}
			for i, rule := range sightRules {
				switch yes := rule.is(looks, c.late > 0); {
				case yes && drift:
					found[i].Add(1)
				case yes:
					alarms[i].Add(1)
				}
			}
		}
		return ""
	}}, runs/schedules)
	for i, rule := range sightRules {
		t.Logf("%s: %d false alarms in %d runs, %d of %d planted differences found", rule.name, alarms[i].Load(), runs,
			found[i].Load(),
			planted.Load())
		switch {
		case rule.naive && alarms[i].Load() == 0 && runs >= 100_000:
			t.Error("no false alarm of a naive rule is seen")
		case !rule.naive && (alarms[i].Load() > 0 || found[i].Load() != planted.Load() || planted.Load() == 0):
			t.Error("want no false alarm, and all differences found")
		}
	}
}

// draw lets mutations arrive. In one case of four some of the newest write are lost.
func (c *sightCase) draw() (lost bool) {
	c.arrivals, c.done, c.late, c.now = c.arrivals[:0], 0, 0, 0
	c.replica.reset()
	if c.rand.IntN(4) == 0 {
		c.late = 30 * 24 * time.Hour.Microseconds()
	}
	newest := c.trial.newest()
	for i := range c.trial.changes {
		w := &c.trial.changes[i]
		arrive := func() int64 {
			if c.rand.IntN(3) == 0 { // a slow one
				return w.timestamp + sightSpan - c.rand.Int64N(5)
			}
			return w.timestamp + c.rand.Int64N(sightSpan)
		}
		for j := range w.mutations {
			c.arrivals = append(c.arrivals, sightArrival{arrive(), w.mutations[j : j+1]})
		}
		if w == newest && c.rand.IntN(4) == 0 {
			n := len(c.arrivals)
			keep := c.rand.IntN(len(w.mutations))
			c.rand.Shuffle(len(w.mutations), func(a, b int) {
				a, b = n-1-a, n-1-b
				c.arrivals[a], c.arrivals[b] = c.arrivals[b], c.arrivals[a]
			})
			c.arrivals, lost = c.arrivals[:n-len(w.mutations)+keep], true
		}
	}
	slices.SortFunc(c.arrivals, func(a, b sightArrival) int { return cmp.Compare(a.at, b.at) })
	return lost
}

// advance lets time pass.
func (c *sightCase) advance(by int64) {
	c.now += by
	for ; c.done < len(c.arrivals) && c.arrivals[c.done].at <= c.now; c.done++ {
		c.apply(c.arrivals[c.done].mutation, lawEpoch)
	}
}

// looks are up to three, of writes that have ended, or else among them.
func (c *sightCase) looks(after bool) (out []seen) {
	first, last := c.trial.changes[0].timestamp, c.trial.newest().timestamp
	start := first + c.rand.Int64N(last-first+3*sightSpan)
	if after {
		start = last + 3*sightSpan
	}
	c.now = 0
	c.advance(start)
	for range 3 {
		out = append(out, c.see())
		if len(out[0].findings) == 0 {
			break
		}
		c.advance(sightSettle + c.rand.Int64N(sightSpan))
	}
	return out
}

func (c *sightCase) clock() time.Time { return time.UnixMicro(c.now + c.late) }

// see reads the tables in some order, and time passes between any two reads.
func (c *sightCase) see() seen {
	l := &repair.Look{BaseTable: c.layout(0)}
	out := seen{began: c.clock()}
	base := func() {
		c.advance(c.rand.Int64N(4))
		if rows := c.rows(0, lawEpoch); len(rows) > 0 {
			l.Base = &rows[0]
		}
	}
	baseFirst := c.rand.IntN(2) == 0
	if baseFirst {
		base()
	}
	for t := 1; t < len(c.replica.tables); t++ {
		c.advance(c.rand.Int64N(4))
		l.Rows, l.Tables = append(l.Rows, c.rowsOf(t)...), append(l.Tables, c.layout(t))
	}
	if !baseFirst {
		base()
	}
	out.findings, out.ended = l.Findings(), c.clock()
	return out
}

// rowsOf reads a table, some of its keys a moment later than others.
func (c *sightCase) rowsOf(table int) []repair.Row {
	early, done := c.rows(table, lawEpoch), c.done
	if c.advance(c.rand.Int64N(4)); c.done == done {
		return early
	}
	later := make(map[string]bool)
	isLater := func(q repair.Row) bool {
		if _, drawn := later[q.Key()]; !drawn {
			later[q.Key()] = c.rand.IntN(2) == 0
		}
		return later[q.Key()]
	}
	late := slices.DeleteFunc(c.rows(table, lawEpoch), func(q repair.Row) bool { return !isLater(q) })
	return append(slices.DeleteFunc(early, isLater), late...)
}

// finally is what is wrong once everything has arrived.
func (c *sightCase) finally() []repair.Finding {
	c.advance(100 * sightSpan)
	return c.look(lawEpoch).Findings()
}
