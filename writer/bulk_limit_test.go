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

	"github.com/denorm-go/denorm/internal/fanout"
)

// The source is read ahead by a bounded number of items, and where nodes are slow fewer writes are under way than at the beginning.
func TestWriteAllIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under, most, given, sent := 0, 0, 0, 0
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
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
			x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
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
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			<-time.After(rand.N(400 * time.Millisecond))
			if r.Mutations[0].Timestamp == items[1501].At { // of lane 1
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
