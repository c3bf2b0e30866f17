package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line string
		want []string
	}{
		"fits":            {"short", []string{"short"}},
		"exactly":         {"123456789 123456789 ", []string{"123456789 123456789 "}},
		"at a space":      {"one two three four five", []string{"one two three four", "five"}},
		"under a column":  {"mode  one two three four", []string{"mode  one two three", "      four"}},
		"indented":        {"    one two three four", []string{"    one two three", "    four"}},
		"a long word":     {"123456789_123456789_123456789 x", []string{"123456789_123456789_123456789", "x"}},
		"only long words": {"  123456789_123456789_123456789", []string{"  123456789_123456789_123456789"}},
		"characters":      {"µµµµµµµµµµ µµµµµµµµµ", []string{"µµµµµµµµµµ µµµµµµµµµ"}},
		"empty":           {"", []string{""}},
	} {
		if got := wrap(test.line, 20); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := &screen{w: &b, width: 40}
	s.table([]string{"table", "n", "error"}, []bool{1: true}, [][]cell{
		{{"orders", red}, {"1", plain}, {"-", plain}},
		{{"by_µ", plain}, {"10", plain}, {"a text that\nis longer than the screen", plain}},
	})
	want := "  table    n  error\n  orders   1  -\n  by_µ    10  a text that is longer t...\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A broken pipe must end the demo, not be written to for the rest of it.
func TestScreenKeepsTheError(t *testing.T) {
	t.Parallel()
	w := &brokenWriter{}
	s := &screen{w: w, width: 80}
	s.say("one")
	s.say("two")
	if !errors.Is(s.err, errBroken) || w.writes != 1 {
		t.Errorf("error %v after %d writes, want %v after 1", s.err, w.writes, errBroken)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{ writes int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errBroken
}

// Who pipes the output into a file wants no progress in it, however long a phase takes.
func TestNoProgressWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var b strings.Builder
			s := &screen{w: &b, width: 80, terminal: terminal}
			bar := s.progress("measuring", 10)
			for range 10 {
				<-time.After(time.Hour)
				bar.add()
			}
			s.clear()
			if shown := b.Len() > 0; shown != terminal {
				t.Errorf("terminal %v, and the output is %q", terminal, b.String())
			}
		})
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 3000: "3,000", 1234567: "1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
