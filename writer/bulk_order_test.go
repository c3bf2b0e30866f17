package writer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
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
func bulkWriter(x fanout.Executor, options ...NewOption) *Writer {
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
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			if !carries(r, "tasks") {
				return nil
			}
			mu.Lock()
			for _, m := range r.Mutations {
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
			for _, m := range r.Mutations {
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
	x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
		for _, m := range r.Mutations {
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
			x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
				<-time.After(5 * time.Millisecond)
				for _, m := range r.Mutations {
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
				most = max(most, len(r.Mutations))
				for _, m := range r.Mutations {
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
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			<-time.After(time.Millisecond)
			if len(r.Mutations) > 2 { // each note has two rows
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
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
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

// Items of one entity are given in the order of the source, whatever becomes of them, also where the run ends early: so a caller that keeps
// those that failed has them in the order in which they are to be written.
func TestWriteAllGivesItemsInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			set := taskSet(t)
			var items []Item
			for n := range 3000 {
				task := newTask("ann")
				task.TaskID[0] = byte(n % 40)
				items = append(items, Item{Change: set.Insert(task), Position: int64(n)})
			}
			x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
				select {
				case <-time.After(rand.N(20 * time.Millisecond)):
				case <-ctx.Done():
				}
				if rand.IntN(200) == 0 {
					return errSyntax
				}
				return ctx.Err()
			}}
			time.AfterFunc(rand.N(300*time.Millisecond), cancel)
			b, last, ended := bulkWriter(x, once()).WriteAll(ctx, "import", from(items)), make(map[int64]int64), make(map[int64]bool)
			for d := range b.All() {
				entity := d.Position % 40
				if before, ok := last[entity]; ok && d.Position != before+40 {
					t.Errorf("item %d was given after %d", d.Position, before)
				}
				if last[entity] = d.Position; ended[entity] && d.Err == nil {
					t.Errorf("item %d was written after one of its entity that was not", d.Position)
				}
				ended[entity] = ended[entity] || d.Err != nil
			}
			if b.Err() == nil {
				t.Error("the run has not ended early")
			}
		})
	}
}

// Nothing was sent of an item that is parked, or has not begun, and of a run as a whole nothing can be said.
func TestOutcomeOfItems(t *testing.T) {
	t.Parallel()
	unknown := &Error{Op: "import", Tables: []TableResult{{Table: "notes", Outcome: Unknown}}, requests: []fanout.Request{{Outcome: Unknown}}}
	for name, test := range map[string]struct {
		err  error
		want Outcome
	}{
		"failed":    {unknown, Unknown},
		"parked":    {&unwrittenError{ErrParked, unknown}, NotApplied},
		"not begun": {fmt.Errorf("wrapped: %w", &unwrittenError{fanout.ErrUnbegun, context.Canceled}), NotApplied},
		"run":       {&BulkError{Failed: 1, Cause: reject("import", errNoOp)}, Unknown},
	} {
		if got := OutcomeOf(test.err); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
