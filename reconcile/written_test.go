package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// served is a world in which a service writes what a process repairs.
type served struct {
	*mortal

	items *killedItems
	back  bool                  // the service moves all items back to where they were first, and does nothing else
	acked map[gocql.UUID]string // values of what the service has written, empty if it is deleted
}

func newServed(t *testing.T, c *cassandratest.Cluster, r rule, plants []wreck) *served {
	t.Helper()
	m := newKilledItems(t, c, r, plants)
	return &served{mortal: m, items: m.ward.(*killedItems)} //nolint:forcetypeassert // it is
}

// serve makes acknowledged writes of all items: updates, moves, deletes and creates, or where it finishes what it has
// planted, half of them are these writes.
func (f *served) serve(n int, finishes bool) {
	base, set := f.items.read(base), f.items.rule.set
	f.acked = make(map[gocql.UUID]string)
	for i, w := range f.items.plants {
		id := gocql.UUID{15: byte(i + 1)}
		planted, ok := f.items.planted[id]
		switch {
		case !ok:
			continue
		case finishes && !f.back && (n+i)%2 == 0:
			for _, m := range planted.mutations {
				f.items.send(m)
			}
			f.acked[id] = planted.values
			continue
		}
		a := int64(1000 + i)
		before := item{ID: id, Owner: gocql.UUID{14: 1, 15: byte(i + 1)}, Status: "open", A: &a, B: &a}
		change := set.Insert(before)
		f.acked[id] = "open, " + stored{a: &a, b: &a}.values()
		if rows := base[id]; len(rows) > 0 && rows[0].status != "" {
			after := before
			before.Status, before.A, before.B = rows[0].status, rows[0].a, rows[0].b
			if rows[0].stamp != nil {
				before.UpdatedAt = *rows[0].stamp
			}
			switch after.Status = before.Status; {
			case f.back:
				after.Status = statuses[0]
			case f.items.moves:
				after.Status = statuses[(n/2+i)%len(statuses)]
			}
			change = set.Update(before, after)
			f.acked[id] = after.Status + ", " + stored{a: &a, b: &a}.values()
			if (n/2+i)%5 == 0 && !f.back {
				change = set.Delete(before)
				f.acked[id] = ""
			}
		}
		if _, err := f.items.w.Write(f.t.Context(), "serve", change); err != nil {
			f.t.Errorf("%s: %v", w.name, err)
		}
	}
}

// checkServed checks that the tables have what the service has written, and repairs what has come late.
func (f *served) checkServed() {
	t := f.t
	have := f.items.read(base)
	for id, want := range f.acked {
		got := ""
		if rows := have[id]; len(rows) > 0 {
			got = rows[0].status + ", " + rows[0].values()
		}
		if got != want {
			t.Errorf("%s: the service has written %q, and there is %q", f.items.plants[id[15]-1].name, want, got)
		}
	}
	if report, err := f.r.Repair(t.Context(), f.set(), handed); err != nil {
		t.Errorf("%v\n%v", err, report)
	}
	if left := f.differences(); len(left) > 0 {
		t.Errorf("the tables disagree:\n%s", strings.Join(left, "\n"))
	}
}

// At each request of a repair, between what it reads or writes and the answer, the service writes all that disagrees,
// or finishes the writes that have left it so. No acknowledged write is undone, no deleted row is back.
func TestWrittenAtEveryStep(t *testing.T) {
	t.Parallel()
	lookup := []reconcile.Option{reconcile.Lookup()}
	for i, test := range []struct {
		rule
		treatment
		plants []wreck
		stride int
	}{
		{rules[0], treatment{"repair", lookup}, wrecks, 13},
		{rules[0], treatment{name: "repair"}, wrecks, 13},
		{rules[0], treatment{name: "repair"}, wrecks[2:3], 1}, // a ghost, whose item moves back
		{rules[1], treatment{"repair", lookup}, wrecks, 13},
		{rules[2], treatment{"repair", lookup}, wrecks, 13},
		{rules[3], treatment{"repair", lookup}, wrecks, 13},
		{rules[4], treatment{"repair", lookup}, wrecks, 13},
	} {
		t.Run(fmt.Sprint(i, " ", test.rule.name), func(t *testing.T) {
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				f := newServed(t, c, test.rule, test.plants)
				f.treatment = test.treatment
				f.back = len(test.plants) == 1
				stride, n := test.stride, 1
				if *killedAtAll {
					stride = 1
				}
				for f.writtenAt(n) && !t.Failed() {
					n += stride
				}
				t.Logf("it has fewer than %d requests", n)
			})
		})
	}
}

