package session

import (
	"runtime"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// A session has one of the two uses, and what is known of it ends with it.
func TestUses(t *testing.T) {
	t.Parallel()
	one, two := &gocql.Session{}, &gocql.Session{}
	for range 2 {
		if err := note(one, true, errReads); err != nil {
			t.Error(err)
		}
		if err := note(two, false, errWrites); err != nil {
			t.Error(err)
		}
	}
	if note(one, false, errWrites) == nil || note(two, true, errReads) == nil {
		t.Error("one session writes and reads")
	}
	if err := note(nil, true, errReads); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(one)
	runtime.KeepAlive(two)
	for range 1000 {
		runtime.GC()
		left := 0
		roles.Range(func(any, any) bool { left++; return true })
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("sessions that are gone are still known")
}
