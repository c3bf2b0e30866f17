package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// notesOf are inserts of notes, of which so many users have one each time around.
func notesOf(tb testing.TB, items, users int) []Item {
	tb.Helper()
	set, all := noteSet(tb), make([]Item, items)
	for i := range all {
		n := newNote()
		n.UserID[0], n.UserID[1] = byte(i%users), byte(i%users>>8)
		n.NoteID[0], n.NoteID[1], n.NoteID[2] = byte(i), byte(i>>8), byte(i>>16)
		all[i] = Item{Change: set.Insert(n), Position: int64(i)}
	}
	return all
}

func from(items []Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// bulkWriter has a clock of its own: others of the process have another time than a bubble.
func bulkWriter(x executor, options ...NewOption) *Writer {
	return fakeWriter(x, append(options, WithClock(NewClock(time.Now)))...)
}

func all(b *Bulk) (done []Done) {
	for d := range b.All() {
		done = append(done, d)
	}
	return done
}

// Changes of one entity are written one after another in the order of the source, whatever the others do, and each item is given once.
func TestWriteAllKeepsTheOrderOfAnEntity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := taskSet(t)
		const entities, each = 50, 40
		var items []Item
		for n := range entities * each {
			task := newTask(fmt.Sprintf("owner %d", n))
			task.TaskID[0] = byte(rand.IntN(entities))
			items = append(items, Item{Change: set.Insert(task), Position: int64(n)})
		}
		var mu sync.Mutex
		under, last, most := make(map[string]int), make(map[string]int64), 0
		x := &fakeExecutor{answer: func(_ context.Context, r attempt) error {
			if !carries(r, "tasks") {
				return nil
			}
			mu.Lock()
			for _, m := range r.mutations {
				key := string(m.PartitionKey)
				if under[key]++; under[key] > 1 {
					t.Error("two writes of one entity at a time")
				}
				if at := m.Timestamp; at <= last[key] {
					t.Errorf("%d after %d", at, last[key])
				} else {
					last[key] = at
				}
			}
			most = max(most, len(under))
			mu.Unlock()
			<-time.After(rand.N(20 * time.Millisecond))
			mu.Lock()
			defer mu.Unlock()
			for _, m := range r.mutations {
				delete(under, string(m.PartitionKey))
			}
			return nil
		}}
		b := bulkWriter(x).WriteAll(t.Context(), "import", from(items))
		seen := make(map[int64]int)
		for d := range b.All() {
			seen[d.Position]++
			if d.Err != nil || d.Result.Timestamp == 0 {
				t.Errorf("item %d: %+v, %v", d.Position, d.Result, d.Err)
			}
		}
		if b.Err() != nil || len(seen) != len(items) || most < 4 {
			t.Errorf("%d of %d items given, at most %d at a time: %v", len(seen), len(items), most, b.Err())
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("item %d was given %d times", at, n)
			}
		}
		if n := len(all(b)); n != 0 {
			t.Errorf("a second loop gave %d items", n)
		}
	})
}

// After a change that failed the later ones of its entity are not written, and the others go on.
func TestWriteAllParks(t *testing.T) {
	t.Parallel()
	set := taskSet(t)
	var items []Item
	for n := range 90 {
		task := newTask("ann")
		if task.TaskID[0] = byte(n % 3); n == 4 { // the second of entity 1
			task.Owner = "bad"
		}
		items = append(items, Item{Change: set.Insert(task), Position: int64(n)})
	}
	x := &fakeExecutor{answer: func(_ context.Context, r attempt) error {
		for _, m := range r.mutations {
			if m.Table == "tasks_by_owner" && strings.Contains(string(m.PartitionKey), "bad") {
				return errSyntax
			}
		}
		return nil
	}}
	b := bulkWriter(x).WriteAll(t.Context(), "import", from(items))
	for _, d := range all(b) {
		var failed *Error
		switch {
		case d.Position == 4:
			if !errors.As(d.Err, &failed) || errors.Is(d.Err, ErrParked) || failed.Tables[0].Outcome != Applied || failed.Tables[1].Outcome != NotApplied {
				t.Errorf("the one that fails: %v", d.Err)
			}
		case d.Position > 4 && d.Position%3 == 1:
			if !errors.Is(d.Err, ErrParked) || !errors.As(d.Err, &failed) || !errors.Is(d.Err, errSyntax) {
				t.Errorf("item %d: %v", d.Position, d.Err)
			}
		case d.Err != nil:
			t.Errorf("item %d: %v", d.Position, d.Err)
		}
	}
	var failed *BulkError
	if !errors.As(b.Err(), &failed) || failed.Written != 61 || failed.Failed != 1 || failed.Parked != 28 || !errors.Is(failed, errSyntax) {
		t.Errorf("%v", b.Err())
	}
}

