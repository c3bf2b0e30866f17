package repair_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// repairer repairs the entity of a case: by package repair, or by a naive rule.
type repairer struct {
	trial   *lawTrial
	replica *lawReplica
	rand    *rand.Rand
	naive   func(x *repairer, l *repair.Look) []statement.Mutation // nil: by package repair
	rules   repair.Rules
	notes   noteCase

	did [numberOfDeeds]int
}

const (
	deedDeliver = iota
	deedPromote
	deedWithdraw
	deedNaive
	deedDrift
	deedGiveUp
	deedRewrite
	deedReadAll
	numberOfDeeds
)

func (x *repairer) layout(table int) tablerow.Layout {
	l, _ := tablerow.LayoutOf(x.trial.family.set.Internal(), x.trial.family.tables[table].name)
	return l
}

// rows reads what a table holds. The time of a row is the largest WRITETIME of its columns.
func (x *repairer) rows(table int, second int64) []repair.Row {
	t := &x.trial.family.tables[table]
	var out []repair.Row
	for have := range x.replica.tables[table].Visible(second) {
		var values [][]byte
		for key := have.Key(); key != ""; {
			n := 2 + int(binary.BigEndian.Uint16([]byte(key)))
			values, key = append(values, []byte(key[2:n])), key[n:]
		}
		row := repair.Row{Written: make(map[string]statement.Written)}
		for i := range t.columns {
			v := have.Value(i, second)
			values = append(values, v)
			if v != nil {
				row.At = max(row.At, have.WriteTime(i))
				row.Written[x.trial.family.names[t.columns[i]]] = statement.Written{At: have.WriteTime(i)}
			}
		}
		var err error
		if row.Row, err = tablerow.Read(x.layout(table), values); err != nil {
			panic(err)
		}
		out = append(out, row)
	}
	return out
}

func (x *repairer) look(second int64) *repair.Look {
	l := &repair.Look{BaseTable: x.layout(0), All: true}
	if base := x.rows(0, second); len(base) > 0 {
		l.Base = &base[0]
	}
	for t := 1; t < len(x.replica.tables); t++ {
		nowhere := func(q repair.Row) bool { return q.Entity() == "" }
		rows := slices.DeleteFunc(x.rows(t, second), nowhere)
		l.Rows, l.Tables = append(l.Rows, rows...), append(l.Tables, x.layout(t))
	}
	return l
}

func (x *repairer) apply(mutations []statement.Mutation, second int64) {
	for i := range mutations {
		if err := x.replica.apply(&mutations[i], second); err != nil {
			panic(err)
		}
	}
}

// decide gives what a repair sends. A promote is done at once: it waits for its answer.
func (x *repairer) decide(second int64) []statement.Mutation {
	l := x.look(second)
	if x.naive != nil {
		out := x.naive(x, l)
		x.did[deedNaive] += len(out)
		return out
	}
	d, err := repair.Decide(*l, x.rules)
	if err != nil {
		panic(err)
	}
	switch {
	case len(d.Promote) > 0:
		x.did[deedPromote]++
		x.apply(d.Promote, second)
		l = x.look(second)
		if l.Promoted = d.Promoted; l.Base == nil {
			x.did[deedWithdraw]++
		}
		if d, err = repair.Decide(*l, x.rules); err != nil {
			panic(err)
		}
	case l.Base != nil && len(d.Send) > 0:
		x.did[deedDeliver]++
	}
	return d.Send
}

// repairPlan is how repairs meet writers.
type repairPlan struct {
	families []*lawFamily
	spread   int64 // see lawPlan
	naive    func(x *repairer, l *repair.Look) []statement.Mutation
	run      func(x *repairer) string // says what is wrong in the end; nil: writers finish, see among
}

