package writer

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// Bound values that the caller changes after a failed Write do not change what Resume sends: neither through a slice,
// a map or a pointer of the row, nor through the row itself.
func TestResumeSendsFrozenValues(t *testing.T) {
	t.Parallel()
	type row struct {
		ID     gocql.UUID
		Group  []byte
		Blob   []byte
		Tags   []string
		Counts map[string]int
		Total  *inf.Dec
		Big    *big.Int
		Name   *string
		Alias  *[]byte
	}
	set := mustSet[row](t, "row",
		tables.Table{Name: "rows", PartKey: []string{"id"}},
		tables.Table{Name: "rows_by_group", PartKey: []string{"group"}, SortKey: []string{"id"}},
		tables.Type("tags", "set<text>"), tables.Type("group", "blob"),
	)
	alias := []byte("alias")
	r := row{
		ID: mustUUID("33333333-5b1c-4c1e-9a51-0123456789ab"), Group: []byte("group"), Blob: []byte("blob"),
		Tags:   []string{"a", "b"},
		Counts: map[string]int{"a": 1}, Total: inf.NewDec(1995, 2), Big: big.NewInt(7), Name: ptr("bob"), Alias: &alias,
	}
	spoil := func() {
		r.Group[0], r.Blob[0], r.Tags[0], r.Counts["b"], *r.Name, alias[0] = 'X', 'X', "X", 2, "eve", 'X'
		r.Total.SetUnscaled(1)
		r.Big.SetInt64(8)
	}
	for _, options := range [][]Option{{Concurrent()}, {Logged()}} {
		x := &fakeExecutor{answer: fail("", errSimple, errSimple)}
		w := fakeWriter(x, once()).With(options...)
		e := failed(t, w, set.Insert(r))
		before := wires(x.sent())
		x.answer = nil
		spoil()
		for range 2 {
			n := len(x.sent())
			if _, err := w.Resume(t.Context(), transport(t, e)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Resume(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			half := n + (len(x.sent())-n)/2
			for _, again := range [][]fanout.Attempt{x.sent()[n:half], x.sent()[half:]} {
				if after := wires(again); !slices.Equal(before, after) {
					t.Errorf("sent\n%s\nresumed\n%s", strings.Join(before, ""), strings.Join(after, ""))
				}
			}
		}
	}
}

// Resume sends what is not known to be applied, and nothing else; tables stay in their order, and attempts add up.
func TestResumeSendsTheRest(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{answer: fail("orders_by_id", errSimple, errSyntax)}
	w := fakeWriter(x, once())
	e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
	res, err := w.Resume(t.Context(), e)
	again := asError(t, err)
	if res.Attempts != 1 || res.Timestamp != e.Timestamp {
		t.Errorf("%+v", res)
	}
	for i, want := range []TableResult{
		{Table: "orders_by_id", Outcome: Unknown, Attempts: 2},
		{Table: "orders_by_user", Outcome: Applied, Attempts: 1},
		{Table: "orders_by_status", Outcome: Applied, Attempts: 1},
	} {
		got := again.Tables[i]
		if got.Table != want.Table || got.Outcome != want.Outcome || got.Attempts != want.Attempts {
			t.Errorf("table %d: %+v, want %+v", i, got, want)
		}
	}
	if outcomes(e)["orders_by_id"] != Unknown || !errors.Is(e, errSimple) || errors.Is(e, errSyntax) {
		t.Errorf("Resume has changed the error it was given: %v", e)
	}
	if !errors.Is(again, errSyntax) {
		t.Errorf("the new error does not say why: %v", again)
	}
	if res, err := w.Resume(t.Context(), again); err != nil || res.Attempts != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if n := len(x.sent()); n != 5 {
		t.Errorf("%d requests, want 3 and twice the one table", n)
	}
}

// A write that is older than half of what a table remembers of its deletes could bring a deleted row back.
func TestResumeExpires(t *testing.T) {
	t.Parallel()
	read := func(_ context.Context, _, table string) (liveTable, error) { //nolint:unparam // the signature is given
		return liveTable{gcGrace: map[string]time.Duration{"orders_by_user": 2 * time.Hour}[table] + time.Hour}, nil
	}
	for name, test := range map[string]struct {
		grace time.Duration // of all tables; 0 is that of read: 1 h, 3 h, 1 h
		limit time.Duration
	}{
		"the smallest counts": {0, 30 * time.Minute},
		"ten days":            {tenDays, tenDays / 2},
		"none at all":         {-1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("orders_by_user", errSimple, errSimple)}
				w := newWriter(x, "shop", read, WithClock(NewClock(time.Now)), once())
				if test.grace != 0 {
					w.live.read = grace(max(0, test.grace))
				}
				e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
				time.Sleep(test.limit)
				_, err := w.Resume(t.Context(), e)
				if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrExpired) {
					t.Errorf("at the limit: %v", err)
				}
				time.Sleep(time.Microsecond)
				n := len(x.sent())
				_, err = w.Resume(t.Context(), e)
				old := asError(t, err)
				if !errors.Is(err, ErrExpired) || errors.Is(err, ErrInvalid) || len(x.sent()) > n {
					t.Errorf("above it: %v, %d sent", err, len(x.sent())-n)
				}
				if !errors.Is(err, ErrPartial) || !errors.Is(err, ErrUnknown) || old.NotApplied() || len(old.Tables) != 3 {
					t.Errorf("what is known of the tables is forgotten: %v", old.Tables)
				}
				if _, err := w.Resume(t.Context(), transport(t, old)); !errors.Is(err, ErrExpired) {
					t.Errorf("again: %v", err)
				}
			})
		})
	}
}

