package writer

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// All mutations of a write have its timestamp; those that must lose a tie have one microsecond less.
func TestOneTimestamp(t *testing.T) {
	t.Parallel()
	open, paid := move()
	bob := newTask("bob")
	single := taskSet(t, tables.SingleWriter("owner"))
	for name, changes := range map[string][]tables.Change{
		"insert":               {orderSet(t).Insert(open)},
		"move":                 {orderSet(t).Update(open, paid)},
		"delete":               {orderSet(t).Delete(open)},
		"single writer's move": {single.Update(bob, newTask("eve"))},
		"entities":             {orderSet(t).Insert(open), single.Insert(bob), noteSet(t).Delete(newNote())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			res, err := fakeWriter(x).Write(t.Context(), "op", changes...)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range x.sent() {
				for _, m := range r.Mutations {
					below := m.Kind != statement.Put && m.Timestamp == res.Timestamp-1
					if m.Timestamp != res.Timestamp && !below {
						t.Errorf("%v at %d, the write at %d", m, m.Timestamp, res.Timestamp)
					}
				}
			}
		})
	}
}

// Writers of one process share one order, whether or not they know of each other, and whatever the wall clock does.
func TestTimestampsRise(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var calls int
	var mu sync.Mutex
	clock := NewClock(func() time.Time { // runs backwards, stands still, jumps
		mu.Lock()
		defer mu.Unlock()
		calls++
		return start.Add(time.Duration([]int{0, -1000, 0, 500, 500}[calls%5]) * time.Microsecond)
	})
	set := orderSet(t)
	var wg sync.WaitGroup
	taken := make([][]int64, 8)
	for g := range taken {
		w := fakeWriter(nopExecutor{}, WithClock(clock))
		wg.Go(func() {
			for range 200 {
				res, err := w.With(Concurrent()).Write(t.Context(), "createOrder", set.Insert(newOrder(Open)))
				if err != nil {
					t.Error(err)
					return
				}
				taken[g] = append(taken[g], res.Timestamp)
			}
		})
	}
	wg.Wait()
	var all []int64
	for _, ts := range taken {
		if !slices.IsSorted(ts) {
			t.Error("timestamps of one goroutine do not rise")
		}
		all = append(all, ts...)
	}
	slices.Sort(all)
	if n := len(all); len(slices.Compact(all)) != n {
		t.Error("two writes have one timestamp")
	}
}

func TestWritersShareTheProcessClock(t *testing.T) {
	t.Parallel()
	if a, b := fakeWriter(nopExecutor{}), fakeWriter(nopExecutor{}); a.clock != b.clock || a.clock != systemClock {
		t.Error("two writers of a process have two clocks")
	}
}

// A write follows the row that was read, even if the clock of who wrote that is ahead; but one bad stamp must not carry
// over to other rows.
func TestStamp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := fakeWriter(nopExecutor{}, WithClock(fixed(now)))
	set := orderSet(t)
	write := func(changes ...tables.Change) int64 {
		t.Helper()
		res, err := w.Write(t.Context(), "op", changes...)
		if err != nil {
			t.Fatal(err)
		}
		return res.Timestamp
	}
	stamped := func(d time.Duration) Order {
		o := newOrder(Open)
		o.UpdatedAt = now.Add(d).UnixMicro()
		return o
	}
	if got := write(set.Update(stamped(-time.Hour), newOrder(Paid))); got != now.UnixMicro() {
		t.Errorf("an old stamp: %d, want now", got)
	}
	near := stamped(500 * time.Microsecond) // another process's, a moment ahead
	if paid, gone := write(set.Update(near, newOrder(Paid))), write(set.Delete(near)); paid <= near.UpdatedAt ||
		gone <= paid {
		t.Errorf("after a stamp a moment ahead: %d and %d", paid-near.UpdatedAt, gone-near.UpdatedAt)
	}
	w = fakeWriter(nopExecutor{}, WithClock(fixed(now)))
	write(set.Insert(newOrder(Open)))
	// The order of the clock holds for two writes from one before-image that is only a moment old.
	young := stamped(-time.Microsecond)
	if paid, gone := write(set.Update(young, newOrder(Paid))), write(set.Delete(young)); paid != now.UnixMicro()+1 ||
		gone != paid+1 {
		t.Errorf("after a young stamp: %d and %d, want the next two of the clock", paid-now.UnixMicro(), gone-now.UnixMicro())
	}
	ahead, seen := stamped(9*time.Second), make(map[int64]bool)
	for range 200 {
		process := fakeWriter(nopExecutor{}, WithClock(fixed(now)))
		res, err := process.Write(t.Context(), "op", set.Update(ahead, newOrder(Paid)))
		if got := res.Timestamp; err != nil || got <= ahead.UpdatedAt || got > ahead.UpdatedAt+jitter {
			t.Fatalf("%d microseconds after the stamp, %v", got-ahead.UpdatedAt, err)
		}
		seen[res.Timestamp] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d of 200 timestamps differ: two processes would meet", len(seen))
	}
	if got := write(set.Delete(ahead), noteSet(t).Insert(newNote())); got <= ahead.UpdatedAt {
		t.Error("the largest stamp of several changes must count")
	}
	if got := write(set.Insert(otherOrder())) - now.UnixMicro(); got > 1000 {
		t.Errorf("a stamp has moved the clock by %d microseconds", got)
	}
	if got := write(set.Update(stamped(10*time.Second), newOrder(Paid))); got <= now.Add(10*time.Second).UnixMicro() {
		t.Error("a stamp at the limit must count")
	}
}

