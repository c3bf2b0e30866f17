package reader

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// entry is a line of a log.
type entry struct {
	ID   int32
	Host string
	At   time.Time
	Hour string
	Text string
}

// entries are kept by id, and by host, hour and one of four hash buckets.
var entries = tables.Must(tables.New[entry]("entry",
	tables.Table{Name: "entry_by_id", PartKey: []string{"id"}},
	tables.Table{Name: "log", PartKey: []string{"host", "hour", "bucket"}, SortKey: []string{"at DESC", "id"}},
	tables.SingleWriter("host"), tables.Derive("hour", tables.Hour("at")), tables.Derive("bucket", tables.Hash(4, "id"))))

// entered has a row every minute of some hours. It gives those that are confirmed, the newest first: of the others
// every fourth has no base row, and those after it have one with another host.
func entered(tb testing.TB, hours int, ghost func(i int) bool) (f *fakeSource, want []entry) {
	tb.Helper()
	f = newFake(describe.Of(entries.Internal()))
	for i := range hours * 60 {
		at := midnight.Add(time.Duration(i) * time.Minute)
		row := entry{int32(i + 1), "web-secret", at, at.UTC().Format("2006-01-02-15"), "x"}
		f.write(tb, entries.Insert(row))
		base := f.tables["entry_by_id"].rows
		key := baseKey(tb, row)
		switch {
		case !ghost(i):
			base[key][0]["text"] = []byte("as the base row has it")
			row.Text = "as the base row has it"
			want = append(want, row)
		case i%4 == 0:
			delete(base, key)
		default:
			base[key][0]["host"] = []byte("another")
		}
	}
	slices.Reverse(want)
	return f, want
}

func baseKey(tb testing.TB, row entry) string {
	tb.Helper()
	key, err := entries.Internal().Key(row)
	if err != nil {
		tb.Fatal(err)
	}
	value, ok := key[0].(*cqltype.Value)
	if !ok {
		tb.Fatal("no value")
	}
	return string(value.Data)
}

func third(i int) bool { return i%3 == 1 }

func lastEntries(hours int) Query[entry] {
	return From(entries, "log").Eq("host", "web-secret").GtOrEq("at", midnight).
		Lt("at", midnight.Add(time.Duration(hours)*time.Hour))
}

func sameEntries(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(a, b entry) bool {
		same := a.At.Equal(b.At)
		a.At = b.At
		return same && a == b
	})
}

// ofBase says whether a request is for a base row.
func ofBase(r attempt) bool { return strings.Contains(r.statement, ".entry_by_id ") }

// Whatever is a ghost, and however it is read, the rows are those that the base rows confirm, in order and with the
// values of these; limits and tokens count them, and no ghost is handed over twice.
func TestConfirmedRows(t *testing.T) {
	t.Parallel()
	const hours = 3
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		share := rnd.Float64() * 1.2 // sometimes all
		f, want := entered(t, hours, func(int) bool { return rnd.Float64() < share })
		r := newReader(f, "shop", PageSize(1+rnd.IntN(30)), Parallel(1+rnd.IntN(8)))
		q, ghosts := lastEntries(hours), make(map[int32]int)
		if rnd.IntN(2) == 0 {
			q = q.OrderBy("at ASC")
			slices.Reverse(want)
		}
		q = q.Limit(rnd.IntN(40)).Confirm(func(row entry) {
			if ghosts[row.ID]++; row.Text != "x" || row.Host != "web-secret" {
				t.Errorf("seed %d: a ghost is handed over as %v", seed, row)
			}
		}, nil)
		var got []entry
		for more := true; more; more = q.token != "" {
			page, token, err := List(t.Context(), r, "list", q)
			if err != nil {
				t.Fatal(err)
			}
			if q.limit > 0 && len(page) > q.limit {
				t.Errorf("seed %d: a page of %d rows", seed, len(page))
			}
			got, q = append(got, page...), q.After(token)
		}
		if !sameEntries(got, want) {
			t.Errorf("seed %d: %d rows, want %d", seed, len(got), len(want))
		}
		for id, n := range ghosts {
			if n > 1 {
				t.Errorf("seed %d: ghost %d is handed over %d times", seed, id, n)
			}
		}
		if all := hours*60 - len(want); len(ghosts) != all {
			t.Errorf("seed %d: %d ghosts were handed over, of %d", seed, len(ghosts), all)
		}
		for _, a := range f.requests {
			if ofBase(a) && a.statement != "SELECT id,host,at,hour,text FROM shop.entry_by_id WHERE id=?" {
				t.Fatal(a.statement)
			}
		}
	}
}

