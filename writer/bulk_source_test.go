package writer

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
)

// A source that ends its goroutine has not come to its end: what it has not yielded must not be taken for written.
func TestWriteAllSaysThatTheSourceHasNotReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 10, 10)
		b := bulkWriter(&fakeExecutor{}).WriteAll(t.Context(), "import", func(yield func(Item, error) bool) {
			for n, i := range items {
				if n == 5 {
					runtime.Goexit()
				}
				if !yield(i, nil) {
					return
				}
			}
		})
		if got := len(all(b)); got != 5 || !errors.Is(b.Err(), errNotReturned) {
			t.Errorf("%d items, %v", got, b.Err())
		}
	})
}

// A panic of the source is one of the loop, whose caller can recover it. What was read before is written.
func TestWriteAllPanicsAsTheSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 5, 5)
		b := bulkWriter(&fakeExecutor{}).WriteAll(t.Context(), "import", func(yield func(Item, error) bool) {
			from(items)(yield)
			panic("a line is too short")
		})
		written := 0
		func() {
			defer func() {
				if got := recover(); got != "a line is too short" {
					t.Errorf("recovered %v", got)
				}
			}()
			for range b.All() {
				written++
			}
		}()
		if written != 5 || !errors.Is(b.Err(), errNotReturned) {
			t.Errorf("%d items, %v", written, b.Err())
		}
	})
}

// A record that is two changes has one position. The second change is rejected, so the position is not saved: a run that begins after it would
// leave that change out.
func TestWriteAllDoesNotSaveThePositionOfAFailedItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 4, 4)
		for n := range items {
			items[n].At, items[n].Position = earliest+int64(n), int64(n/2)
		}
		saved := int64(-1)
		b := bulkWriter(&fakeExecutor{}).WriteAll(t.Context(), "import", from(items), Checkpoint(func(_ context.Context, _ string, upTo int64) error {
			saved = upTo
			return nil
		}))
		failed := int64(-1)
		for d := range b.All() {
			if d.Err != nil && failed < 0 {
				failed = d.Position
			}
		}
		if failed != 0 || saved >= failed {
			t.Errorf("saved up to %d, and an item at %d has failed: %v", saved, failed, b.Err())
		}
	})
}
