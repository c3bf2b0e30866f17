package cluster

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestKeyspaceName(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	for _, test := range []string{"TestA", "TestMove/from open to#01", "Test" + strings.Repeat("Ü", 60), ""} {
		name := keyspaceName(test)
		if !valid.MatchString(name) {
			t.Errorf("keyspaceName(%q) = %q", test, name)
		}
		if name == keyspaceName(test) {
			t.Errorf("keyspaceName(%q) is not unique", test)
		}
	}
	if name := keyspaceName("TestMove/x"); !strings.HasSuffix(name, "_testmove_x") {
		t.Errorf("%q does not show its test", name)
	}
}

// A test without a cluster must fail, not be skipped, and say how to get one.
func TestHostsFailsWithoutACluster(t *testing.T) {
	t.Setenv(TestHostsEnv, "")
	spy := &spyTB{TB: t}
	func() {
		defer func() { _ = recover() }()
		Hosts(spy)
	}()
	if !strings.Contains(spy.fatal, "make test") || !strings.Contains(spy.fatal, "go run ./cmd/cluster") {
		t.Errorf("failed with %q", spy.fatal)
	}
	t.Setenv(TestHostsEnv, "a,b:1")
	if got := Hosts(t); strings.Join(got, ",") != "a,b:1" {
		t.Errorf("Hosts = %q", got)
	}
}

// spyTB catches what a test would fail with.
type spyTB struct {
	testing.TB
	fatal string
}

func (s *spyTB) Helper() {}

func (s *spyTB) Fatalf(format string, args ...any) {
	s.fatal = strings.TrimSpace(fmt.Sprintf(format, args...))
	panic("fatal")
}

// Keyspaces are left only on nodes that end with the run.
func TestEndWithRun(t *testing.T) {
	home, hosts := t.TempDir(), []string{"127.0.0.1"}
	t.Setenv(HomeEnv, home)
	if endWithRun(hosts) {
		t.Error("there is no cluster")
	}
	for name, test := range map[string]struct {
		state state
		want  bool
	}{
		"started for the run":   {state{Hosts: hosts, Volatile: true}, true},
		"tests stop its nodes":  {state{Hosts: hosts}, false},
		"it stays up":           {state{Hosts: hosts, Volatile: true, Keep: true}, false},
		"the tests use another": {state{Hosts: []string{"127.0.0.2"}, Volatile: true}, false},
		"others beside it":      {state{Hosts: loopbacks(3), Volatile: true}, false},
	} {
		if err := test.state.save(home); err != nil {
			t.Fatal(err)
		}
		if got := endWithRun(hosts); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
