// Package cost measures what it takes to read bytes that somebody else may have written.
package cost

import (
	"runtime"
	"testing"
	"time"
)

// Of returns how many bytes the process allocates while f runs, and how long f keeps a processor busy.
func Of(f func()) (allocated uint64, spent time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := now()
	f()
	spent = now() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, spent
}

// Bound fails a fuzz test if f, which reads n bytes, allocates more than 64 KiB and perByte for each of them, or keeps
// a processor busy for more than 50 ms and 2 µs for each of them, each of three times: what a virtual machine takes of
// a processor counts. The race detector makes both larger, so that it only runs f.
func Bound(t *testing.T, n, perByte int, f func()) {
	t.Helper()
	if race {
		f()
		return
	}
	var allocated uint64
	var spent time.Duration
	for range 3 {
		if allocated, spent = Of(f); allocated <= uint64(64<<10+perByte*n) &&
			spent <= 50*time.Millisecond+time.Duration(n)*2*time.Microsecond {
			return
		}
	}
	t.Errorf("%d bytes allocate %d, and take %v", n, allocated, spent)
}
