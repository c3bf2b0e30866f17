package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type line struct {
	Host string
	At   time.Time
	N    int32
	Text string
}

var midnight = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// logs are kept by host, hour and one of four hash buckets.
func logs(tb testing.TB) *tables.Set[line] {
	tb.Helper()
	set, err := tables.New[line]("line",
		tables.Table{Name: "logs", PartKey: []string{"host", "hour", "bucket"}, SortKey: []string{"at DESC", "n"}},
		tables.Derive("hour", tables.Hour("at")), tables.Derive("bucket", tables.Hash(4, "n")))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// filled has a row every minute of some hours.
func filled(tb testing.TB, hours int) (*tables.Set[line], *fakeSource) {
	tb.Helper()
	set := logs(tb)
	f := newFake(describe.Of(set.Internal()))
	for i := range hours * 60 {
		f.write(tb, set.Insert(line{"web-secret", midnight.Add(time.Duration(i) * time.Minute), int32(i), "x"}))
	}
	return set, f
}

func lastHours(set *tables.Set[line], hours int) Query[line] {
	return From(set, "logs").Eq("host", "web-secret").GtOrEq("at", midnight).
		Lt("at", midnight.Add(time.Duration(hours)*time.Hour))
}

func sizes(f *fakeSource) []int {
	var out []int
	for _, r := range f.requests {
		out = append(out, r.size)
	}
	return out
}

// The newest ten rows cost one page of ten from each hash bucket of the newest hour, and nothing of the hours before
// it.
func TestNewestAsksNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 24)
	got, token, err := List(t.Context(), newReader(f, "shop"), "newest", lastHours(set, 24).Limit(10))
	if err != nil || len(got) != 10 || token == "" {
		t.Fatalf("%d rows, %q, %v", len(got), token, err)
	}
	for i, row := range got {
		if want := midnight.Add(24*time.Hour - time.Duration(i+1)*time.Minute); !row.At.Equal(want) || row.Text != "x" {
			t.Errorf("row %d is %+v, want %v", i, row, want)
		}
	}
	if s := sizes(f); !slices.Equal(s, []int{10, 10, 10, 10}) {
		t.Errorf("pages of %v", s)
	}
	const want = "SELECT at,n,host,text FROM shop.logs WHERE host=? AND hour=? AND bucket=? AND at>=? AND at<?"
	if s := strings.TrimSpace(f.requests[0].statement); s != want {
		t.Errorf("statement %s, want %s", s, want)
	}
}

// Hours without rows are crossed with more and more of them at once, so that a day of nothing is not as many round
// trips as it has hours.
func TestEmptyBucketsAreCrossedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, f := filled(t, 1)
		const roundTrip = time.Second
		f.before = func(context.Context, attempt) error { time.Sleep(roundTrip); return nil }
		start := time.Now()
		got, _, err := List(t.Context(), newReader(f, "shop", Parallel(64)), "newest", lastHours(set, 48).Limit(5))
		if err != nil || len(got) != 5 {
			t.Fatal(len(got), err)
		}
		if trips := int(time.Since(start) / roundTrip); trips > 8 { // 1, 2, 4, 8, then 16 hours at a time, within 64 requests
			t.Errorf("%d round trips, one after the other", trips)
		}
	})
}

// A consumer that takes its time does not make pages pile up: each partition that is read is one page ahead, and the
// next hour begins when all of this one has been fetched.
func TestReadsNoFurtherAheadThanAPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, f := filled(t, 100)
		const size = 5
		n := 0
		for _, err := range Read(t.Context(), newReader(f, "shop", PageSize(size)), "all", lastHours(set, 100)).All() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			synctest.Wait() // everybody waits for the consumer
			f.mu.Lock()
			fetched := len(f.requests) * size
			f.mu.Unlock()
			// Two pages of each of the four partitions, for this hour and the next. Rows are few: 15 a partition.
			if ahead := fetched - n; ahead > 2*4*2*size+5*n/2 && n < 200 {
				t.Fatalf("after %d rows, room for %d more was asked for", n, ahead)
			}
			if n == 200 {
				break
			}
		}
		if len(f.requests) > 100 {
			t.Errorf("%d requests for 200 rows", len(f.requests))
		}
	})
}

// Who breaks out of the loop leaves nothing behind, also if requests are under way that end only with their context.
func TestBreakLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		set, f := filled(t, 3)
		f.before = func(ctx context.Context, r attempt) error {
			if r.state != nil {
				<-ctx.Done()
				time.Sleep(time.Second) // a driver that takes its time
				return ctx.Err()
			}
			return nil
		}
		rows := Read(t.Context(), newReader(f, "shop", PageSize(3)), "some", lastHours(set, 3))
		for _, err := range rows.All() {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if n := f.active.Load(); n > 0 {
			t.Errorf("%d requests are still under way", n)
		}
		f.before = nil
		count := 0
		for _, err := range rows.All() { // goes on
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count != 3*60-1 {
			t.Errorf("%d rows after the first", count)
		}
	})
}

