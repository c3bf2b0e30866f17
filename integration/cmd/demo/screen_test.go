package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
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
	s := &screen{w: &b}
	s.table([]string{"table", "n", "error"}, []string{"orders", "1", "-"}, []string{"by_µ", "10", "a text"})
	want := "  table   n   error\n  orders  1   -\n  by_µ    10  a text\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A broken pipe must end the demo, not be written to for the rest of it.
func TestScreenKeepsTheError(t *testing.T) {
	t.Parallel()
	w := &brokenWriter{}
	s := &screen{w: w}
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

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 3000: "3,000", 1234567: "1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
