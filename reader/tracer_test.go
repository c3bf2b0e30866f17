package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// noting writes down what it is told.
type noting struct {
	mu    sync.Mutex
	notes []string
}

type notingKey struct{}

func (n *noting) note(ctx context.Context, format string, args ...any) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	within, _ := ctx.Value(notingKey{}).(string)
	n.notes = append(n.notes, fmt.Sprintf(within+format, args...))
	return context.WithValue(ctx, notingKey{}, within+"  ")
}

func (n *noting) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	return n.note(ctx, "read %s of %s, limit %d, continued %v", d.Op, d.Table, d.Limit, d.Continued)
}

func (n *noting) TraceEnd(ctx context.Context, d session.OperationEnd) {
	n.note(ctx, "end of %s: %d partitions, %d rows, %v", d.Op, d.Partitions, d.Rows, d.Err)
}

func (n *noting) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	return n.note(ctx, "partition %d of %s.%s %v", d.Partition, d.Keyspace, d.Tables[0], d.Buckets)
}

func (n *noting) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	n.note(ctx, "end of it: %d rows, %d pages, %d attempts, %q, %v", d.Rows, d.Pages, d.Attempts, d.Reason, d.Err != nil)
}

func (n *noting) TraceRetry(ctx context.Context, d session.Retry) {
	n.note(ctx, "retry after attempt %d, %s", d.Attempt, d.Verdict.Reason)
}

// A tracer hears of the read, of each partition that was asked, and of what was repeated, in their contexts; and of no
// value but buckets. Partitions that nobody waits for any more have not failed.
func TestTracer(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	failed := false
	f.before = func(_ context.Context, r attempt) error {
		if f.mu.Lock(); !failed {
			defer f.mu.Unlock()
			failed = true
			return &gocql.RequestErrReadTimeout{}
		}
		f.mu.Unlock()
		return nil
	}
	n := &noting{}
	r := newReader(f, "shop", traced(n), Parallel(1), quick)
	if _, _, err := List(t.Context(), r, "all", lastHours(set, 1)); err != nil {
		t.Fatal(err)
	}
	if first, last := n.notes[0], n.notes[len(n.notes)-1]; first != "read all of logs, limit 0, continued false" ||
		last != "  end of all: 4 partitions, 60 rows, <nil>" {
		t.Errorf("begins with %q, ends with %q", first, last)
	}
	text := strings.Join(n.notes, "\n")
	for want, times := range map[string]int{
		"\n  partition ": 4, "\n    end of it: ": 4, "\n    retry after attempt 1, read_timeout": 1,
		"shop.logs [{hour 2024-05-01-00} {bucket 3}]": 1, "secret": 0,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q stands %d times, want %d, in\n%s", want, got, times, text)
		}
	}

	n.notes = nil
	f.before = func(ctx context.Context, r attempt) error {
		if r.state == nil {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for _, err := range Read(t.Context(), r.With(PageSize(2), Parallel(8)), "some", lastHours(set, 1)).All() {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if slices.ContainsFunc(n.notes, func(s string) bool {
		return strings.HasSuffix(s, "true") || strings.Contains(s, "canceled")
	}) {
		t.Errorf("a break is told as a failure:\n%s", strings.Join(n.notes, "\n"))
	}
	if _, _, err := List(t.Context(), r, "refused", From(set, "logs")); err == nil {
		t.Error("want a refusal")
	}
	if last := n.notes[len(n.notes)-1]; !strings.Contains(last,
		"end of refused: 0 partitions, 0 rows, denorm: refused: invalid query") {
		t.Errorf("a refusal is told as %q", last)
	}
}