// Until the schema can be read it is not known whether the write is too old, so it waits.
func TestResumeInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		read := func(context.Context, string, string) (liveTable, error) {
			if down {
				return liveTable{}, gocql.ErrNoConnections
			}
			return liveTable{gcGrace: tenDays}, nil
		}
		x := &fakeExecutor{answer: fail("orders_by_user", errSimple)}
		w := newWriter(x, "shop", read, once())
		e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
		_, err := w.Resume(t.Context(), e)
		again := asError(t, err)
		if !errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, ErrInvalid) || !errors.Is(err, ErrPartial) ||
			!errors.Is(err, ErrUnknown) {
			t.Errorf("%v", err)
		}
		if got := outcomes(again); got["orders_by_user"] != Unknown || got["orders_by_id"] != Applied || len(x.sent()) != 3 {
			t.Errorf("%v, %d sent", got, len(x.sent()))
		}
		down = false
		if res, err := w.Resume(t.Context(), again); err != nil || res.Attempts != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// What is too old for any table ends also while nothing is known of its own: for a table that is gone the default
// counts. Younger ones wait, as do those of a table that may keep deletes for longer.
func TestResumeOfATableThatIsGone(t *testing.T) {
	t.Parallel()
	item := newItem()
	item.Version = entity.Version(earliest, 1)
	counted := item
	counted.Count++
	gone := func(tables ...string) func(string) (liveTable, error) {
		return func(table string) (liveTable, error) {
			if len(tables) == 0 || slices.Contains(tables, table) {
				return liveTable{}, errNoTable
			}
			return liveTable{gcGrace: 6 * tenDays}, nil
		}
	}
	unread := func(string) (liveTable, error) { return liveTable{}, gocql.ErrNoConnections }
	none := func(string) (liveTable, error) { return liveTable{}, nil }
	for name, test := range map[string]struct {
		live   func(table string) (liveTable, error)
		change tables.Change
		limit  time.Duration
		want   string // until then
		later  string
	}{
		"all tables": {
			gone(), orderSet(t).Insert(newOrder(Open)), tenDays / 2, "no such table",
			"the cluster has no table orders_by_id, and others keep",
		},
		"one of them": {
			gone("orders_by_status"), orderSet(t).Insert(newOrder(Open)), tenDays / 2,
			"no such table", "no table orders_by_status",
		},
		"of Compare": {
			gone(), seatSet(t).Update(item, counted), tenDays / 2, "no such table",
			"no table seats",
		},
		"of Versioned": {gone("items"), itemSet(t).Delete(item), tenDays / 2, "no such table", "no table items"},
		"insert with a condition": {
			unread, itemSet(t).Insert(item), oldestInsert, "no hosts available",
			"table items keeps deletes for 24h",
		},
		"schema that is not read": {
			unread, orderSet(t).Insert(newOrder(Open)), maxGrace / 2, "no hosts available",
			"tables keep deletes at most for",
		},
		"a strict batch, no grace": {
			none, orderSet(t).Insert(newOrder(Open)), leastAge, "gc_grace_seconds",
			"keeps deletes for 0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now := time.Now
				options := []NewOption{WithClock(NewClock(func() time.Time { return now() })), once()}
				if strings.Contains(name, "strict") {
					options = append(options, Logged())
				}
				w, x, e := conditional([]scripted{{err: errLost}}, options...)
				e.answer = fail("", errSimple, errSimple, errSimple)
				_, err := w.Write(t.Context(), "test", test.change)
				stored := transport(t, asError(t, err))
				asked, sent := x.asked(), len(e.sent())
				w.live.known.Store(nil)
				w.live.read = func(_ context.Context, _, table string) (liveTable, error) { return test.live(table) }
				start := time.Now()
				for _, age := range []time.Duration{0, test.limit, test.limit + time.Second} {
					now = func() time.Time { return start.Add(age) }
					_, err := w.Resume(t.Context(), stored)
					over := age > test.limit
					if want := test.want; errors.Is(err, ErrExpired) != over || !over && !strings.Contains(err.Error(), want) ||
						over && !strings.Contains(err.Error(), test.later) {
						t.Errorf("after %v: %v", age, err)
					}
					if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrInvalid) || x.asked() != asked || len(e.sent()) != sent {
						t.Errorf("after %v: %v, asked %q, sent %d", age, err, x.asked(), len(e.sent()))
					}
				}
			})
		})
	}
}

