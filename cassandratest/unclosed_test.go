package cassandratest_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// here is the line after the one that calls it.
func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("unclosed_test.go:%d", line+1)
}

// A test that leaves sessions open is told which, and what to do. Without that it ends in a panic, which says neither.
// The test runs in another process, as it fails.
func TestUnclosedSession(t *testing.T) {
	const env = "CASSANDRATEST_UNCLOSED"
	leave := func(t *testing.T, c *cassandratest.Cluster) {
		t.Helper()
		open := func(connect func(*gocql.ClusterConfig) (*gocql.Session, error)) *gocql.Session {
			s, err := connect(session.Configure(c.Config(), ""))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		closed := open(session.Connect)
		defer closed.Close()
		t.Log("plain " + here())
		open(func(config *gocql.ClusterConfig) (*gocql.Session, error) { return config.CreateSession() })
		t.Log("safe " + here())
		s, err := session.Connect(c.Config())
		if err != nil || s.Closed() {
			t.Fatal(err)
		}
		c.Node(2).Vanish()
		c.Node(2).Cut()
	}
	switch os.Getenv(env) {
	case "Test":
		cassandratest.Test(t, 2, leave)
		return
	case "Outer":
		cassandratest.Test(t, 2, func(inner *testing.T, c *cassandratest.Cluster) {
			s, err := session.Connect(session.Configure(c.Config(), ""))
			if err != nil {
				inner.Fatal(err)
			}
			t.Cleanup(s.Close)
		})
		return
	case "Start":
		synctest.Test(t, func(t *testing.T) { leave(t, cassandratest.Start(t, 2)) })
		return
	}
	t.Parallel()
	t.Run("Outer", func(t *testing.T) {
		t.Parallel()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnclosedSession$", "-test.count=1")
		cmd.Env = append(os.Environ(), env+"=Outer")
		text, err := cmd.CombinedOutput()
		const want = "TestUnclosedSession: cassandratest: a session outlives the test; if the process now ends with \"synctest channel from outside " +
			"bubble\", an outer t closes it: close it with the t that the test function was given"
		if err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%v\n%s", err, text)
		}
	})
	for _, start := range []string{"Test", "Start"} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnclosedSession$", "-test.count=1", "-test.v")
			cmd.Env = append(os.Environ(), env+"="+start)
			text, err := cmd.CombinedOutput()
			out := string(text)
			if err == nil || strings.Contains(out, "panic") != (start == "Start") {
				t.Errorf("%v\n%s", err, out)
			}
			for _, session := range []string{"plain ", "safe "} {
				_, at, _ := strings.Cut(out, session)
				at, _, _ = strings.Cut(at, "\n")
				if !strings.Contains(out, "cassandratest: the session opened at "+at+" is still open: close it with the test, by t.Cleanup(session.Close)") {
					t.Errorf("%s%s is not named:\n%s", session, at, out)
				}
			}
			if n := strings.Count(out, "is still open"); n != 2 {
				t.Errorf("%d sessions are said to be open:\n%s", n, out)
			}
		})
	}
}
