package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
)

// A run remembers each entity that has failed, and ends before that takes too much memory. Nothing of what was read by then is said to be written.
func TestWriteAllEndsWhenManyHaveFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text           string
		deleted        bool
		atLeast, below int // items that are read
	}{
		"entities": {"short", false, mostParked, mostParked + 2*aheadItems*mostInFlight},
		"bytes":    {strings.Repeat("x", 128<<10), false, mostParkedBytes / (256 << 10) / 2, 3 * mostParkedBytes / (256 << 10)},
		"deleted":  {strings.Repeat("x", 128<<10), true, mostParkedBytes / (128 << 10) / 2, 3 * mostParkedBytes / (128 << 10)},
	} {
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errUnavailable }}
		var count atomic.Int64 // the source may go on for a moment
		source := func(yield func(Item, error) bool) {
			for set, read := noteSet(t), 0; read < 2*test.below; read++ {
				count.Store(int64(read))
				n := newNote()
				n.UserID[0], n.UserID[1], n.UserID[2] = byte(read), byte(read>>8), byte(read>>16)
				n.Text = test.text
				change := set.Insert(n)
				if test.deleted {
					change = set.Delete(n)
				}
				if !yield(Item{Change: change, Position: int64(read)}, nil) {
					return
				}
			}
		}
		b := bulkWriter(x, once()).WriteAll(t.Context(), "import", source)
		given := 0
		for d := range b.All() {
			given++
			if d.Err == nil {
				t.Fatalf("%s: item %d is said to be written", name, d.Position)
			}
		}
		var failed *BulkError
		if !errors.As(b.Err(), &failed) || !errors.Is(failed, errManyFailed) || !errors.Is(failed, errUnavailable) {
			t.Fatalf("%s: %v", name, b.Err())
		}
		read := int(count.Load())
		if failed.Failed < test.atLeast || read > test.below || failed.Failed+failed.NotBegun != given {
			t.Errorf("%s: %d items read, %d given: %v", name, read, given, failed)
		}
	}
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