// Items that write the same partitions are sent together, each at its own timestamp. One that is not valid fails alone.
func TestWriteAllSendsTogether(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]int64{"all valid": -1, "one is not": 777} {
		synctest.Test(t, func(t *testing.T) {
			items, stamps := notesOf(t, 2000, 20), make(map[int64]bool)
			items[max(bad, 0)].At = earliest + 1
			x := &fakeExecutor{answer: func(_ context.Context, r attempt) error {
				<-time.After(5 * time.Millisecond)
				for _, m := range r.mutations {
					if bad >= 0 && m.Timestamp == earliest+1 {
						return errSyntax
					}
				}
				return nil
			}}
			b := bulkWriter(x).WriteAll(t.Context(), "import", from(items))
			for _, d := range all(b) {
				if (d.Err != nil) != (d.Position == bad) {
					t.Errorf("%s: item %d: %v", name, d.Position, d.Err)
				}
				stamps[d.Result.Timestamp] = true // of the one that fails, too
			}
			if len(stamps) != len(items) {
				t.Errorf("%s: %d timestamps of %d items", name, len(stamps), len(items))
			}
			sent, most := x.sent(), 0
			for _, r := range sent {
				most = max(most, len(r.mutations))
				for _, m := range r.mutations {
					if !stamps[m.Timestamp] {
						t.Errorf("%s: a row has timestamp %d, which is of no item", name, m.Timestamp)
					}
				}
			}
			if len(sent) > len(items)/3 || most > 2*mostTogether {
				t.Errorf("%s: %d requests of up to %d rows for %d items", name, len(sent), most, len(items))
			}
		})
	}
}

// What an item's rows met in a request for several items stays what may have happened: a later rejection of the item alone does not make it
// NotApplied.
func TestWriteAllKeepsWhatMayHaveHappened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &fakeExecutor{answer: func(_ context.Context, r attempt) error {
			<-time.After(time.Millisecond)
			if len(r.mutations) > 2 { // each note has two rows
				return errBatch
			}
			return errSyntax
		}}
		b := bulkWriter(x, once()).WriteAll(t.Context(), "import", from(notesOf(t, 500, 1)))
		unknown, not := 0, 0
		for _, d := range all(b) {
			switch failed := asError(t, d.Err); failed.Tables[0].Outcome {
			case Unknown:
				unknown++
			case NotApplied:
				not++
			default:
				t.Errorf("%v", failed)
			}
		}
		if unknown < 400 || not > 100 {
			t.Errorf("%d unknown, %d not applied", unknown, not)
		}
	})
}

// The source is read ahead by a bounded number of items, and where nodes are slow fewer writes are under way than at the beginning.
func TestWriteAllIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under, most, given, sent := 0, 0, 0, 0
		x := &fakeExecutor{answer: func(context.Context, attempt) error {
			mu.Lock()
			under, sent = under+1, sent+1
			n := sent
			if n > 10_000 {
				most = max(most, under)
			}
			slow := time.Millisecond * time.Duration(1+under) // one at a time
			mu.Unlock()
			<-time.After(slow/2 + rand.N(slow))
			mu.Lock()
			defer mu.Unlock()
			under--
			return nil
		}}
		var done atomic.Int32
		source := func(yield func(Item, error) bool) {
			for _, i := range notesOf(t, 20_000, 20_000) {
				if given++; given-int(done.Load()) > aheadItems*mostInFlight+mostInFlight*mostTogether {
					t.Errorf("%d items were read, and %d are done", given, done.Load())
				}
				if !yield(i, nil) {
					return
				}
			}
		}
		b := bulkWriter(x).WriteAll(t.Context(), "import", source)
		for range b.All() {
			done.Add(1)
		}
		t.Log(most)
		if b.Err() != nil || done.Load() != 20_000 || most < 16 || most > 160 {
			t.Errorf("%d items, %d requests at a time at the end: %v", done.Load(), most, b.Err())
		}
	})
}

