package cost

import (
	"syscall"
	"time"
)

// now is the processor time of the thread, so that other load does not count.
func now() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
