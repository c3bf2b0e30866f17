package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

// A write to a Versioned set returns before its entry of pending is removed, and the removal outlives the context of the write. The next
// change of the entity waits for it, that of another one does not.
func TestRemovalAfterTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, x, _ := conditional(nil)
		x.hold = make(chan struct{})
		set, row := itemSet(t), newItem()
		write := func(row Piece) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			moved := row
			moved.Shelf = "b"
			_, err := w.Write(ctx, "moveItem", set.Update(row, moved))
			return err
		}
		if err := write(row); err != nil || x.asked() != "UPDATE" {
			t.Fatalf("sent %s: %v", x.asked(), err)
		}
		other := newItem()
		other.ItemID = gocql.MustRandomUUID()
		if err := write(other); err != nil || x.asked() != "UPDATE UPDATE" {
			t.Fatalf("of another entity: sent %s: %v", x.asked(), err)
		}
		waits, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Wait(waits); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v while a removal was under way", err)
		}
		next := make(chan error)
		go func() { next <- write(row) }()
		synctest.Wait()
		if x.asked() != "UPDATE UPDATE" {
			t.Errorf("the next change has not waited: sent %s", x.asked())
		}
		close(x.hold)
		if err := errors.Join(<-next, w.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		if sent := x.asked(); !strings.HasPrefix(sent, "UPDATE UPDATE DELETE ") || strings.Count(sent, "DELETE") != 3 {
			t.Errorf("sent %s", sent)
		}
	})
}

// A removal that takes long holds up the next change of the entity for a moment only, and ends with the writer's Timeout.
func TestRemovalThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, x, _ := conditional(nil)
		x.hold = make(chan struct{})
		set, row := itemSet(t), newItem()
		moved := row
		moved.Shelf = "b"
		if _, err := w.Write(t.Context(), "moveItem", set.Update(row, moved)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		// The row is as the script says: an entry that is still there is a matter of the tests on nodes.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = w.Write(ctx, "moveItem", set.Update(row, moved))
		if x.asked() != "UPDATE UPDATE" {
			t.Errorf("sent %s", x.asked())
		}
		if err := w.Wait(t.Context()); err != nil || time.Since(start) > w.timeout {
			t.Errorf("the removal took %v: %v", time.Since(start), err)
		}
	})
}

// Wait waits for the removals of earlier writes alone, or it would not return next to a writer that goes on.
func TestWaitNextToWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := conditional(nil)
		earlier, _ := w.ends.Begin("earlier")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() { done <- w.Wait(ctx) }()
		synctest.Wait()
		if _, ok := w.ends.Begin("later"); !ok {
			t.Fatal("no place")
		}
		earlier()
		if err := <-done; err != nil {
			t.Errorf("%v, though the removals of earlier writes are done", err)
		}
	})
}