// A run that ends early gives each item that was read, and says why it ended.
func TestWriteAllEndsEarly(t *testing.T) {
	t.Parallel()
	why := errors.New("why")
	for name, test := range map[string]struct {
		source  func(context.CancelFunc) iter.Seq2[Item, error]
		options []BulkOption
		leave   bool
		cause   error
		written int // at least
	}{
		"the source fails": {source: func(context.CancelFunc) iter.Seq2[Item, error] {
			return func(yield func(Item, error) bool) {
				_ = yield(notesOf(t, 1, 1)[0], nil) && yield(Item{}, why)
			}
		}, cause: why, written: 1},
		"the context ends": {source: func(cancel context.CancelFunc) iter.Seq2[Item, error] {
			return func(yield func(Item, error) bool) {
				for n, i := range notesOf(t, 5000, 5000) {
					if n == 3000 {
						cancel()
					}
					if !yield(i, nil) {
						return
					}
				}
			}
		}, cause: context.Canceled, written: 100},
		"the checkpoint fails": {source: func(context.CancelFunc) iter.Seq2[Item, error] {
			items := notesOf(t, 5000, 5000)
			for n := range items {
				items[n].At = earliest + int64(n)
			}
			return from(items)
		}, options: []BulkOption{Checkpoint(func(context.Context, string, int64) error { return why })}, cause: why, written: 100},
		"the loop is left": {source: func(context.CancelFunc) iter.Seq2[Item, error] { return from(notesOf(t, 5000, 5000)) }, leave: true, cause: errLeft},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			x := &fakeExecutor{answer: func(ctx context.Context, _ attempt) error {
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
				return ctx.Err()
			}}
			b := bulkWriter(x).WriteAll(ctx, "import", test.source(cancel), test.options...)
			seen := make(map[int64]bool)
			for d := range b.All() {
				if seen[d.Position] {
					t.Errorf("%s: item %d given twice", name, d.Position)
				}
				seen[d.Position] = true
				if test.leave {
					break
				}
			}
			var failed *BulkError
			if !errors.As(b.Err(), &failed) || !errors.Is(failed, test.cause) || failed.Written < test.written {
				t.Errorf("%s: %v", name, b.Err())
			}
			if n := failed.Written + failed.Failed + failed.Parked + failed.NotBegun; !test.leave && n != len(seen) {
				t.Errorf("%s: %d items counted, %d given", name, n, len(seen))
			}
		})
	}
}

// What is not valid is one error that says what to do, and nothing is read.
func TestWriteAllRefuses(t *testing.T) {
	t.Parallel()
	w := fakeWriter(nopExecutor{})
	unread := func(func(Item, error) bool) { t.Error("the source was read") }
	for want, b := range map[string]*Bulk{
		"op is empty":                                 w.WriteAll(t.Context(), "", unread),
		"the context is nil":                          w.WriteAll(nil, "import", unread), //nolint:staticcheck // that is the fault
		"the source is nil":                           w.WriteAll(t.Context(), "import", nil),
		"InFlight: 0 is not from 1 to 256":            w.WriteAll(t.Context(), "import", unread, InFlight(0)),
		"Checkpoint: the function is nil":             w.WriteAll(t.Context(), "import", unread, Checkpoint(nil)),
		"the writer has the option At":                w.With(At(time.Now().UnixMicro())).WriteAll(t.Context(), "import", unread),
		"it is made by writer.New":                    new(Writer).WriteAll(t.Context(), "import", unread),
		"the run has not ended: range over All first": w.WriteAll(t.Context(), "import", from(nil)),
	} {
		if !strings.Contains(want, "has not ended") && len(all(b)) > 0 {
			t.Errorf("%s: items", want)
		}
		if err := b.Err(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	save := Checkpoint(func(context.Context, string, int64) error { return nil })
	pinned := notesOf(t, 2, 2)
	pinned[0].At, pinned[1].At = earliest+1, earliest+2
	pinned[0].Position = 9
	pinned[1].Change = pinned[0].Change
	for want, items := range map[string][]Item{
		"an item without At, with Checkpoint":                notesOf(t, 1, 1),
		`position 1 of lane "" comes after 9`:                pinned,
		"a change was not made by a verb of a set":           {{At: earliest}},
		"At: timestamp 7 is before the year 1990":            {{Change: pinned[0].Change, At: 7}},
		"counters with Checkpoint: a run that begins again ": {{Change: counterAdd(t), At: earliest}},
	} {
		b := w.WriteAll(t.Context(), "import", from(items), save)
		var failed error
		for _, d := range all(b) {
			failed = cmp.Or(failed, d.Err)
		}
		if !errors.Is(failed, ErrInvalid) || !strings.Contains(failed.Error(), want) || !errors.Is(b.Err(), ErrInvalid) {
			t.Errorf("%s: %v; %v", want, failed, b.Err())
		}
	}
}

// A checkpoint is the position up to which all items of the lane are acknowledged: an item that is under way, or has failed, holds it.
func TestWriteAllCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var items []Item
		for n, i := range notesOf(t, 3000, 3000) {
			i.Lane, i.At = fmt.Sprint(n%3), earliest+int64(n)
			items = append(items, i)
		}
		x := &fakeExecutor{answer: func(_ context.Context, r attempt) error {
			<-time.After(rand.N(400 * time.Millisecond))
			if r.mutations[0].Timestamp == items[1501].At { // of lane 1
				return errSyntax
			}
			return nil
		}}
		acknowledged, saved, saves := make(map[int64]bool), make(map[string]int64), 0
		b := bulkWriter(x).WriteAll(t.Context(), "import", from(items), Checkpoint(func(_ context.Context, lane string, upTo int64) error {
			saves++
			for _, i := range items {
				if i.Lane == lane && i.Position <= upTo && !acknowledged[i.Position] {
					t.Errorf("lane %s was saved up to %d, and %d is not acknowledged", lane, upTo, i.Position)
					break
				}
			}
			if upTo <= saved[lane] && saved[lane] > 0 {
				t.Errorf("lane %s was saved at %d after %d", lane, upTo, saved[lane])
			}
			saved[lane] = upTo
			return nil
		}))
		for d := range b.All() {
			acknowledged[d.Position] = d.Err == nil
		}
		if saved["0"] != 2997 || saved["1"] != 1498 || saved["2"] != 2999 || saves < 6 {
			t.Errorf("%v after %d checkpoints", saved, saves)
		}
	})
}

