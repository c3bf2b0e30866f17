package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *lock {
		l, err := openLock(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.close)
		return l
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first, second, third := open(), open(), open()
	must(first.share())
	must(second.share())
	if err := third.try(); !errors.Is(err, errHeld) {
		t.Fatalf("exclusive beside two shared: %v", err)
	}
	must(first.unlock())
	second.close()
	must(third.try())

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := first.acquire(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("acquire of a held lock: %v", err)
	}
	must(third.unlock())
	must(first.acquire(t.Context(), nil))
}

func TestLockTellsWhoWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.close()
	waiter, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.close()
	if err := holder.try(); err != nil {
		t.Fatal(err)
	}
	told := 0
	err = waiter.acquire(t.Context(), func() {
		told++
		_ = holder.unlock()
	})
	if err != nil || told != 1 {
		t.Errorf("acquire: %v, told %d times", err, told)
	}
}