// runRepairs runs cases on all processors. It gives how many go wrong, and the first of them.
func runRepairs(plan repairPlan, cases int) (wrong int, first string, did [numberOfDeeds]int) {
	if plan.run == nil {
		plan.run = func(x *repairer) string { x.among(); return checkLaw(x.trial, x.replica) }
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var wait sync.WaitGroup
	var lock sync.Mutex
	earliest := cases
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wait.Go(func() {
			source := rand.NewPCG(0, 0)
			x := &repairer{trial: new(lawTrial), rand: rand.New(source), naive: plan.naive}
			replicas := make(map[*lawFamily]*lawReplica)
			for n := worker; n < cases; n += workers {
				source.Seed(*lawSeed, uint64(n))
				if err := x.trial.draw(x.rand, &lawPlan{families: plan.families, spread: plan.spread}); err != nil {
					panic(err)
				}
				if replicas[x.trial.family] == nil {
					replicas[x.trial.family] = newLawReplica(x.trial.family)
				}
				x.replica, x.rules = replicas[x.trial.family], repair.Rules{}
				x.replica.reset()
				if says := plan.run(x); says != "" {
					lock.Lock()
					if wrong++; n < earliest {
						earliest, first = n, fmt.Sprintf("seed %d, case %d\n%s%s", *lawSeed, n, x.trial, says)
					}
					lock.Unlock()
				}
			}
			lock.Lock()
			defer lock.Unlock()
			for i, n := range x.did {
				did[i] += n
			}
		})
	}
	wait.Wait()
	return wrong, first, did
}

// among delivers the mutations of the case, with repairs before, between and after them.
func (x *repairer) among() {
	var late []statement.Mutation
	again := func(second int64) {
		send := x.decide(second)
		x.rand.Shuffle(len(send), func(i, j int) { send[i], send[j] = send[j], send[i] })
		for _, m := range send {
			switch x.rand.IntN(4) {
			case 0: // lost
			case 1:
				late = append(late, m)
			default:
				x.apply([]statement.Mutation{m}, second)
			}
		}
	}
	for _, s := range x.trial.steps {
		for range x.rand.IntN(3) {
			again(lawEpoch + x.rand.Int64N(60))
		}
		late = slices.DeleteFunc(late, func(m statement.Mutation) bool {
			now := x.rand.IntN(4) == 0
			if now {
				x.apply([]statement.Mutation{m}, lawEpoch+30)
			}
			return now
		})
		x.apply(x.trial.changes[s.change].mutations[s.mutation:s.mutation+1], s.second)
	}
	again(lawDelivered)
	x.apply(late, lawDelivered)
}

// stamped are the families whose rows all say when they were written: each of their tables has the stamp.
func stamped(expiring bool) []*lawFamily {
	all := append(slices.Clone(lawFamilies()), narrowFamily())
	if expiring {
		all = append(all, lawExpiring()...)
	}
	return slices.DeleteFunc(all, func(f *lawFamily) bool {
		return f.stamp < 0 || !expiring && slices.ContainsFunc(f.tables, func(t lawTable) bool {
			return !slices.Contains(t.columns, f.stamp)
		})
	})
}

// narrowFamily has no query table with all columns: only rows of one time together say what a write wrote.
var narrowFamily = sync.OnceValue(func() *lawFamily {
	return newFamily("narrow orders", tables.Must(tables.New[lawOrder]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{
			Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id"},
			Columns: []string{"updated_at"},
		},
		tables.Table{
			Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"},
			Columns: []string{"total", "updated_at"},
		},
		tables.OneOf("status", lawOpen, lawPaid, lawShipped, lawCancelled),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	)), []string{"status"}, 1, drawOrder)
})

// TestRepairSafety lets repairs read at any moment while writers write, and lose what they send or deliver it late:
// once the writes are all delivered, the tables are as the convergence law says, as if nobody had repaired anything.
func TestRepairSafety(t *testing.T) {
	for _, expiring := range []bool{false, true} {
		cases := length.Of(t, 4_000)
		wrong, first, did := runRepairs(repairPlan{families: stamped(expiring)}, cases)
		t.Logf("rows that expire: %t. %d cases: delivered again %d, promoted %d, of these withdrawn %d", expiring, cases,
			did[deedDeliver],
			did[deedPromote], did[deedWithdraw])
		if wrong > 0 {
			t.Errorf("%d go wrong; %s", wrong, first)
		}
		for i, n := range did[:deedNaive] {
			if n == 0 {
				t.Errorf("deed %d was never done", i)
			}
		}
	}
}

