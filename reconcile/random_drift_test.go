package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/reconcile"
)

// drift plants what writers leave that die, compares what is found with what is there, and repairs it: at first by
// repairs that are killed.
func (x *random) drift() {
	x.plantAll()
	const settle = 30 * time.Second
	<-time.After(settle + time.Second)
	want := x.differences()
	report, err := x.r.Verify(x.t.Context(), x.described(), reconcile.Settle(settle))
	if err != nil && !errors.Is(err, reconcile.ErrDrift) {
		x.t.Fatal(err)
	}
	got, classes := keys(report), make(map[reconcile.Class]int)
	for f := range report.Findings() {
		classes[f.Class]++
	}
	x.planted(classes)
	if !slices.Equal(got, want) {
		without := func(a, b []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) }), "\n")
		}
		x.t.Errorf("%d differences, %d findings; not found:\n%s\nfound, and no difference:\n%s", len(want), len(got), without(want, got), without(got, want))
	}
	x.repairKilled(settle)
	for n := 1; ; n++ {
		report, err = x.r.Repair(x.t.Context(), x.described(), reconcile.Settle(settle), reconcile.Rewrite(), handed)
		x.count(report, false)
		if err == nil && x.patches { // where a patch has made a base row alone, it does not say where the entity's other rows are
			report, err = x.r.Verify(x.t.Context(), x.described(), reconcile.Settle(settle))
		}
		if err == nil {
			x.tally.mu.Lock()
			x.tally.longest = max(x.tally.longest, n)
			x.tally.mu.Unlock()
			return
		}
		if n == 5 {
			x.t.Fatalf("it is not repaired: %v\n%v\n%v", err, report, slices.Collect(report.Findings()))
		}
	}
}

// planted counts what was found, in which is each class that tables of the rule can have.
func (x *random) planted(found map[reconcile.Class]int) {
	want := []reconcile.Class{reconcile.Missing, reconcile.Differing, reconcile.Orphan}
	if x.moves {
		want = append(want, reconcile.Ghost)
	}
	if x.moves && !x.versioned { // or else a row that is newer is one that differs
		want = append(want, reconcile.Newer)
	}
	x.tally.mu.Lock()
	defer x.tally.mu.Unlock()
	if x.tally.planted[x.rule.name] == nil {
		x.tally.planted[x.rule.name] = make(map[reconcile.Class]int)
	}
	for class, n := range found {
		x.tally.planted[x.rule.name][class] += n
	}
	for _, class := range want {
		if found[class] == 0 {
			x.t.Errorf("%v: planted, and not found", class)
		}
	}
}

// plantAll plants one difference of each kind, and others at random.
func (x *random) plantAll() {
	if x.versioned {
		x.plantVersioned()
		return
	}
	for range 3 * randomItems {
		x.plant()
	}
	for _, w := range wrecks {
		if w.of != nil && !w.of(x.rule) {
			continue
		}
		l := x.created()
		x.sendSome(l, func(m statement.Mutation) bool { return slices.Contains(w.before, m.Table) })
		if w.change == nil {
			continue
		}
		change, after := w.change(x, l.row)
		l = &logged{Change: change, row: after}
		x.log = append(x.log, l)
		x.sendSome(l, func(m statement.Mutation) bool {
			return slices.Contains(w.to, m.Table) && (!w.puts || m.Kind != statement.Remove)
		})
	}
	if x.moves {
		x.plantOutside()
	}
}

// sendSome sends some mutations of a write.
func (x *random) sendSome(l *logged, is func(statement.Mutation) bool) {
	for _, m := range x.rendered(l) {
		if is(m) {
			x.send(m)
		}
	}
}

// plantOutside plants rows under another status than statuses has. OneOf lists no more, so that nobody can tell what a
// row there is that no other table has: for that, see unreachable.
func (x *random) plantOutside() {
	l := x.created()
	x.sendSome(l, func(statement.Mutation) bool { return true })
	x.plantArchived(l.row, l.at-1000)
	if x.single {
		x.plantArchivedAlone()
	}
}

// plantArchivedAlone plants an item that one table has.
func (x *random) plantArchivedAlone() {
	l := x.created()
	l.row.Status, l.at = "archived", x.clock(0)
	x.plantArchived(l.row, l.at)
}

// plantArchived puts a row of an item under another status, as other code would.
func (x *random) plantArchived(o item, at int64) {
	x.exec("INSERT INTO items_by_status (status, id, owner, a, b, updated_at) VALUES ('archived', ?, ?, ?, ?, ?) USING TIMESTAMP ?", o.ID, o.Owner,
		o.A, o.B, at, at)
}

func (x *random) exec(text string, values ...any) {
	x.t.Helper()
	if err := x.s.Writes().Query(text, values...).DefaultTimestamp(false).Exec(); err != nil {
		x.t.Errorf("%s: %v", text, err)
	}
}

// repairKilled runs two repairs at a time, which are killed after some of their writes.
func (x *random) repairKilled(settle time.Duration) {
	for range 3 {
		var both sync.WaitGroup
		ctx, cancel := context.WithCancel(x.t.Context())
		left := x.number(20)
		kill := x.When(cassandratest.Where(func(r cassandratest.Request) bool { return !isRead(r) && !r.System() })).Choose(
			func(cassandratest.Request) []cassandratest.Step {
				if left--; left > 0 {
					return nil
				}
				cancel()
				return [][]cassandratest.Step{nil, {cassandratest.Drop}, {cassandratest.Apply, cassandratest.Drop}}[x.number(3)]
			})
		for range 2 {
			both.Go(func() {
				report, _ := x.r.Repair(ctx, x.described(), reconcile.Settle(settle), reconcile.Rewrite(), handed)
				if report != nil {
					x.count(report, true)
				}
			})
		}
		both.Wait()
		kill.End()
		cancel()
	}
}