func otherOrder() Order {
	o := newOrder(Open)
	o.OrderID = gocql.TimeUUID()
	return o
}

// In one process a later change of an entity never gets an earlier timestamp, however far its row's stamp is ahead.
// Other entities get the time of the clock.
func TestLaterChangesOfAnEntityHaveLaterTimestamps(t *testing.T) {
	t.Parallel()
	set, notes := orderSet(t), noteSet(t)
	for _, ahead := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 3 * time.Second, 10 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			w := fakeWriter(nopExecutor{}, WithClock(fixed(now)))
			for range 40 {
				o, note := otherOrder(), newNote()
				note.NoteID = gocql.MustRandomUUID()
				o.UpdatedAt = now.Add(ahead).UnixMicro()
				paid := o
				paid.Status = Paid
				last := int64(0)
				for i, changes := range [][]tables.Change{
					{set.Update(o, paid)},
					{set.Update(o, o)},
					{set.Delete(o), notes.Insert(note)},
					{set.Insert(o)},
					{notes.Delete(note), set.Delete(o)},
					{set.Insert(o)},
				} {
					res, err := w.Write(t.Context(), "op", changes...)
					if err != nil || res.Timestamp <= last {
						t.Fatalf("change %d: %d after %d, %v", i, res.Timestamp, last, err)
					}
					last = res.Timestamp
				}
			}
			for range 1000 {
				res, err := w.Write(t.Context(), "op", set.Insert(otherOrder()))
				if late := res.Timestamp - now.UnixMicro(); err != nil || late > 2000 {
					t.Fatalf("another entity is %d microseconds ahead, %v", late, err)
				}
			}
		})
	}
}

// The order of more entities than have floors of their own is kept, and memory does not grow. Floors that the clock has
// passed do not count.
func TestFloorsOfManyEntities(t *testing.T) {
	t.Parallel()
	f := new(floors)
	const now, end, many = 1000, 1_000_000, 10 * mostFloors
	for h := range uint64(many) {
		f.raise([]uint64{h}, now+int64(h)+1, now, end)
		if len(f.entities) > mostFloors {
			t.Fatalf("%d floors", len(f.entities))
		}
	}
	for h := range uint64(many) {
		if got := f.above([]uint64{h}, now, end); got < now+int64(h)+1 {
			t.Errorf("entity %d: floor %d", h, got)
		}
	}
	if got := f.above([]uint64{1, 80}, now+many, end); got != 0 {
		t.Errorf("a floor of the past: %d", got)
	}
	if got := f.above([]uint64{1, 80}, 0, 500); got != 0 {
		t.Errorf("a floor of a clock that was set back: %d", got)
	}
	f.raise([]uint64{1}, end+1, end, 2*end)
	if len(f.entities) != 1 || f.rest != 0 {
		t.Errorf("%d floors and one of all, %d, that the clock has passed", len(f.entities)-1, f.rest)
	}
}

// One write of more entities than have floors of their own is bounded too. The others share a floor. An entity that has
// its own is raised without any of the others, and floors that the clock has passed make room.
func TestFloorsOfOneGreatWrite(t *testing.T) {
	t.Parallel()
	f := new(floors)
	const now, end = 1000, 1_000_000
	all := make([]uint64, 5*mostFloors)
	for i := range all {
		all[i] = uint64(i)
	}
	few, other := all[:mostFloors], []uint64{1 << 40}
	f.raise(few, 2000, now, end)
	f.raise(few[:1], 9000, now, end)
	if got := [3]int64{f.above(few[:1], now, end), f.above(few[1:2], now, end), f.above(other, now, end)}; got !=
		[3]int64{9000, 2000, 0} {
		t.Errorf("floors %v after one entity was raised again", got)
	}
	f.raise(other, 9500, 2000, end)
	if len(f.entities) != 2 || f.rest != 0 {
		t.Errorf("%d floors and one of all, %d: those that the clock has passed have no room", len(f.entities), f.rest)
	}
	f.raise(all, 20_000, now, end)
	if len(f.entities) > mostFloors {
		t.Errorf("%d floors", len(f.entities))
	}
	for _, h := range all {
		if got := f.above([]uint64{h}, now, end); got != 20_000 {
			t.Fatalf("entity %d: floor %d", h, got)
		}
	}
}

