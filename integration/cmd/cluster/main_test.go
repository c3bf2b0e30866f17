package main

import (
	"os/exec"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func TestExitCodeOfArgumentsThatMakeNoSense(t *testing.T) {
	t.Setenv(cluster.HomeEnv, t.TempDir())
	t.Setenv(cluster.ExternalEnv, "")
	for _, test := range []struct {
		args []string
		want int
	}{
		{nil, 2},
		{[]string{"fly"}, 2},
		{[]string{"up", "-wings"}, 2},
		{[]string{"up", "now"}, 2},
		{[]string{"up", "-nodes", "2"}, 1},
		{[]string{"run"}, 2},
		{[]string{"kill"}, 2},
		{[]string{"kill", "all"}, 2},
		{[]string{"start", "1", "2"}, 2},
		{[]string{"kill", "1"}, 1},
		{[]string{"run", "--", "no-such-command-anywhere"}, 1},
		{[]string{"up", "-h"}, 0},
		{[]string{"help"}, 0},
		{[]string{"status"}, 0},
		{[]string{"down"}, 0},
		{[]string{"jaeger", "-h"}, 0},
		{[]string{"jaeger", "-wings"}, 2},
	} {
		if got := start(test.args); got != test.want {
			t.Errorf("cluster %q exits with %d, want %d", test.args, got, test.want)
		}
	}
}

func TestCommandIsKnownThoughItsArgumentsAreWrong(t *testing.T) {
	t.Setenv(cluster.HomeEnv, t.TempDir())
	for want, args := range map[string][]string{
		"kill: wrong arguments []: see usage":      {"kill"},
		`down: wrong arguments ["now"]: see usage`: {"down", "now"},
		`no command ["fly" "away"]: see usage`:     {"fly", "away"},
	} {
		if _, err := dispatch(t.Context(), args); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

func TestBuildJaeger(t *testing.T) {
	if got := start([]string{"jaeger", "-build"}); got != 0 {
		t.Errorf("it exits with %d", got)
	}
}

func TestExitCodeOfTheCommandIsPassedOn(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -15 $$": 143} {
		cmd := exec.Command("sh", "-c", script)
		if got, err := exitCode(cmd, cmd.Run()); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", script, got, err, want)
		}
	}
}
