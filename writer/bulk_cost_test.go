package writer

import (
	"fmt"
	"sync"
	"testing"
)

// tasksOf are inserts of tasks that share nothing.
func tasksOf(tb testing.TB, items int) []Item {
	tb.Helper()
	set, all := taskSet(tb), make([]Item, items)
	for n := range all {
		task := newTask(fmt.Sprint("owner ", n))
		task.TaskID[0], task.TaskID[1] = byte(n), byte(n>>8)
		all[n] = Item{Change: set.Insert(task)}
	}
	return all
}

// inLoop writes the items by so many goroutines.
func inLoop(tb testing.TB, w *Writer, items []Item) {
	tb.Helper()
	var wg sync.WaitGroup
	room := make(chan struct{}, 64)
	for _, i := range items {
		room <- struct{}{}
		wg.Go(func() {
			if _, err := w.Write(tb.Context(), "import", i.Change); err != nil {
				tb.Error(err)
			}
			<-room
		})
	}
	wg.Wait()
}

func inBulk(tb testing.TB, w *Writer, items []Item) {
	tb.Helper()
	bulk := w.WriteAll(tb.Context(), "import", from(items), InFlight(64))
	for range bulk.All() {
	}
	if err := bulk.Err(); err != nil {
		tb.Error(err)
	}
}

// A bulk write of rows that share nothing costs no more than the writes.
func BenchmarkWriteAll(b *testing.B) {
	items := tasksOf(b, 10_000)
	for name, run := range map[string]func(testing.TB, *Writer, []Item){"WriteAll": inBulk, "Write": inLoop} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(b, fakeWriter(nopExecutor{}), items)
			}
		})
	}
}
