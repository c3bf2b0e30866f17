package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	infoLine  = "INFO  [main] 2026-11-25 00:00:42,123 Server.java:158 - Starting\n"
	warnLine  = "WARN  [Native-Transport-Requests-1] 2026-11-25 00:00:43,123 BatchStatement.java:375 - Batch for [k.t] is of size 6KiB\n"
	errorText = "ERROR [MutationStage-1] 2026-11-25 00:00:44,123 JVMStabilityInspector.java:70 - Exception\njava.lang.RuntimeException: WARN [\n\tat A.b\n"
)

// markHome makes a directory of state with nodes, and a log of each.
func markHome(t *testing.T, s state) (log func(node int) string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv(HomeEnv, home)
	s.Nodes, s.Hosts = 2, loopbacks(2)
	if err := s.save(home); err != nil {
		t.Fatal(err)
	}
	log = func(node int) string { return filepath.Join(localNode{home, node}.dir(), "log", "system.log") }
	for node := 1; node <= 2; node++ {
		if err := os.MkdirAll(filepath.Dir(log(node)), 0o700); err != nil {
			t.Fatal(err)
		}
		appendTo(t, log(node), infoLine+warnLine)
	}
	return log
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func checkWarnings(t *testing.T, m *LogMark, first, second []string) {
	t.Helper()
	got := m.Warnings(t)
	if len(got) != 2 || !slices.Equal(got[0], first) || !slices.Equal(got[1], second) {
		t.Errorf("warnings %q, want %q and %q", got, first, second)
	}
}

// What was logged before the mark is not told, and an exception is one entry. It is an error if a log was full and
// renamed.
func TestLogMark(t *testing.T) {
	log := markHome(t, state{Mode: Local})
	m, err := markLogs(t.Context(), loopbacks(2))
	if err != nil {
		t.Fatal(err)
	}
	checkWarnings(t, m, nil, nil)
	appendTo(t, log(2), infoLine+errorText+infoLine)
	checkWarnings(t, m, nil, []string{errorText})
	if err := os.Rename(log(2), log(2)+".1"); err != nil { // as logback does
		t.Fatal(err)
	}
	for _, text := range []string{infoLine, infoLine + warnLine + infoLine} { // shorter than it was, then longer
		appendTo(t, log(2), text)
		if _, err := m.since(t.Context(), 2); err == nil {
			t.Error("a part of the log is gone, and nobody is told")
		}
	}
}

func TestLogMarkOfContainers(t *testing.T) {
	markHome(t, state{Mode: Compose, Compose: "some.yml"})
	log := filepath.Join(t.TempDir(), "log")
	appendTo(t, log, warnLine)
	calls := fakeDocker(t, "cat '"+log+"'; echo 'WARN  [compose] the attribute is obsolete' >&2")
	m, err := markLogs(t.Context(), loopbacks(2))
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, log, infoLine+errorText)
	checkWarnings(t, m, []string{errorText}, []string{errorText})
	if want := "compose -f some.yml --profile three logs --no-color --no-log-prefix cassandra2"; !strings.Contains(calls(), want) {
		t.Errorf("%s\nwant %s", calls(), want)
	}
}

// The logs of a cluster that somebody else has started are not to be had, and nothing is said of them.
func TestLogMarkElsewhere(t *testing.T) {
	markHome(t, state{Mode: Local})
	if _, err := markLogs(t.Context(), []string{"10.0.0.1"}); err == nil || !strings.Contains(err.Error(), ExternalEnv) {
		t.Error(err)
	}
}
