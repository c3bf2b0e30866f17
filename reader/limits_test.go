package reader

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// A partition whose next page fails while the caller is busy with rows is told as failed, though its error ends the
// read.
func TestFailureOfThePageAheadIsTold(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	var failed atomic.Bool
	failing := make(chan struct{})
	f.before = func(_ context.Context, r attempt) error {
		if r.state != nil && failed.CompareAndSwap(false, true) {
			close(failing)
			return &gocql.RequestErrUnavailable{}
		}
		return nil
	}
	n := &noting{}
	r := newReader(f, "shop", traced(n), PageSize(2), quick).With(Retry(retry.Policy{MaxAttempts: 1}))
	var err error
	first := true
	for _, e := range Read(t.Context(), r, "all", lastHours(set, 1)).All() {
		if err = e; first {
			first = false
			<-failing
			time.Sleep(time.Millisecond) // the page is ready by now, most likely
		}
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, s := range n.notes {
		if strings.HasPrefix(s, "    end of it") && strings.HasSuffix(s, "true") {
			return
		}
	}
	t.Errorf("no partition is told as failed: %q", n.notes)
}

// A limit of as many rows as an int can count is none.
func TestHugeLimit(t *testing.T) {
	t.Parallel()
	f, want := entered(t, 1, func(i int) bool { return i >= 10 })
	q := lastEntries(1).Limit(math.MaxInt).Confirm()
	got, _, err := List(t.Context(), newReader(f, "shop", PageSize(5)), "list", q)
	if err != nil || len(got) != len(want) {
		t.Errorf("%d rows, want %d; %v", len(got), len(want), err)
	}
	for _, r := range f.requests {
		if r.size <= 0 { // Cassandra would begin again, and send all rows at once
			t.Errorf("a page of %d rows", r.size)
		}
	}
}

// A bound may be a pointer to a time, as fields are that may be absent.
func TestBoundIsAPointerToATime(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	r := newReader(f, "shop")
	end := midnight.Add(10*time.Minute + 500*time.Microsecond)
	rows := func(end any) int {
		t.Helper()
		got, _, err := List(t.Context(), r, "a", From(set, "logs").Eq("host", "web-secret").GtOrEq("at", midnight).
			Lt("at", end))
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	if a, b := rows(end), rows(&end); a != b || a == 0 {
		t.Errorf("%d rows with a time, %d with a pointer to it", a, b)
	}
	if _, _, err := List(t.Context(), r, "a", From(set, "logs").Eq("host", "web-secret").GtOrEq("at", midnight).
		Lt("at", (*time.Time)(nil))); err == nil {
		t.Error("a nil pointer is a bound")
	}
}

// A read whose loop panics, and is recovered above as net/http does, has ended too.
func TestReadEndsByAPanic(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	n := &noting{}
	func() {
		defer func() { _ = recover() }()
		for _, err := range Read(t.Context(), newReader(f, "shop", traced(n)), "all", lastHours(set, 1)).All() {
			t.Log(err)
			panic("x")
		}
	}()
	if !strings.Contains(strings.Join(n.notes, "\n"), "end of all") {
		t.Errorf("the read does not end: %q", n.notes)
	}
}

// budgets notes the tables of requests that were given up as the budget was spent.
type budgets struct {
	mu    sync.Mutex
	spent []string
}

type budgetsKey struct{}

func (b *budgets) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return ctx
}

func (b *budgets) TraceEnd(context.Context, session.OperationEnd) {}

func (b *budgets) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	return context.WithValue(ctx, budgetsKey{}, d.Tables[0])
}

func (b *budgets) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if table, ok := ctx.Value(budgetsKey{}).(string); ok && d.BudgetSpent {
		b.spent = append(b.spent, table)
	}
}

// A base row that is given up is told once.
func TestBudgetOfBaseRows(t *testing.T) {
	t.Parallel()
	f, _ := entered(t, 1, func(int) bool { return false })
	f.before = func(_ context.Context, r attempt) error {
		if ofBase(r) {
			return &gocql.RequestErrUnavailable{}
		}
		return nil
	}
	b := &budgets{}
	r := newReader(f, "shop", traced(b), Parallel(1))
	r.shared.Budget = settings.NewBudget(1, 0)
	r.shared.Budget.Take(1)
	r.retrier = request.NewRetrier(r.policy, r.shared.Budget)
	var failed error
	for _, err := range Read(t.Context(), r, "all", lastEntries(1).Limit(1).Confirm()).All() {
		failed = errors.Join(failed, err)
	}
	if failed == nil || len(b.spent) == 0 {
		t.Fatalf("%v: nothing was given up", failed)
	}
	for _, table := range b.spent {
		if table != "entry_by_id" {
			t.Errorf("told of %q: want base rows alone", b.spent)
		}
	}
}

// lying says that it has more rows than any page.
type lying struct{ fakeAnswer }

func (*lying) NumRows() int { return math.MaxInt32 }

// Memory is made for the rows of a page, whatever their number is in the frame of a server.
func TestCountOfRowsIsNotTrusted(t *testing.T) {
	t.Parallel()
	var p page[struct{ ID int64 }]
	new(decoder[struct{ ID int64 }]).decode(&lying{}, &p)
	if cap(p.rows) > 2*defaultPageSize {
		t.Errorf("room for %d rows", cap(p.rows))
	}
}
