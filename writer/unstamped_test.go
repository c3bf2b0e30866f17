package writer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// An order is inserted by a clock that is ahead, and paid by a process whose clock is behind from a row that it built without the
// stamp. The update was acknowledged, and older than the row: it changed nothing.
func TestForgottenStampOfASlowClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	x := &fakeExecutor{}
	fast, slow := fakeWriter(x, WithClock(fixed(now.Add(time.Second)))), fakeWriter(x, WithClock(fixed(now)))
	set := orderSet(t)
	created := newOrder(Open)
	created.UpdatedAt = 0
	res, err := fast.Write(t.Context(), "createOrder", set.Insert(created))
	if err != nil {
		t.Fatal(err)
	}
	sent := len(x.sent())
	paid := created
	paid.Status = Paid
	for _, change := range []tables.Change{set.Update(created, paid), set.Delete(created)} {
		_, err := slow.Write(t.Context(), "payOrder", change)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Result.Timestamp") || !strings.Contains(err.Error(), "UnstampedRows()") {
			t.Errorf("%s: %v, want ErrInvalid that says what to do", change, err)
		}
	}
	if len(x.sent()) != sent {
		t.Error("something was sent")
	}
	old := orderSet(t, tables.UnstampedRows())
	if _, err := slow.Write(t.Context(), "payOrder", old.Update(created, paid)); err != nil {
		t.Errorf("where rows have no stamp: %v", err)
	}
	set.SetStamp(&created, res.Timestamp)
	second, err := slow.Write(t.Context(), "payOrder", set.Update(created, paid))
	if err != nil || second.Timestamp <= res.Timestamp {
		t.Errorf("at %d, after the row at %d: %v", second.Timestamp, res.Timestamp, err)
	}
}

// A stamp in nanoseconds is no clock that is wrong.
func TestStampInNanoseconds(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	o := newOrder(Open)
	o.UpdatedAt = time.Now().UnixNano()
	_, err := fakeWriter(x).Write(t.Context(), "payOrder", orderSet(t).Update(o, newOrder(Paid)))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "in nanoseconds: it must be in microseconds") || len(x.sent()) != 0 {
		t.Errorf("%v, want ErrInvalid that names the unit", err)
	}
}