// After the clock was set back, floors that are not too far ahead of it still count, once another one was set.
func TestFloorsOfAClockSetBack(t *testing.T) {
	t.Parallel()
	f := new(floors)
	f.raise([]uint64{1}, 1900, 1500, 2500)
	f.raise([]uint64{2}, 2400, 1500, 2500)
	f.raise([]uint64{3}, 1100, 1000, 2000)
	if got := f.latest.Load(); got != 1900 {
		t.Errorf("the latest floor is %d, want 1900", got)
	}
	for h, want := range []int64{1: 1900, 2: 0, 3: 1100} {
		if got := f.above([]uint64{uint64(h)}, 1000, 2000); got != want {
			t.Errorf("entity %d: floor %d, want %d", h, got, want)
		}
	}
}

// A request that is repeated carries the timestamp of its first try, and is the same write.
func TestAt(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	w := fakeWriter(x)
	set := orderSet(t)
	res, err := w.Write(t.Context(), "createOrder", set.Insert(newOrder(Open)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.With(At(res.Timestamp)).Write(t.Context(), "createOrder", set.Insert(newOrder(Open)))
	if err != nil || again.Timestamp != res.Timestamp {
		t.Fatalf("%+v, %v", again, err)
	}
	sent := x.sent()
	wantEqualRequests(t, sent[:3], sent[3:])
	if next, err := w.Write(t.Context(), "createOrder", set.Insert(newOrder(Open))); err != nil ||
		next.Timestamp <= res.Timestamp {
		t.Errorf("At has moved the writer it was derived from: %+v, %v", next, err)
	}
	ahead := time.Now().Add(5 * time.Second).UnixMicro()
	if res, err := w.With(At(ahead)).Write(t.Context(), "createOrder", set.Insert(newOrder(Open))); err != nil ||
		res.Timestamp != ahead {
		t.Errorf("%+v, %v", res, err)
	}
	if next, err := w.Write(t.Context(), "createOrder", set.Insert(otherOrder())); err != nil || next.Timestamp >= ahead {
		t.Errorf("At has moved the clock: %+v, %v", next, err)
	}
	if next, err := w.Write(t.Context(), "createOrder", set.Insert(newOrder(Open))); err != nil ||
		next.Timestamp <= ahead {
		t.Errorf("a later change of the entity is the earlier one: %+v, %v", next, err)
	}
	stamped, unstamped := newOrder(Open), newOrder(Open)
	stamped.UpdatedAt, unstamped.UpdatedAt = res.Timestamp, 0
	if _, err := w.With(At(res.Timestamp)).Write(t.Context(), "payOrder", set.Update(stamped, unstamped)); err != nil {
		t.Errorf("a repeat that reads what its first try wrote: %v", err)
	}
}

// Another change of a row at the row's own timestamp would mix with the write that the row is from: paid would stay in
// one table, and open come into another.
func TestTwoWritesAtOneTimestamp(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	set := orderSet(t)
	paid := newOrder(Paid)
	at := fakeWriter(x, At(paid.UpdatedAt))
	open, dearer := paid, paid
	open.Status = Open
	dearer.Total = inf.NewDec(4711, 2)
	place := set.Updating(paid)
	for name, change := range map[string]tables.Change{
		"a key": set.Update(paid, open), "another column": set.Update(paid, dearer), "delete": set.Delete(paid),
		"in two steps": place(open),
	} {
		_, err := at.Write(t.Context(), "change", change)
		if !errors.Is(err, ErrInvalid) ||
			!strings.Contains(err.Error(), "column updated_at: the before-image was written at the timestamp of this write: "+
				"for a repeat (writer.At) pass the first before-image; else give this write a timestamp of its own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(x.sent()); n != 0 {
		t.Errorf("%d requests", n)
	}
	if _, err := at.Write(t.Context(), "change", place(paid)); err != nil {
		t.Errorf("the repeat of an update in two steps: %v", err)
	}
}

// The clock of the bubble is that of the writer: what the library waits for and what it stamps are one time.
func TestTimestampIsNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		w := fakeWriter(nopExecutor{}, WithClock(NewClock(time.Now)))
		res, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
		if err != nil || res.Timestamp != time.Now().UnixMicro() {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// Bubbles of testing/synctest that run in parallel have times of their own. The clock that their writers share goes
// back to that of the earlier one, and then the later one gets a timestamp that it has had before: why tests give each
// writer its own, see docs/test.md.
func TestClockOfTwoBubbles(t *testing.T) {
	t.Parallel()
	early := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	late := early.Add(time.Minute)
	var now time.Time
	clock := func() *Clock { return NewClock(func() time.Time { return now }) }
	set := orderSet(t)
	later := func(earlyClock, lateClock *Clock) bool {
		write := func(at time.Time, clock *Clock) int64 {
			now = at
			res, err := fakeWriter(nopExecutor{}, WithClock(clock)).Write(t.Context(), "createOrder", set.Insert(newOrder(Open)))
			if err != nil {
				t.Fatal(err)
			}
			return res.Timestamp
		}
		first := write(late, lateClock)
		write(early, earlyClock)
		return write(late, lateClock) > first
	}
	if c := clock(); later(c, c) {
		t.Error("a clock that two bubbles share rises in both: docs/test.md says that it does not")
	}
	if !later(clock(), clock()) {
		t.Error("the second timestamp of a bubble with its own clock is not above the first")
	}
}

// The wall clock stepped an hour ahead and was put right. Until the hour had passed every write was stamped an hour
// ahead, and no other process could change those rows.
func TestClockStepsAheadAndBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := fakeWriter(nopExecutor{}, WithClock(NewClock(func() time.Time { return now })))
	set := orderSet(t)
	write := func() int64 {
		res, err := w.Write(t.Context(), "createOrder", set.Insert(newOrder(Open)))
		if err != nil {
			t.Fatal(err)
		}
		return res.Timestamp
	}
	first := write()
	now = now.Add(time.Hour)
	write()
	now = now.Add(-time.Hour)
	if again := write(); again-first > time.Second.Microseconds() {
		t.Errorf("a timestamp %v ahead of the clock", time.Duration(again-first)*time.Microsecond)
	}
	now = now.Add(-time.Second) // a small step back is ridden out
	if a, b := write(), write(); b <= a || a < first {
		t.Errorf("timestamps %d, %d after %d", a, b, first)
	}
}

// An order is inserted by a clock that is ahead, and paid by a process whose clock is behind from a row that it built
// without the stamp. The update was acknowledged, and older than the row: it changed nothing.
func TestForgottenStampOfASlowClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	x := &fakeExecutor{}
	fast, slow := fakeWriter(x, WithClock(fixed(now.Add(time.Second)))), fakeWriter(x, WithClock(fixed(now)))
	set := orderSet(t)
	created := newOrder(Open)
	created.UpdatedAt = 0
	res, err := fast.Write(t.Context(), "createOrder", set.Insert(created))
	if err != nil {
		t.Fatal(err)
	}
	sent := len(x.sent())
	paid := created
	paid.Status = Paid
	for _, change := range []tables.Change{set.Update(created, paid), set.Delete(created)} {
		_, err := slow.Write(t.Context(), "payOrder", change)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Result.Timestamp") ||
			!strings.Contains(err.Error(), "UnstampedRows") {
			t.Errorf("%s: %v, want ErrInvalid that says what to do", change, err)
		}
	}
	if len(x.sent()) != sent {
		t.Error("something was sent")
	}
	old := orderSet(t, tables.UnstampedRows())
	if _, err := slow.Write(t.Context(), "payOrder", old.Update(created, paid)); err != nil {
		t.Errorf("where rows have no stamp: %v", err)
	}
	set.SetStamp(&created, res.Timestamp)
	second, err := slow.Write(t.Context(), "payOrder", set.Update(created, paid))
	if err != nil || second.Timestamp <= res.Timestamp {
		t.Errorf("at %d, after the row at %d: %v", second.Timestamp, res.Timestamp, err)
	}
}

// A stamp in nanoseconds is no clock that is wrong.
func TestStampInNanoseconds(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	o := newOrder(Open)
	o.UpdatedAt = time.Now().UnixNano()
	_, err := fakeWriter(x).Write(t.Context(), "payOrder", orderSet(t).Update(o, newOrder(Paid)))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "in nanoseconds: give microseconds") ||
		len(x.sent()) != 0 {
		t.Errorf("%v, want ErrInvalid that names the unit", err)
	}
}
