package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// screen prints for people: wrapped and indented. It keeps the first error of its writer.
type screen struct {
	w        io.Writer
	sections int
	err      error
}

const (
	width  = 100
	margin = "  "
)

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
	s.line(fmt.Sprintf("%d. %s", s.sections, title))
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
	s.line(margin + fmt.Sprintf(format, args...))
}

// ok prints what the demo has checked.
func (s *screen) ok(format string, args ...any) { s.say("ok  "+format, args...) }

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