// The clock was an hour ahead at the write, and was put right. A process that resumes the error, stored or not, would
// shut out the others for that hour. Once it has passed, Resume sends the write.
func TestResumeAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ahead := now.Add(time.Hour)
	x := &fakeExecutor{answer: fail("", errSimple, errSimple)}
	w := fakeWriter(x, once(), WithClock(NewClock(func() time.Time { return ahead })))
	e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
	x.answer, ahead = nil, now
	sent := len(x.sent())
	for name, e := range map[string]*Error{"stored": transport(t, e), "at hand": e} {
		_, err := w.Resume(t.Context(), e)
		var kept *Error
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &kept) || !kept.Resumable() ||
			!strings.Contains(err.Error(), "ahead of this clock") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(x.sent()) - sent; n > 0 {
		t.Errorf("%d requests", n)
	}
	ahead = now.Add(time.Hour)
	if _, err := w.Resume(t.Context(), e); err != nil {
		t.Error(err)
	}
}

// manyRequests is a stored error of n rows, each in a partition of its own, that expire in an hour.
func manyRequests(t *testing.T, n int) *Error {
	t.Helper()
	set := taskSet(t, tables.ExpiresAt("ends"))
	w := wireError{Op: "op", Timestamp: time.Now().UnixMicro(), Mode: FanOut, Paths: make([]wirePath, n)}
	for i := range w.Paths {
		task := newTask(fmt.Sprintf("worker%d", i))
		task.Ends = ptr(time.Now().Add(time.Hour))
		r, err := set.Insert(task).Internal().Render(w.Timestamp, func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Mutations[len(r.Mutations)-1].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		w.Paths[i] = wirePath{Outcome: Unknown, Mutations: [][]byte{data}}
	}
	e := new(Error)
	if err := e.UnmarshalBinary(sealed(w)); err != nil {
		t.Fatal(err)
	}
	return e
}

// Of a Resume of many requests a bounded number is under way at any time, and each is sent as if it were alone: with an
// attempt of full length and the TTL of its moment, whatever became of the others.
func TestResumeOfManyRequestsIsBounded(t *testing.T) {
	t.Parallel()
	const n = 1000
	synctest.Test(t, func(t *testing.T) {
		e := manyRequests(t, n)
		var under, most, failed atomic.Int32
		x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
			if now := under.Add(1); now > most.Load() {
				most.Store(now)
			}
			defer under.Add(-1)
			if end, ok := ctx.Deadline(); !ok || time.Until(end) != time.Second {
				t.Errorf("an attempt of %v", time.Until(end))
			}
			if r.Now != time.Now().UnixMilli() {
				t.Errorf("a TTL as of %v", time.Until(time.UnixMilli(r.Now)))
			}
			time.Sleep(10 * time.Millisecond)
			if failed.Add(1)%10 == 0 {
				return errUnavailable
			}
			return nil
		}}
		w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Second}))
		result, err := w.Resume(t.Context(), e)
		if most.Load() != resumeWidth || len(x.sent()) != n || result.Attempts != n {
			t.Errorf("%d requests, %d by the result, up to %d under way", len(x.sent()), result.Attempts, most.Load())
		}
		open := 0
		for _, p := range asError(t, err).requests {
			if p.Outcome != Applied {
				open++
			}
			if p.Attempts != 1 || (p.Outcome == Applied) != (p.Err == nil) {
				t.Errorf("%v after %d attempts: %v", p.Outcome, p.Attempts, p.Err)
			}
		}
		if open != n/10 {
			t.Errorf("%d of %d are open", open, n)
		}
		x.answer = nil
		if result, err := w.Resume(t.Context(), asError(t, err)); err != nil || result.Attempts != n/10 {
			t.Errorf("resumed again: %d requests, %v", result.Attempts, err)
		}
	})
}

