package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen prints for people: wrapped, indented, and in colour on a terminal. It keeps the first error of its writer.
type screen struct {
	w        io.Writer
	colour   bool
	sections int
	err      error
}

const (
	width  = 100
	margin = "  "
)

func newScreen(f *os.File) *screen {
	terminal := term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{w: f, colour: terminal && os.Getenv("NO_COLOR") == ""}
}

// style is an ANSI colour.
type style string

const (
	bold   style = "1"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (s *screen) styled(text string, st style) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// Write lets a table write to the screen.
func (s *screen) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

func (s *screen) line(text string) { _, _ = io.WriteString(s, text+"\n") } // the screen keeps the error

func (s *screen) blank() { s.line("") }

// heading begins a section, with a text that says what it shows.
func (s *screen) heading(title, text string) {
	s.sections++
	s.blank()
	s.line(s.styled(fmt.Sprintf("%d. %s", s.sections, title), bold))
	s.say("%s", text)
	s.blank()
}

// say prints each line of a text.
func (s *screen) say(format string, args ...any) {
	for l := range strings.Lines(fmt.Sprintf(format, args...)) {
		for _, part := range wrap(margin+strings.TrimRight(l, "\n"), width) {
			s.line(part)
		}
	}
}

// code prints a line of Go.
func (s *screen) code(format string, args ...any) {
	s.line(margin + s.styled(fmt.Sprintf(format, args...), cyan))
}

// ok prints what the demo has checked.
func (s *screen) ok(format string, args ...any) {
	for i, l := range wrap(margin+"ok  "+fmt.Sprintf(format, args...), width) {
		if i == 0 {
			l = strings.Replace(l, "ok", s.styled("ok", green), 1)
		}
		s.line(l)
	}
}

// warn prints what must not be overlooked.
func (s *screen) warn(text string) {
	for _, l := range wrap(margin+text, width) {
		s.line(s.styled(l, yellow))
	}
}

// wrap breaks a line at spaces. What follows is indented to the last column that begins, after two spaces or more, near
// the start of the line.
func wrap(line string, width int) []string {
	const near = 24
	indent := 0
	for i := 0; i+2 < len(line) && i < near; i++ {
		if line[i:i+2] == "  " && line[i+2] != ' ' {
			indent = i + 2
		}
	}
	hanging := strings.Repeat(" ", indent)
	var lines []string
	for utf8.RuneCountInString(line) > width {
		limit := len(string([]rune(line)[:width+1]))
		cut := strings.LastIndexByte(line[:limit], ' ')
		if cut <= indent { // one long word
			cut = indent + strings.IndexByte(line[indent:]+" ", ' ')
			if cut >= len(line) {
				break
			}
		}
		lines = append(lines, strings.TrimRight(line[:cut], " "))
		line = hanging + strings.TrimLeft(line[cut:], " ")
	}
	return append(lines, line)
}

// table prints aligned columns.
func (s *screen) table(rows ...[]string) {
	w := tabwriter.NewWriter(s, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(w, margin+strings.Join(row, "\t")+"\n") // the screen keeps the error
	}
	_ = w.Flush()
}

// number writes 3000 as 3,000.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}
