//go:build !race

package writer_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// An item of a bulk write that shares nothing with others costs hardly more than a Write in a loop: what orders it.
func TestWriteAllAllocations(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	const n, more = 2000, 2
	items, w := tasksOf(t, n), writer.FakeWriter(writer.NopExecutor{})
	bulk := testing.AllocsPerRun(5, func() { inBulk(t, w, items) }) / n
	loop := testing.AllocsPerRun(5, func() { inLoop(t, w, items) }) / n
	t.Logf("%.1f allocations an item, %.1f of Write in a loop", bulk, loop)
	if bulk > loop+more {
		t.Errorf("%.1f allocations an item, %.1f of Write in a loop: want at most %d more", bulk, loop, more)
	}
}

// tasksOf are inserts of tasks that share nothing.
func tasksOf(tb testing.TB, items int) []bulk.Item {
	tb.Helper()
	set, all := writer.TaskSet(tb), make([]bulk.Item, items)
	for n := range all {
		task := writer.NewTask(fmt.Sprint("owner ", n))
		task.TaskID[0], task.TaskID[1] = byte(n), byte(n>>8)
		all[n] = bulk.Item{Change: set.Insert(task)}
	}
	return all
}

// inLoop writes the items by so many goroutines.
func inLoop(tb testing.TB, w *writer.Writer, items []bulk.Item) {
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

func inBulk(tb testing.TB, w *writer.Writer, items []bulk.Item) {
	tb.Helper()
	bulk := bulk.WriteAll(tb.Context(), w, "import", from(items), bulk.InFlight(64))
	for range bulk.All() {
	}
	if err := bulk.Err(); err != nil {
		tb.Error(err)
	}
}

// A bulk write of rows that share nothing costs no more than the writes.
func BenchmarkWriteAll(b *testing.B) {
	items := tasksOf(b, 10_000)
	for name, run := range map[string]func(testing.TB, *writer.Writer, []bulk.Item){"WriteAll": inBulk, "Write": inLoop} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(b, writer.FakeWriter(writer.NopExecutor{}), items)
			}
		})
	}
}
