package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// partial is what a fan-out of which one table failed returns.
func partial() *writer.Error {
	return &writer.Error{Timestamp: 7, Tables: []writer.TableResult{
		{Table: "orders_by_id", Outcome: writer.Applied}, {Table: "orders_by_user", Outcome: writer.Unknown},
	}}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want history.Write[orders.Order]
	}{
		"nil": {nil, history.Write[orders.Order]{Timestamp: 5, Outcome: writer.Applied}},
		"partial": {fmt.Errorf("wrapped: %w", partial()), history.Write[orders.Order]{
			Timestamp: 7, Outcome: writer.Unknown,
			Tables: map[string]writer.Outcome{"orders_by_id": writer.Applied, "orders_by_user": writer.Unknown},
		}},
		"not applied": {
			&writer.Error{Timestamp: 7, Tables: []writer.TableResult{{Table: "orders_by_id", Outcome: writer.NotApplied}}},
			history.Write[orders.Order]{Timestamp: 7, Outcome: writer.NotApplied},
		},
		"another error": {errors.New("?"), history.Write[orders.Order]{Timestamp: 5, Outcome: writer.Unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history.New[orders.Order](nil)
			h.End(h.Begin("", 0, orders.Order{}), 5, c.err)
			if got := h.Writes()[0]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A journal gives the history back, but for the line that the end of the process has cut off.
func TestJournal(t *testing.T) {
	t.Parallel()
	var journal bytes.Buffer
	h := history.New[orders.Order](&journal)
	first := h.Begin("a", tables.Insert, order(moved, orders.Open, 1))
	second := h.Begin("b", tables.Update, order(moved, orders.Paid, 0))
	h.End(second, 0, partial())
	h.End(first, 5, nil)
	h.Begin("b", tables.Update, order(moved, orders.Shipped, 3))

	whole := new(history.History[orders.Order])
	if err := whole.Load(bytes.NewReader(journal.Bytes())); err != nil {
		t.Fatal(err)
	}
	if got, want := whole.Writes(), h.Writes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := whole.Load(bytes.NewReader(journal.Bytes()[:journal.Len()-1])); err != nil { // behind the first
		t.Fatal(err)
	}
	if got := whole.Writes(); len(got) != 5 || got[3].Outcome != writer.Applied || got[4].Timestamp != 7 {
		t.Errorf("%+v, want the same once more without the write whose line was cut", got)
	}
}

// A write that is sent again may be wherever it was said not to be, also if its client is killed meanwhile; and it
// keeps the timestamp that its client had chosen, although an answer has none.
func TestAgain(t *testing.T) {
	t.Parallel()
	var journal bytes.Buffer
	h := history.New[orders.Order](&journal)
	h.BeginAt("a", tables.Insert, order(moved, orders.Open, 1), 42)
	refused := h.BeginAt("b", tables.Insert, order(created, orders.Open, 1), 43)
	h.End(refused, 0, &writer.Error{Tables: []writer.TableResult{{Table: "orders_by_id", Outcome: writer.NotApplied}}})
	half := h.Begin("c", tables.Insert, order(deleted, orders.Open, 1))
	h.End(half, 0, &writer.Error{Timestamp: 7, Tables: []writer.TableResult{
		{Table: "orders_by_id", Outcome: writer.Applied}, {Table: "orders_by_user", Outcome: writer.NotApplied},
	}})
	before := h.Writes()[refused].Outcome
	h.Again(refused)
	h.Again(half)
	loaded := new(history.History[orders.Order])
	if err := loaded.Load(&journal); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]history.Write[orders.Order]{"here": h.Writes(), "in the journal": loaded.Writes()} {
		if before != writer.NotApplied || got[0].Timestamp != 42 || got[1].Timestamp != 43 || got[1].Outcome != writer.Unknown ||
			!got[1].Resumed || got[0].Resumed || got[2].Tables["orders_by_id"] != writer.Applied ||
			got[2].Tables["orders_by_user"] != writer.Unknown {
			t.Errorf("%s: %+v", name, got)
		}
		for n, want := range []history.Cause{history.InFlight, history.InFlight, history.Partial} {
			if cause := got[n].Cause(); cause != want {
				t.Errorf("%s: write %d: %v, want %v", name, n, cause, want)
			}
		}
	}
}

// A journal gives back what the next outcome of a write depends on: whether its caller knows what became of the first
// one, and which counters are not sent again.
func TestJournalOfAgain(t *testing.T) {
	t.Parallel()
	var journal bytes.Buffer
	h := history.New[orders.Order](&journal)
	notApplied := &writer.Error{Timestamp: 7, Tables: []writer.TableResult{
		{Table: "orders_by_id", Outcome: writer.NotApplied}, {Table: "orders_by_user", Outcome: writer.NotApplied},
	}}
	for range 3 {
		h.End(h.Begin("a", tables.Insert, order(moved, orders.Open, 1)), 0, notApplied)
	}
	h.Again(0, "orders_by_user")
	h.Repeat(1)
	h.Again(2)
	h.End(1, 0, notApplied)
	h.End(2, 0, notApplied)
	want := h.Writes()
	if want[0].Tables["orders_by_user"] != writer.NotApplied || want[1].Outcome != writer.Unknown ||
		want[2].Outcome != writer.NotApplied {
		t.Errorf("%+v", want)
	}
	loaded := new(history.History[orders.Order])
	if err := loaded.Load(&journal); err != nil {
		t.Fatal(err)
	}
	if got := loaded.Writes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"?\n", `{"n":0,"end":{}}` + "\n", `{"n":1,"begin":{}}` + "\n", `{"n":0,"again":true}` + "\n", "{}\n"} {
		if err := new(history.History[orders.Order]).Load(strings.NewReader(text)); err == nil {
			t.Errorf("loaded %q", text)
		}
	}
}

// lines counts what a journal is given, and fails if it is not one line at a time.
type lines struct {
	t *testing.T
	n int
}

func (l *lines) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || !bytes.HasSuffix(p, []byte("\n")) {
		l.t.Errorf("want a line, got %q", p)
	}
	l.n++
	return len(p), nil
}

func TestConcurrentClients(t *testing.T) {
	t.Parallel()
	journal := &lines{t: t}
	h := history.New[orders.Order](journal)
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range 100 {
				h.End(h.Begin(fmt.Sprint(c), tables.Insert, order(byte(c), orders.Open, int64(i))), int64(i+1), nil)
			}
		})
	}
	wg.Wait()
	if n := h.Count()[writer.Applied]; n != 800 || journal.n != 1600 {
		t.Errorf("%d writes applied and %d lines, want 800 and 1600", n, journal.n)
	}
}

// A long load is checked, too. What that takes is printed.
func TestLongHistory(t *testing.T) {
	s := newShop(t)
	const writes = 100_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range writes {
		n := i / 4 // writes of an order
		w := s.did(moved, tables.Insert, int64(1000+i), orders.Statuses[i%4], int64(i+1))
		w.Row.OrderID = gocql.UUID{0: byte(n >> 8), 1: byte(n), 6: 0x10, 15: 99}
		w.Outcome = writer.Unknown
	}
	began := time.Now()
	report := s.check()
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	t.Logf("%v, in %v, %d MB allocated", report.Summary(), took, (after.TotalAlloc-before.TotalAlloc)>>20)
	if len(report.Findings) > 0 || report.Writes != writes+7 {
		t.Error(report)
	}
}