// A base row that cannot be read is an error and no ghost: rows that were given are right, and the token goes on from
// there.
func TestUnreadBaseRowsAreErrors(t *testing.T) {
	t.Parallel()
	const hours = 2
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		f, want := entered(t, hours, third)
		broken := baseKey(t, entry{ID: 1 + rnd.Int32N(60*hours)})
		f.before = func(_ context.Context, r attempt) error {
			if ofBase(r) && string(r.key) == broken {
				return errUnavailable
			}
			return nil
		}
		r, handed := newReader(f, "shop", quick, PageSize(1+rnd.IntN(30))), 0
		q := lastEntries(hours).Confirm(func(entry) { handed++ })
		got, token, err := List(t.Context(), r, "list", q)
		var failed *Error
		if !errors.As(err, &failed) || !errors.Is(err, errUnavailable) || failed.Attempts != 3 || failed.Table != "log" {
			t.Fatalf("seed %d: %d rows, error %v", seed, len(got), err)
		}
		if text := err.Error(); !strings.Contains(text, "not read after 3 attempts: base row in shop.entry_by_id: ") ||
			strings.Contains(text, "secret") {
			t.Errorf("error %q", text)
		}
		if len(got) > len(want) || !sameEntries(got, want[:len(got)]) {
			t.Errorf("seed %d: %d rows before the error are not the first ones", seed, len(got))
		}
		f.before = nil
		rest, _, err := List(t.Context(), r, "list", q.After(token))
		if err != nil || !sameEntries(append(got, rest...), want) {
			t.Errorf("seed %d: continued with %d rows after %d, %v", seed, len(rest), len(got), err)
		}
	}
}

// Reads of base rows are repeated as pages are.
func TestReadsOfBaseRowsAreRepeated(t *testing.T) {
	t.Parallel()
	f, want := entered(t, 2, third)
	var n atomic.Int64
	f.before = func(_ context.Context, r attempt) error {
		if ofBase(r) && n.Add(1)%10 == 0 {
			return errUnavailable
		}
		return nil
	}
	got, _, err := List(t.Context(), newReader(f, "shop", quick), "list", lastEntries(2).Confirm())
	if err != nil || !sameEntries(got, want) {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// Base rows are read several at the same time, within the limit of all requests, and ahead of the caller.
func TestBaseRowsAreReadTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, want := entered(t, 1, third)
		const roundTrip, parallel = time.Second, 8
		f.before = func(context.Context, attempt) error { time.Sleep(roundTrip); return nil }
		start := time.Now()
		got, _, err := List(t.Context(), newReader(f, "shop", Parallel(parallel)), "list", lastEntries(1).Confirm())
		if err != nil || !sameEntries(got, want) {
			t.Fatal(len(got), err)
		}
		if trips := int(time.Since(start) / roundTrip); trips > 4+60/parallel {
			t.Errorf("%d round trips", trips)
		}
		if n := f.most.Load(); n != parallel {
			t.Errorf("%d requests under way, the limit is %d", n, parallel)
		}
		for _, err := range Read(t.Context(), newReader(f, "shop", PageSize(3)), "list", lastEntries(1).Confirm()).All() {
			if err != nil {
				t.Fatal(err)
			}
			sent := func() int {
				f.mu.Lock()
				defer f.mu.Unlock()
				return len(f.requests)
			}
			before := sent()
			time.Sleep(time.Hour)                       // the caller takes its time
			if n := sent() - before; n < 1 || n > 4*4 { // a page ahead of each partition at most, with its base rows
				t.Errorf("%d requests while the caller had one row", n)
			}
			break
		}
	})
}

// Pages grow where there are many ghosts, also with a limit.
func TestGhostsAreCrossedByLargerPages(t *testing.T) {
	t.Parallel()
	f, _ := entered(t, 1, func(int) bool { return true })
	got, _, err := List(t.Context(), newReader(f, "shop"), "list", lastEntries(1).Limit(1).Confirm())
	if err != nil || len(got) > 0 {
		t.Fatal(got, err)
	}
	f.requests = slices.DeleteFunc(f.requests, ofBase)
	if n := len(f.requests); n > 4*10 { // pages of 1, 2, 4 and 8 rows and some empty ones for the 15 of each partition
		t.Errorf("%d pages: %v", n, sizes(f))
	}
}