// TestRepairLiveness loses mutations of writers that have died, and repairs until nothing is found. No complete write
// may be undone by that, and no deleted entity be back.
func TestRepairLiveness(t *testing.T) {
	cases := length.Of(t, 20_000)
	wrong, first, did := runRepairs(repairPlan{families: stamped(false), run: (*repairer).afterDeaths}, cases)
	t.Logf("%d of %d cases have drift. Promoted %d, of these withdrawn %d, given up %d, rewritten %d", did[deedDrift],
		cases, did[deedPromote],
		did[deedWithdraw], did[deedGiveUp], did[deedRewrite])
	if wrong > 0 || did[deedDrift]*did[deedPromote]*did[deedWithdraw]*did[deedGiveUp]*did[deedRewrite] == 0 {
		t.Errorf("%d go wrong; %s", wrong, first)
	}
}

// afterDeaths delivers what writers that die have sent before, then repairs. It gives what is wrong in the end.
func (x *repairer) afterDeaths() string {
	complete := x.deliverSome()
	newest := -1 // of the complete writes
	for i := range complete {
		if complete[i] && (newest < 0 || x.trial.changes[i].timestamp > x.trial.changes[newest].timestamp) {
			newest = i
		}
	}
	if says := x.untilAgreed(); says != "" {
		return says
	}
	return x.undone(newest, lawDelivered)
}

// deliverSome delivers the mutations of the case but for some of those of writers that die, and says which writes are
// complete.
func (x *repairer) deliverSome() (complete []bool) {
	complete = make([]bool, len(x.trial.changes))
	lost := make(map[[2]int]bool)
	for i := range x.trial.changes {
		complete[i] = true
		dies := x.rand.IntN(3) == 0
		for j := range x.trial.changes[i].mutations {
			if dies && x.rand.IntN(2) == 0 {
				complete[i], lost[[2]int{i, j}] = false, true
			}
		}
	}
	for _, s := range x.trial.steps {
		if !lost[[2]int{s.change, s.mutation}] {
			x.apply(x.trial.changes[s.change].mutations[s.mutation:s.mutation+1], s.second)
		}
	}
	return complete
}

// untilAgreed repairs until nothing is found. Rows that nothing proves are given up in the end, and what a delete
// covers is written again.
func (x *repairer) untilAgreed() string {
	const second = lawDelivered
	if len(x.look(second).Findings()) > 0 {
		x.did[deedDrift]++
	}
	written := x.trial.newest().timestamp
	for pass := 0; ; pass++ {
		before := ofAge(x.look(second))
		if len(before) == 0 {
			return ""
		}
		if pass == 20 {
			return fmt.Sprintf("there is still drift: %v", before)
		}
		x.apply(x.decide(second), second)
		if after := x.look(second); slices.Equal(ofAge(after), before) {
			if after.Base == nil { // nothing that may still come: it has been long
				x.did[deedGiveUp]++
				x.rules.Old, x.rules.Unproven = true, true
				continue
			}
			x.did[deedRewrite]++
			written++
			mutations, err := after.Base.Deliver(written, true, nil)
			if err != nil {
				panic(err)
			}
			x.apply(mutations, second)
		}
	}
}

// undone says whether the newest complete write is no longer what the tables hold, or a newer one that was begun.
func (x *repairer) undone(newest int, second int64) string {
	if newest < 0 {
		return ""
	}
	c, l := &x.trial.changes[newest], x.look(second)
	begun := func(is func(*lawChange) bool) bool {
		return slices.ContainsFunc(x.trial.changes, func(o lawChange) bool { return o.timestamp > c.timestamp && is(&o) })
	}
	switch {
	case l.Base == nil && c.after >= 0 && !begun(func(o *lawChange) bool { return o.after < 0 }):
		return "a complete write is gone"
	case l.Base != nil && l.Base.At < c.timestamp && c.after < 0:
		return "a deleted entity is back"
	case l.Base != nil && l.Base.At < c.timestamp:
		return "an older row has taken the place of a complete write"
	}
	return ""
}

// ofAge is what is found but rows of keys alone without a base row: nothing says when these were written, so they are
// reported and stay.
func ofAge(l *repair.Look) []repair.Finding {
	return slices.DeleteFunc(l.Findings(), func(f repair.Finding) bool {
		return f.Class == repair.Undatable && f.Table == "note_keys"
	})
}
