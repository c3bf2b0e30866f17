package cassandratest

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Test runs a test in a bubble of testing/synctest, in virtual time, with its own nodes like those of [Start]. It ends the bubble
// properly: it closes the nodes after everything that the test has deferred or given to T.Cleanup, and lets virtual time run on until
// gocql's goroutines have ended, too. The test must close the sessions that it opens: one that is still open is an error of the test,
// which says where it was opened. Close them with the t that test is given: the Cleanup of an outer t runs after the end of the
// bubble, and Go then ends the process. As with [synctest.Test], test must not call T.Run, T.Parallel or T.Deadline.
//
// Make contexts, channels and timers inside test as well, and derive contexts from T.Context of the t that it is given. If a context
// from outside, such as T.Context of the outer t, is canceled after the end of the bubble, Go ends the process ("close of synctest
// channel from outside bubble"). Virtual time stands still while the test waits for a channel or timer from outside.
//
// With the race detector, the process has one processor while such tests run: Go 1.26 crashes if timers of one bubble fire on two
// (golang.org/issue/78156). Tests that call [synctest.Test] themselves need go test -race -cpu 1.
func Test(t *testing.T, nodes int, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	if racing {
		defer bubbles.begin()()
	}
	unclosed := false
	defer func() {
		if unclosed && recover() != nil { // the goroutines of the session keep the bubble from ending, which the test's error is for
			// An outer Cleanup that closes the session ends the process, before the test's error is printed.
			_, _ = fmt.Fprintf(os.Stderr, "%s: cassandratest: a session outlives the test; if the process now ends with \"synctest channel from "+
				"outside bubble\", an outer t closes it: close it with the t that the test function was given\n", t.Name())
			t.FailNow()
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		t.Cleanup(func() { <-time.After(10 * time.Minute) }) // first, so that it comes last
		test(t, start(t, nodes, func(format string, args ...any) {
			unclosed = true
			t.Errorf(format, args...)
		}))
	})
}

var bubbles processors

// processors are those that there were before the first of some tests began that must have one only.
type processors struct {
	mu       sync.Mutex
	tests    int
	original int
}

// begin leaves one processor until the test, and all others that have begun, have ended.
func (p *processors) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tests++; p.tests == 1 {
		p.original = runtime.GOMAXPROCS(1)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.tests--; p.tests == 0 {
			runtime.GOMAXPROCS(p.original)
		}
	}
}