var errUnavailable = &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum, Required: 2, Alive: 1}

// quick repeats without waiting.
var quick = Retry(retry.Policy{MaxAttempts: 3, InitialInterval: time.Nanosecond, MaxInterval: time.Nanosecond})

// A partition that cannot be read ends the query with an error that says which one it was, and nothing that only the
// caller may know. What came before is in order, and the token goes on from there.
func TestFailingPartitionIsNamed(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 3)
	broken := true
	f.before = func(_ context.Context, r attempt) error {
		if broken && string(r.values[1].(*cqltype.Value).Data) == "2024-05-01-01" && r.values[2].(*cqltype.Value).
			Data[3] == 2 {
			return errUnavailable
		}
		return nil
	}
	r := newReader(f, "shop", quick)
	got, token, err := List(t.Context(), r, "allLogs", lastHours(set, 3))
	var failed *Error
	if !errors.As(err, &failed) || !errors.Is(err, errUnavailable) {
		t.Fatalf("%d rows, error %v", len(got), err)
	}
	if want := "denorm: allLogs: table shop.logs: partition 7 of 12 (hour 2024-05-01-01, bucket 2) not read after 3 " +
		"attempts: "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %q, want it to begin with %q", err, want)
	}
	if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "secret") {
		t.Errorf("the error tells the partition key: %s", text)
	}
	if len(got) != 60 { // the newest hour, whole
		t.Errorf("%d rows before the error", len(got))
	}
	broken = false
	rest, _, err := List(t.Context(), r, "allLogs", lastHours(set, 3).After(token))
	if err != nil || len(rest) != 120 || !rest[0].At.Equal(midnight.Add(119*time.Minute)) {
		t.Errorf("continued with %d rows, %v", len(rest), err)
	}
}

// A request that fails now and then is repeated for the same page, and nobody notices.
func TestPagesAreRepeated(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 4)
	var n atomic.Int64
	f.before = func(context.Context, attempt) error {
		if n.Add(1)%3 == 0 {
			return &gocql.RequestErrReadTimeout{}
		}
		return nil
	}
	r := newReader(f, "shop", PageSize(4), shared(session.Budget(retry.NewBudget(1000, 1))),
		Retry(retry.Policy{MaxAttempts: 20, InitialInterval: time.Nanosecond, MaxInterval: time.Nanosecond}))
	got, _, err := List(t.Context(), r, "all", lastHours(set, 4))
	if err != nil || len(got) != 240 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, row := range got {
		if !row.At.Equal(midnight.Add(time.Duration(239-i) * time.Minute)) {
			t.Fatalf("row %d is %v", i, row.At)
		}
	}
}

// A context that ends ends the read, with an error that says so.
func TestCancelledContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, f := filled(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f.before = func(ctx context.Context, r attempt) error {
			if string(r.values[1].(*cqltype.Value).Data) == "2024-05-01-01" {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		got, _, err := List(ctx, newReader(f, "shop"), "all", lastHours(set, 3))
		var failed *Error
		if !errors.Is(err, context.Canceled) || !errors.As(err, &failed) || len(got) < 1 || len(got) > 60 {
			t.Errorf("%d rows, %v", len(got), err)
		}
	})
	set, f := filled(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _, err := List(ctx, newReader(f, "shop"), "all", lastHours(set, 1)); !errors.Is(err, context.Canceled) ||
		len(got) > 0 || len(f.requests) > 0 {
		t.Errorf("%d rows, %d requests, %v", len(got), len(f.requests), err)
	}
}

// If the live table is clustered in another way than declared, merging would give nonsense. That is seen.
func TestDisorderIsAnError(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	f.declared["logs"].desc[0] = false
	for _, rows := range f.tables["logs"].rows {
		slices.Reverse(rows)
	}
	for _, size := range []int{1, 3, 100} { // within a page, and from one to the next
		_, _, err := List(t.Context(), newReader(f, "shop", PageSize(size)), "all", lastHours(set, 1))
		if !errors.Is(err, errDisorder) {
			t.Errorf("pages of %d: %v", size, err)
		}
	}
}

// A value that does not fit into its field comes again however often it is read.
func TestUndecodableRowIsNotRetried(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	f.types["text"] = driver.NativeType(gocql.TypeTimestamp)
	_, _, err := List(t.Context(), newReader(f, "shop", quick), "all", lastHours(set, 1).Limit(1))
	var failed *Error
	if !errors.As(err, &failed) || failed.Attempts != 1 {
		t.Errorf("%v", err)
	}
}
