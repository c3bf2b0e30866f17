//go:build !race

package writer

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// bareFanOut is what a service would write by hand: one deadline, a goroutine a table, the same rows encoded.
func bareFanOut(tb testing.TB, x fanout.Executor, set *tables.Set[Order], o Order) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r := encoded(tb, set, o)
	errs := make([]error, len(r.Mutations))
	var wg sync.WaitGroup
	for i := range r.Mutations {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = x.Execute(ctx, &fanout.Attempt{Mutations: []*statement.Mutation{&r.Mutations[i]}})
		}()
	}
	wg.Wait()
}

func encoded(tb testing.TB, set *tables.Set[Order], o Order) entity.Rendered {
	tb.Helper()
	r, err := set.Insert(o).Internal().Render(time.Now().UnixMicro(), func(string) string { return "shop" })
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A write of three tables costs few allocations alongside the encoding and the goroutines. Most of them are contexts:
// one limits the call, one the first attempts.
func TestAllocations(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	const most = 10
	set, o := orderSet(t), newOrder(Open)
	w := fakeWriter(nopExecutor{})
	ctx := context.Background()
	write := func(w *Writer) float64 {
		return testing.AllocsPerRun(500, func() {
			if _, err := w.Write(ctx, "createOrder", set.Insert(o)); err != nil {
				t.Error(err)
			}
		})
	}
	bare := testing.AllocsPerRun(500, func() { bareFanOut(t, nopExecutor{}, set, o) })
	got := write(w)
	t.Logf("%v allocations, a bare fan-out %v", got, bare)
	if got > bare+most {
		t.Errorf("%v allocations, more than %d above the %v of a bare fan-out", got, most, bare)
	}
	if grouped := write(groupedWriter(t)); grouped > got+most {
		t.Errorf("%v allocations of one request for the three, more than %d above those of three", grouped, most)
	}
	if off := write(w.With(traced(nil))); off > got {
		t.Errorf("tracing that is off costs %v allocations", off-got)
	}
}

func BenchmarkWrite(b *testing.B) {
	w, set, o := fakeWriter(nopExecutor{}), orderSet(b), newOrder(Open)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(context.Background(), "createOrder", set.Insert(o)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBareFanOut(b *testing.B) {
	set, o := orderSet(b), newOrder(Open)
	b.ReportAllocs()
	for b.Loop() {
		bareFanOut(b, nopExecutor{}, set, o)
	}
}

// BenchmarkEncoding is the part of both that any write has.
func BenchmarkEncoding(b *testing.B) {
	set, o := orderSet(b), newOrder(Open)
	b.ReportAllocs()
	for b.Loop() {
		encoded(b, set, o)
	}
}

// BenchmarkGroupedWrite is BenchmarkWrite where the three requests are one.
func BenchmarkGroupedWrite(b *testing.B) {
	w, set, o := groupedWriter(b), orderSet(b), newOrder(Open)
	b.ReportAllocs()
	for b.Loop() {
		if result, err := w.Write(context.Background(), "createOrder", set.Insert(o)); err != nil || result.Groups != 1 {
			b.Fatal(result, err)
		}
	}
}

// groupedWriter sends nothing, and knows where it would.
func groupedWriter(tb testing.TB) *Writer {
	tb.Helper()
	s := openWire(tb, cassandratest.Listen, 3)
	set := orderSet(tb)
	w := fakeWriter(nopExecutor{}, Group(groupBytes))
	w.sender.Hosts = hosts.Of(s.session)
	for {
		if result, err := w.Write(context.Background(), "createOrder", set.Insert(newOrder(Open))); err != nil ||
			result.Groups == 1 {
			return w
		}
		time.Sleep(10 * time.Millisecond) // until keyspaces and tables are read
	}
}