// Changes with conditions, counters and logged batches are written as by Write.
func TestWriteAllOfOtherModes(t *testing.T) {
	t.Parallel()
	w, x, e := conditional(nil)
	var items []Item
	for n := range 20 {
		i := newItem()
		i.ItemID[0] = byte(n)
		items = append(items, Item{Change: itemSet(t).Insert(i)})
	}
	before, after := move()
	items = append(items, Item{Change: orderSet(t).Update(before, after)}, Item{Change: counterAdd(t)}, Item{Change: counterAdd(t)})
	b := w.WriteAll(t.Context(), "import", from(items))
	modes := make(map[Mode]int)
	for d := range b.All() {
		modes[d.Result.Mode]++
	}
	if err := errors.Join(b.Err(), w.Wait(t.Context())); err != nil || modes[Conditional] != 20 || modes[LoggedBatch] != 1 || modes[Counter] != 2 {
		t.Errorf("%v, %v", modes, err)
	}
	if n := strings.Count(x.asked(), "UPDATE"); n != 20 || len(e.sent()) != 20+1+4 {
		t.Errorf("%d transactions, %d requests alongside", n, len(e.sent()))
	}
}

func counterAdd(tb testing.TB) tables.Change {
	tb.Helper()
	return viewSet(tb).Add(newView())
}

// A change that is written alone, such as a logged batch, has its place in the order of its entity: the next one has a later timestamp.
func TestWriteAllTimestampsFollowTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := taskSet(t, tables.SingleWriter("owner"))
		var items []Item
		for n := range 600 {
			before := newTask(fmt.Sprint("owner ", n/60))
			before.TaskID[0] = byte(n % 30)
			after, code := before, fmt.Sprint(n)
			after.Code = &code // a fan-out
			if n/30%2 == 1 {
				after.Owner = fmt.Sprint("owner ", n/60+1) // a logged batch
			}
			items = append(items, Item{Change: set.Update(before, after), Position: int64(n)})
		}
		x := &fakeExecutor{answer: func(context.Context, attempt) error {
			<-time.After(rand.N(20 * time.Millisecond))
			return nil
		}}
		last, modes := make(map[int64]int64), make(map[Mode]int)
		b := bulkWriter(x).WriteAll(t.Context(), "import", from(items))
		for d := range b.All() {
			entity := d.Position % 30
			if modes[d.Result.Mode]++; d.Result.Timestamp <= last[entity] {
				t.Errorf("item %d has timestamp %d, the one of its entity before it %d", d.Position, d.Result.Timestamp, last[entity])
			}
			last[entity] = d.Result.Timestamp
		}
		if b.Err() != nil || modes[LoggedBatch] != 300 || modes[FanOut] != 300 {
			t.Errorf("%v: %v", modes, b.Err())
		}
	})
}