// A loop that ends while base rows are read leaves nothing behind, and is no error to a tracer.
func TestBreakWhileBaseRowsAreRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		f, _ := entered(t, 3, third)
		var stuck atomic.Int64
		f.before = func(ctx context.Context, r attempt) error {
			if ofBase(r) && string(r.key) < baseKey(t, entry{ID: 120}) { // of the second hour
				stuck.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		told := &tally{}
		for _, err := range Read(t.Context(), newReader(f, "shop", PageSize(3), traced(told)), "list",
			lastEntries(3).Confirm()).All() {
			if err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); stuck.Load() > 0 {
				break
			}
		}
		if n := f.active.Load(); n > 0 || told.failed > 0 || stuck.Load() == 0 {
			t.Errorf("%d requests are still under way, %d were told of as failed, and %d were meant to be", n, told.failed,
				stuck.Load())
		}
	})
}

// A tracer is told of what was left out, and of the base rows of each page as of one request.
func TestTracerOfConfirmedRows(t *testing.T) {
	t.Parallel()
	f, want := entered(t, 1, third)
	told := &tally{}
	if _, _, err := List(t.Context(), newReader(f, "shop", traced(told)), "list", lastEntries(1).Confirm()); err != nil {
		t.Fatal(err)
	}
	if told.end.Rows != len(want) || told.end.Unconfirmed != 60-len(want) {
		t.Errorf("%+v", told.end)
	}
	if told.partitions != 4 || told.lookups != 4 || told.reads != 60 || told.found != len(want) || told.failed > 0 {
		t.Errorf("%d partitions, %d requests of base rows with %d reads and %d rows", told.partitions, told.lookups,
			told.reads, told.found)
	}
}

// A query that cannot be confirmed is rejected before anything is sent, and the error says why.
func TestUnconfirmable(t *testing.T) {
	t.Parallel()
	type view struct {
		Page  string
		Day   string
		Count int64
	}
	views := tables.Must(tables.New[view]("view",
		tables.Table{Name: "views", PartKey: []string{"page"}, SortKey: []string{"day"}},
		tables.Table{Name: "views_by_day", PartKey: []string{"day"}},
		tables.Type("count", "counter")))
	regrown := tables.Must(tables.New[line]("line",
		tables.Table{Name: "lines", PartKey: []string{"n"}},
		tables.Table{Name: "by_host", PartKey: []string{"host", "bucket"}, SortKey: []string{"n"}},
		tables.Derive("bucket", tables.Hash(4, "n"), tables.Since{Bucket: tables.Hash(8, "n")})))
	far := tables.Must(tables.New[line]("line",
		tables.Table{Name: "lines", PartKey: []string{"n"}, Keyspace: "far"},
		tables.Table{Name: "by_host", PartKey: []string{"host"}, SortKey: []string{"n"}}))
	f := newFake(describe.Of(entries.Internal()))
	read := func(r *Reader, q Query[line]) error { _, _, err := List(t.Context(), r, "list", q); return err }
	r := newReader(f, "shop")
	_, _, base := List(t.Context(), r, "list", From(entries, "entry_by_id").Eq("id", 1).Confirm())
	_, _, counts := List(t.Context(), r, "list", From(views, "views_by_day").Eq("day", "d").Confirm())
	strict := newReader(f, "shop", shared(session.Keyspaces(map[string]string{"": "shop"}), session.StrictKeyspaces()))
	for want, err := range map[string]error{
		"denorm: list: invalid query: table entry_by_id: Confirm: it is the base table": base,
		"table views_by_day: Confirm: its rows are counters":                            counts,
		"table by_host: column bucket: Confirm: a row may be under any of its functions": read(r,
			From(regrown, "by_host").Eq("host", "h").Confirm()),
		"table by_host: Confirm: no keyspace of the base table: ": read(strict, From(far, "by_host").Eq("host", "h").
			Confirm()),
	} {
		var invalid *queryError
		if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(f.requests) > 0 {
		t.Errorf("%d requests were sent", len(f.requests))
	}
}

// tally counts what it is told of a read.
type tally struct {
	mu                    sync.Mutex
	end                   session.OperationEnd
	partitions            int // requests of them
	lookups, reads, found int // requests of base rows, what was sent for them, and rows that they confirmed
	failed                int
}

type lookupKey struct{}

func (c *tally) TraceStart(ctx context.Context, _ session.OperationStart) context.Context { return ctx }

func (c *tally) TraceEnd(_ context.Context, d session.OperationEnd) { c.end = d }

func (c *tally) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	return context.WithValue(ctx, lookupKey{}, d.Tables[0] == "entry_by_id")
}

func (c *tally) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Err != nil {
		c.failed++
	}
	if of, _ := ctx.Value(lookupKey{}).(bool); !of {
		c.partitions++
		return
	}
	c.lookups, c.reads, c.found = c.lookups+1, c.reads+d.Pages, c.found+d.Rows
}