// writtenAt has the service write at the n-th request of a repair, and gives false if it has fewer.
func (f *served) writtenAt(n int) bool {
	t, c := f.t, f.cluster()
	f.items.age = []time.Duration{time.Hour, 6 * 24 * time.Hour}[n%2] // the latter as by an import, so that a time does not say how old a row is
	f.plant()
	last := slices.Max(connsSince(c, 0))
	p := startProcess(t, c)
	defer p.s.Close()
	own := connsSince(c, last)
	requests, written := 0, make(chan struct{})
	rule := c.When(cassandratest.Where(func(r cassandratest.Request) bool { return slices.Contains(own, r.Conn) })).Choose(
		func(cassandratest.Request) []cassandratest.Step {
			if requests++; requests != n {
				return nil
			}
			go func() {
				defer close(written)
				f.serve(n, true)
			}()
			return []cassandratest.Step{cassandratest.Apply, cassandratest.Delay(5 * time.Second)}
		})
	r, err := reconcile.New(p.s, reconcile.Settle(settleKilled), reconcile.Ranges(killedRanges), handed)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := r.Repair(t.Context(), f.set(), f.options...); report == nil {
		t.Fatal(err)
	}
	rule.End()
	if requests < n {
		return false
	}
	<-written
	f.checkServed()
	return true
}

type memo struct {
	ID        gocql.UUID
	Team      string
	Status    string
	Text      string
	UpdatedAt int64
}

