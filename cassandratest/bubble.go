package cassandratest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Test runs a test in a bubble of testing/synctest, in virtual time, with its own nodes, as [Start] makes them. It
// closes the nodes after what the test has deferred or given to T.Cleanup. Then virtual time runs on until gocql's
// goroutines have ended. The test must close its sessions: an open one is an error, which says where it was opened. As
// with [synctest.Test], test must not call T.Run, T.Parallel or T.Deadline.
//
// Make contexts, channels, timers and cleanups with the t that test is given. If the outer t made them, they act after
// the end of the bubble. Go then ends the process ("close of synctest channel from outside bubble"). Virtual time
// stands still while the test waits for a channel or timer from outside.
//
// With the race detector, the process has one processor while such tests run: Go 1.26 crashes if timers of one bubble
// fire on two (golang.org/issue/78156). Tests that call [synctest.Test] themselves need go test -race -cpu 1.
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

// opening takes down where a session is opened, when it connects for the first time: gocql does that in the goroutine
// which opens it.
func (c *Cluster) opening(session context.Context) {
	if c.tb == nil { // nobody will be told
		return
	}
	if held(c, func() bool { _, known := c.sessions[session]; return known }) {
		return
	}
	at := caller()
	c.hold(func() { c.sessions[session] = cmp.Or(c.sessions[session], at) })
}

// caller is where a session is being opened, as " at file:line". It is empty where no session is, but a connection of
// one.
func caller() string {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	opens := false
	for {
		f, more := frames.Next()
		driver := strings.HasPrefix(f.Function, "github.com/gocql/gocql.")
		opens = opens || driver && strings.HasSuffix(f.Function, ".NewSession")
		if opens && !driver && !strings.HasPrefix(f.Function, "github.com/denorm-go/denorm/session.") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// unclosed tells of the sessions that nobody has closed.
func (c *Cluster) unclosed(tell func(format string, args ...any)) {
	sessions := held(c, func() map[context.Context]string { return maps.Clone(c.sessions) })
	maps.DeleteFunc(sessions, func(session context.Context, _ string) bool { return session.Err() != nil })
	for _, at := range slices.Sorted(maps.Values(sessions)) {
		tell("cassandratest: the session opened%s is still open: close it with the test, by t.Cleanup(session.Close) right after it is opened, "+
			"with the t that the test function was given", at)
	}
}
