package main

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

// What is not understood is rejected before anything starts: a cluster is not brought up for a mistyped flag.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args      []string
		inProcess bool
		wrong     string
	}{
		{args: nil},
		{args: []string{"-in-process"}, inProcess: true},
		{args: []string{"in-process"}, wrong: `unexpected argument "in-process"`},
		{args: []string{"-in-process", "foo"}, wrong: `unexpected argument "foo"`},
		{args: []string{"-foo"}, wrong: "-foo"},
		{args: []string{"-h"}, wrong: flag.ErrHelp.Error()},
	} {
		var b strings.Builder
		inProcess, err := parse(test.args, &b)
		if test.wrong == "" {
			if err != nil || inProcess != test.inProcess || b.Len() > 0 {
				t.Errorf("%q: %v, %v, %q", test.args, inProcess, err, b.String())
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.wrong) || !strings.Contains(b.String(), "Usage of demo") {
			t.Errorf("%q: %v, %q", test.args, err, b.String())
		}
		if help := errors.Is(err, flag.ErrHelp); !help && !strings.Contains(b.String(), test.wrong) {
			t.Errorf("%q: the output does not say what is wrong: %q", test.args, b.String())
		}
	}
}