var memos = tables.Must(tables.New[memo]("memo",
	tables.Table{Name: "memos", PartKey: []string{"id"}},
	tables.Table{Name: "memos_by_team", PartKey: []string{"team"}, SortKey: []string{"id"}},
	tables.Table{Name: "memos_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}, Columns: []string{"team", "updated_at"}},
	tables.OneOf("status", "open", "done"),
	tables.Stamp("updated_at"),
))

// A memo is written while a repair reads its base row again: all replicas of it before a ghost is removed, or what a row
// that differed has become. The repair looks again, and what is written stays.
func TestWrittenWhileItIsRepaired(t *testing.T) {
	t.Parallel()
	before := memo{ID: gocql.UUID{15: 1}, Team: "sales", Status: "open", Text: "old"}
	half := func(x *world, _, after memo) {
		x.narrow(after)
		<-time.After(7 * time.Second / 4)
		for _, table := range []string{"memos", "memos_by_team"} {
			x.memo(table, after)
		}
	}
	ghost := func(x *world, m memo) memo {
		left := m
		left.Team, left.UpdatedAt = "support", m.UpdatedAt-9
		x.memo("memos_by_team", left)
		return m
	}
	differing := func(x *world, m memo) memo {
		m.Text, m.UpdatedAt = "newer", m.UpdatedAt+9
		x.memo("memos", m)
		x.narrow(m)
		return m
	}
	for name, test := range map[string]struct {
		plant func(*world, memo) memo // gives the row of the base table
		delay time.Duration           // of the read
		write func(x *world, before, after memo)
		dry   bool
	}{
		"half of it, before a ghost is removed": {ghost, time.Second, half, false},
		"half of it, which removes the ghost, in a dry run": {ghost, time.Second, func(x *world, before, after memo) {
			half(x, before, after)
			before.Team = "support"
			x.unlist(before, after.UpdatedAt)
		}, true},
		"half of it, after a row is put": {differing, time.Second, half, false},
		"half of a delete, after a row is put": {differing, time.Second, func(x *world, before, after memo) {
			x.unlist(before, after.UpdatedAt)
			<-time.After(7 * time.Second / 4)
			x.exec("DELETE FROM memos USING TIMESTAMP ? WHERE id=?", after.UpdatedAt, before.ID)
			x.exec("DELETE FROM memos_by_status USING TIMESTAMP ? WHERE status=? AND id=?", after.UpdatedAt, before.Status, before.ID)
		}, false},
		"half of a delete, the base row first": {differing, time.Second, func(x *world, before, after memo) {
			x.exec("DELETE FROM memos USING TIMESTAMP ? WHERE id=?", after.UpdatedAt, before.ID)
			x.unlist(before, after.UpdatedAt)
			<-time.After(7 * time.Second / 4)
			x.exec("DELETE FROM memos_by_status USING TIMESTAMP ? WHERE status=? AND id=?", after.UpdatedAt, before.Status, before.ID)
		}, false},
		"later than Settle after the look has begun": {differing, 3 * time.Second, func(x *world, before, after memo) {
			<-time.After(5 * time.Second / 2)
			if _, err := x.w.Write(x.t.Context(), "write", memos.Update(before, after)); err != nil {
				x.t.Error(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				x := &world{Cluster: c, t: t}
				x.s, x.w, x.r = openSet(t, c, memos, handed, reconcile.Settle(2*time.Second))
				res, err := x.w.Write(t.Context(), "write", memos.Insert(before))
				if err != nil {
					t.Fatal(err)
				}
				before := before
				before.UpdatedAt = res.Timestamp
				before = test.plant(x, before)
				after := before
				<-time.After(time.Minute)
				after.Text = "new"
				repaired, once, written := atomic.Bool{}, sync.Once{}, make(chan struct{})
				c.When(cassandratest.Where(isWrite)).Choose(func(cassandratest.Request) []cassandratest.Step {
					repaired.Store(true)
					return nil
				})
				c.When(cassandratest.Table("memos"), cassandratest.Where(func(r cassandratest.Request) bool {
					return isRead(r) && (r.Consistency == gocql.All || repaired.Load())
				})).Choose(func(cassandratest.Request) (steps []cassandratest.Step) {
					once.Do(func() {
						steps = []cassandratest.Step{cassandratest.Apply, cassandratest.Delay(test.delay)}
						after.UpdatedAt = time.Now().UnixMicro()
						go func() { test.write(x, before, after); close(written) }()
					})
					return steps
				})
				options := []reconcile.Option{reconcile.DryRun()}
				if !test.dry {
					options = nil
				}
				report, err := x.r.Repair(t.Context(), memos, options...)
				if test.dry {
					for f := range report.Findings() {
						if f.Outcome != reconcile.Changed {
							t.Error(f)
						}
					}
				}
				if test.dry != errors.Is(err, reconcile.ErrDrift) || !test.dry && err != nil {
					t.Errorf("%v\n%v", err, report)
				}
				select {
				case <-written:
				case <-time.After(time.Minute):
					t.Fatalf("nothing was written meanwhile\n%v", report)
				}
				if report, err := x.r.Verify(t.Context(), memos); err != nil {
					t.Errorf("%v\n%v", err, report)
				}
				text := ""
				err = x.s.Reads().Query("SELECT text FROM memos").Scan(&text)
				if deleted := strings.Contains(name, "delete"); text != after.Text && !deleted || deleted && !errors.Is(err, gocql.ErrNotFound) {
					t.Errorf("the memo is %q, want %q: %v", text, after.Text, err)
				}
			})
		})
	}
}

func (x *world) unlist(m memo, at int64) {
	x.exec("DELETE FROM memos_by_team USING TIMESTAMP ? WHERE team=? AND id=?", at, m.Team, m.ID)
}

func (x *world) narrow(m memo) {
	x.exec("INSERT INTO memos_by_status (id,team,status,updated_at) VALUES (?,?,?,?) USING TIMESTAMP ?", m.ID, m.Team, m.Status, m.UpdatedAt, m.UpdatedAt)
}

func (x *world) memo(table string, m memo) {
	x.exec("INSERT INTO "+table+" (id,team,status,text,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ?", m.ID, m.Team, m.Status, m.Text, m.UpdatedAt, m.UpdatedAt)
}
