package main

import "testing"

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"-h"}, 0},
		{[]string{"-wings"}, 2},
		{[]string{"-build"}, 0},
	} {
		if got := start(test.args); got != test.want {
			t.Errorf("jaeger %q exits with %d, want %d", test.args, got, test.want)
		}
	}
}
