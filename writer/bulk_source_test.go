package writer

import (
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
