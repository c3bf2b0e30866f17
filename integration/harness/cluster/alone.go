package cluster

import (
	"io"
	"sync/atomic"
	"syscall"
	"testing"
)

// faultsLock is locked shared by every test that uses the cluster and exclusively by one that takes nodes away, so that
// two runs at once do not fail each other's tests.
const faultsLock = "faults.lock"

// isAlone says that a test of this process has the cluster to itself, so that its own sessions do not wait for it.
var isAlone atomic.Bool

// Alone waits until no other test uses the cluster, in this process or another, and keeps others from it until the test
// ends. It is for tests that stop nodes; they must not run in parallel with others, and call it first.
func Alone(tb testing.TB) {
	tb.Helper()
	lockFaults(tb, syscall.LOCK_EX)
	isAlone.Store(true)
	tb.Cleanup(func() { isAlone.Store(false) })
}

// share waits until no other process has the cluster to itself.
func share(tb testing.TB) {
	tb.Helper()
	if !isAlone.Load() {
		lockFaults(tb, syscall.LOCK_SH)
	}
}

func lockFaults(tb testing.TB, how int) {
	tb.Helper()
	release, err := lockNodes(how)
	must(tb, err, "lock the nodes")
	tb.Cleanup(release)
}

// Share keeps tests that stop nodes away from the cluster until release is called, and waits for one that runs. It is for
// commands that measure.
func Share() (release func(), err error) { return lockNodes(syscall.LOCK_SH) }

func lockNodes(how int) (release func(), err error) {
	h, err := New(io.Discard)
	if err != nil {
		return nil, err
	}
	l, err := openLock(h.path(faultsLock))
	if err != nil {
		return nil, err
	}
	if err := l.flock(how); err != nil {
		l.close()
		return nil, err
	}
	return l.close, nil // which unlocks it
}
