package cassandratest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// opening takes down where a session is opened, when it connects for the first time: gocql does that in the goroutine which opens it.
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

// caller is where a session is being opened, as " at file:line". It is empty where no session is, but a connection of one.
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
