package main

import (
	"testing"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"-h"}, 0},
		{[]string{"-wings"}, 2},
		{[]string{"-build"}, 0},
		{[]string{"--", "no-such-command-anywhere"}, 1},
		{[]string{"-otlp", "0", "-web", "0", "--", "sh", "-c", "exit 7"}, 7},
		{[]string{"-otlp", "0", "-web", "0", "--", "sh", "-c", `test -n "$` + jaeger.URLEnv + `" -a -n "$` + jaeger.OTLPEnv + `"`}, 0},
	} {
		if got := start(test.args); got != test.want {
			t.Errorf("jaeger %q exits with %d, want %d", test.args, got, test.want)
		}
	}
}