// What has not begun when the call ends is not sent any more, and stays as it was.
func TestResumeOfManyRequestsEndsInTime(t *testing.T) {
	t.Parallel()
	const n = 3 * resumeWidth
	synctest.Test(t, func(t *testing.T) {
		e := manyRequests(t, n)
		x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		start := time.Now()
		w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Second}), Timeout(1500*time.Millisecond))
		_, err := w.Resume(t.Context(), e)
		if took := time.Since(start); took > 2*time.Second || !errors.Is(err, ErrUnknown) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
		sent := 0
		for _, p := range asError(t, err).requests {
			if sent += p.Attempts; p.Outcome != Unknown || p.Err == nil {
				t.Errorf("%v after %d attempts: %v", p.Outcome, p.Attempts, p.Err)
			}
		}
		time.Sleep(time.Minute)
		if sent != 2*resumeWidth || len(x.sent()) != sent {
			t.Errorf("%d requests, %d by the error", len(x.sent()), sent)
		}
	})
}

// A write that a zero writer cannot resume is still to be finished: the error says so, and another writer resumes it.
func TestZeroWriterKeepsTheError(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}, once())
	e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
	_, err := new(Writer).Resume(t.Context(), e)
	var kept *Error
	if !errors.As(err, &kept) || !errors.Is(err, errUnmade) || !kept.Resumable() || kept.NotApplied() {
		t.Fatalf("%v", err)
	}
	if _, err := fakeWriter(&fakeExecutor{}).Resume(t.Context(), kept); err != nil {
		t.Error(err)
	}
}

// Nothing is known of a write of which there is no error, whatever else keeps Resume from it.
func TestResumeOfNothingIsUnknown(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{})
	var none context.Context
	for name, resume := range map[string]func() error{
		"by itself":         func() error { _, err := w.Resume(t.Context(), nil); return err },
		"without a context": func() error { _, err := w.Resume(none, nil); return err },
		"a bad option":      func() error { _, err := w.With(Timeout(-1)).Resume(t.Context(), nil); return err },
		"not decoded":       func() error { _, err := w.With(Timeout(-1)).Resume(t.Context(), new(Error)); return err },
		"a zero writer":     func() error { _, err := new(Writer).Resume(t.Context(), nil); return err },
	} {
		err := resume()
		var failed *Error
		if !errors.As(err, &failed) || failed.NotApplied() || OutcomeOf(err) != Unknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := OutcomeOf((*Error)(nil)); got != Unknown {
		t.Errorf("an error that holds nothing: %v", got)
	}
}
