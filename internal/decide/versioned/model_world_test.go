package versioned_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/gocql/gocql"
)

// The model's times, in microseconds. What the protocol demands of them is that a fence outlives the age that an
// insert's version can have when its call begins, that call, the delay of what it has sent and two clock errors.
const (
	second   = int64(time.Second / time.Microsecond)
	lifetime = 5 * second  // of a call: its context ends then
	delay    = 20 * second // within which the network delivers or drops a request
	skew     = 2 * second  // of a clock, at most
	kept     = 3 * second  // the age of an insert that is sent, or sent again, at most
	fenceTTL = kept + lifetime + delay + 2*skew
	grace    = 1 * second
)

const (
	entities  = 2
	keys      = 3 // of a unique table, from 1
	processes = 4
)

// world is a cluster and its clients. Everything in it follows from the seed.
type world struct {
	plan   *modelPlan
	source *rand.PCG
	rand   *rand.Rand
	now    int64 // true time

	rows    [entities]row
	tables  [2]*merge.Table
	claims  [2][keys + 1]versioned.Claim // by unique table
	delayed []delivery

	processes []*process
	chaos     chaos
	unique    int  // keys that are asked for, 0: the rows have none
	contended bool // one entity is changed more often than it has slots
	numbers   int  // of processes; some may share one
	tokens    uint64
	calls     []*call
	queue     []*stored // changes that failed, in the order in which they came
	wrong     string
	coverage  coverage
	history   *strings.Builder // nil unless it is asked for
}

// chaos are the rates of a run's faults, in 1024ths.
type chaos struct {
	lost, refused, delayed, crash, partial, jump, stale int

	stall int // of many steps of others before a request arrives
	slow  int // of what is delayed staying so for another step
}

// delivery is a request that the network still has. It arrives at the latest when it is due.
type delivery struct {
	due  int64
	name string
	do   func()
}

// call is a change that a process has begun.
type call struct {
	process int
	entity  int
	kind    string
	version gocql.UUID
	stored  *stored
	resumed bool
	result  versioned.Result
	ended   bool // with a result, not with a crash
}

func newWorld(plan *modelPlan) *world {
	w := &world{plan: plan, source: rand.NewPCG(0, 0)}
	w.rand = rand.New(w.source)
	for i := range w.tables {
		w.tables[i] = merge.NewTable(1)
	}
	for i := range processes {
		w.processes = append(w.processes, newProcess(w, i))
	}
	return w
}

// close ends the processes.
func (w *world) close() {
	for _, p := range w.processes {
		p.stop()
	}
}

func (w *world) reset(seed, number uint64) {
	w.source.Seed(seed, number)
	w.now = 1_700_000_100 * second
	for i := range w.rows {
		w.rows[i].reset()
	}
	for _, t := range w.tables {
		t.Reset()
	}
	clear(w.claims[:])
	w.delayed, w.calls, w.queue, w.wrong, w.tokens = w.delayed[:0], w.calls[:0], w.queue[:0], "", 0
	w.coverage = coverage{}
}

// run is one case: clients under faults, then quiescence, then what has to hold.
func (w *world) run(seed, number uint64) string {
	w.reset(seed, number)
	if w.unique = w.pick(0, 0, 0, 1, 2, keys); w.plan.keys > 0 {
		w.unique = w.plan.keys
	}
	w.chaos = chaos{jump: w.pick(0, 20, 60)}
	if !w.chance(100) {
		w.chaos.lost, w.chaos.refused = w.pick(0, 30, 100), w.pick(0, 30, 100)
		w.chaos.delayed, w.chaos.crash = w.pick(0, 40, 120), w.pick(0, 20, 60)
		w.chaos.partial, w.chaos.stale = w.pick(0, 100), w.pick(0, 0, 200)
		w.chaos.stall, w.chaos.slow = w.pick(0, 0, 0, 0, 0, 60), w.pick(768, 768, 1000)
	}
	if w.plan.chaos != nil {
		w.chaos = *w.plan.chaos
	}
	most := w.pick64(0, second/2, skew)
	if w.plan.id != nil {
		most = 0
	}
	w.numbers = w.pick(1, 2, processes)
	live, changes := w.processes[:2+w.rand.IntN(processes-1)], 4
	if w.contended = w.plan.contended || w.chance(6); w.contended {
		changes = 40
	}
	for _, p := range live {
		p.reset(w.pick64(-most, 0, most), 1+w.rand.IntN(changes))
	}
	live = append(make([]*process, 0, processes), live...)
	for len(live) > 0 && w.wrong == "" {
		w.pass()
		if len(w.delayed) > 0 && !w.chance(w.chaos.slow) {
			w.deliver(w.rand.IntN(len(w.delayed)))
			continue
		}
		i := w.rand.IntN(len(live))
		if live[i].step(); live[i].idle {
			live = slices.Delete(live, i, i+1)
		}
	}
	for _, p := range live { // something is wrong already: let them come to an end
		for p.dead = true; !p.idle; {
			p.step()
		}
	}
	if w.wrong == "" {
		w.conclude()
	}
	return w.wrong
}

func (w *world) chance(of1024 int) bool { return of1024 > 0 && w.rand.IntN(1024) < of1024 }

func (w *world) pick(of ...int) int       { return of[w.rand.IntN(len(of))] }
func (w *world) pick64(of ...int64) int64 { return of[w.rand.IntN(len(of))] }

// pass lets some time go by.
func (w *world) pass() {
	switch n := w.rand.IntN(1024); {
	case n < w.chaos.jump/8:
		w.advance(fenceTTL + w.rand.Int64N(2*fenceTTL))
	case n < w.chaos.jump:
		w.advance(w.rand.Int64N(3 * second))
	case n < 100:
		w.advance(w.rand.Int64N(second / 10))
	default:
		w.advance(w.rand.Int64N(300))
	}
}

// advance delivers what is due meanwhile.
func (w *world) advance(d int64) {
	until := w.now + d
	for len(w.delayed) > 0 {
		next := 0
		for i := range w.delayed {
			if w.delayed[i].due < w.delayed[next].due {
				next = i
			}
		}
		if w.delayed[next].due > until {
			break
		}
		w.now = max(w.now, w.delayed[next].due)
		w.deliver(next)
	}
	w.now = until
}

func (w *world) deliver(i int) {
	d := w.delayed[i]
	w.delayed = slices.Delete(w.delayed, i, i+1)
	w.logf("network: %s arrives", d.name)
	d.do()
}

// later gives the network what was sent, unless that is too long ago.
func (w *world) later(sent int64, name string, do func()) {
	if most := sent + delay - w.now; most > 0 {
		w.delayed = append(w.delayed, delivery{w.now + w.rand.Int64N(most), name, do})
	}
}

// failf notes the first thing that is wrong.
func (w *world) failf(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
		w.logf("WRONG: %s", w.wrong)
	}
}

func (w *world) logf(format string, args ...any) {
	if w.history == nil {
		return
	}
	for i, a := range args {
		if v, ok := a.(gocql.UUID); ok {
			args[i] = short(v)
		}
	}
	fmt.Fprintf(w.history, "%12.6f  %s\n", float64(w.now%(1_000_000*second))/1e6, fmt.Sprintf(format, args...))
}

// short is a version as the history shows it: its time, and the last of its node bits.
func short(v gocql.UUID) string {
	if v == (gocql.UUID{}) {
		return "null"
	}
	return fmt.Sprintf("%.6f/%02x", float64(entity.Timestamp(v)%(1_000_000*second))/1e6, v[10])
}
