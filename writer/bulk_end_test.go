package writer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
)

// A run whose context ends while it waits for the source is not done, though all that was read is acknowledged.
func TestWriteAllIsCanceledWhileItWaits(t *testing.T) {
	t.Parallel()
	for range 100 { // the end of the context and that of the source meet
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			items := notesOf(t, 5, 5)
			b := bulkWriter(nopExecutor{}).WriteAll(ctx, "import", func(yield func(Item, error) bool) {
				for _, i := range items {
					if !yield(i, nil) {
						return
					}
				}
				<-ctx.Done()
			})
			given := 0
			for d := range b.All() {
				if given++; given == len(items) {
					cancel()
					<-time.After(time.Second) // the source ends
				}
				if d.Err != nil {
					t.Error(d.Err)
				}
			}
			if given != len(items) || !errors.Is(b.Err(), context.Canceled) {
				t.Fatalf("%d items given, %v", given, b.Err())
			}
		})
	}
}

// What was read when a run ends early is given as not begun: at most what the source gives at that moment is not.
func TestWriteAllGivesWhatWasRead(t *testing.T) {
	t.Parallel()
	const fails = 700
	for name, options := range map[string][]BulkOption{
		"the context ends":     nil,
		"the checkpoint fails": {Checkpoint(func(context.Context, string, int64) error { return errSyntax })},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			items := notesOf(t, 5000, 5000)
			var count atomic.Int64
			x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
				<-time.After(400 * time.Millisecond)
				return nil
			}}
			b := bulkWriter(x).WriteAll(ctx, "import", func(yield func(Item, error) bool) {
				for n, i := range items {
					i.At = earliest + int64(n)
					if count.Add(1) == fails && options == nil {
						cancel()
					}
					if !yield(i, nil) {
						return
					}
				}
			}, options...)
			given, notBegun := 0, 0
			for d := range b.All() {
				given++
				if d.Err != nil && OutcomeOf(d.Err) == NotApplied {
					notBegun++
				}
				if failed := (*Error)(nil); options != nil && errors.As(d.Err, &failed) {
					t.Errorf("%s: the error of an item is that of the checkpoint: %v", name, d.Err)
				}
			}
			<-time.After(time.Minute) // what the run has left
			read := int(count.Load())
			if read-given > 2 || notBegun == 0 || read == len(items) {
				t.Errorf("%s: %d items were read and %d given, %d of them not begun: %v", name, read, given, notBegun, b.Err())
			}
		})
	}
}

// A checkpoint that fails as the context of the run has ended is saved once more at the end.
func TestWriteAllSavesAfterItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var items []Item
		for n, i := range notesOf(t, 50, 50) {
			i.At = earliest + int64(n)
			items = append(items, i)
		}
		saved, saves := int64(-1), 0
		b := bulkWriter(nopExecutor{}).WriteAll(ctx, "import", func(yield func(Item, error) bool) {
			for _, i := range items {
				if !yield(i, nil) {
					return
				}
			}
			<-ctx.Done()
		}, Checkpoint(func(ctx context.Context, _ string, upTo int64) error {
			if saves++; saves == 1 {
				cancel()
			}
			if ctx.Err() != nil {
				return fmt.Errorf("save: %w", ctx.Err())
			}
			saved = upTo
			return nil
		}))
		for d := range b.All() {
			if d.Err != nil {
				t.Error(d.Err)
			}
		}
		if saves != 2 || saved != items[len(items)-1].Position || !errors.Is(b.Err(), context.Canceled) {
			t.Errorf("%d checkpoints, the last at %d: %v", saves, saved, b.Err())
		}
	})
}

// An item whose own write did not begin in time has failed, and so has the run.
func TestWriteAllCountsItemsThatDidNotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
			return fmt.Errorf("%w: %w", fanout.ErrUnbegun, context.DeadlineExceeded)
		}}
		b := bulkWriter(x).WriteAll(t.Context(), "import", from(notesOf(t, 1, 1)))
		for d := range b.All() {
			if d.Err == nil {
				t.Error("acknowledged")
			}
		}
		if failed := (*BulkError)(nil); !errors.As(b.Err(), &failed) || failed.Failed != 1 || failed.NotBegun != 0 {
			t.Errorf("%v", b.Err())
		}
	})
}
