package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// screen prints for people: wrapped, indented, in colour if it is a terminal that wants colours. It keeps the first
// error of its writer.
type screen struct {
	w        io.Writer
	terminal bool // which can move its cursor
	colour   bool
	width    int
	sections int
	bar      *progressbar.ProgressBar // on the last line, or nil
	err      error
}

const (
	maxWidth = 100
	minWidth = 60
	margin   = "  "
)

func newScreen(f *os.File) *screen {
	fd := int(f.Fd())
	s := &screen{w: f, terminal: term.IsTerminal(fd) && os.Getenv("TERM") != "dumb", width: maxWidth}
	s.colour = s.terminal && os.Getenv("NO_COLOR") == ""
	if s.terminal {
		if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
			s.width = max(minWidth, min(columns, maxWidth))
		}
	}
	return s
}

// style is an ANSI colour, or nothing.
type style string

const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (s *screen) styled(text string, st style) string {
	if !s.colour || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// Write lets a progress bar write to the screen.
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

// heading begins a section, with a sentence that says what it shows.
func (s *screen) heading(title, sentence string) {
	s.blank()
	if sentence != "" {
		s.sections++
		title = fmt.Sprintf("%d. %s", s.sections, title)
	}
	rule := strings.Repeat("-", max(3, s.width-utf8.RuneCountInString(title)-4))
	s.line(s.styled("-- "+title+" "+rule, bold))
	for _, l := range wrap(sentence, s.width) {
		s.line(l)
	}
	if sentence != "" {
		s.blank()
	}
}

// say prints a paragraph.
func (s *screen) say(format string, args ...any) {
	for _, l := range wrap(margin+fmt.Sprintf(format, args...), s.width) {
		s.line(l)
	}
}

// code prints a line of Go, which may end in a comment.
func (s *screen) code(format string, args ...any) {
	code, comment, found := strings.Cut(fmt.Sprintf(format, args...), "//")
	if found {
		comment = s.styled("//"+comment, faint)
	}
	s.line(margin + s.styled(code, cyan) + comment)
}

// ok prints something that the demo has checked.
func (s *screen) ok(format string, args ...any) {
	for i, l := range wrap(margin+"ok  "+fmt.Sprintf(format, args...), s.width) {
		if i == 0 {
			l = strings.Replace(l, "ok", s.styled("ok", green), 1)
		}
		s.line(l)
	}
}

// warn prints what must not be overlooked.
func (s *screen) warn(format string, args ...any) {
	for _, l := range wrap(margin+fmt.Sprintf(format, args...), s.width) {
		s.line(s.styled(l, yellow))
	}
}

// text prints lines as they are, but for wrapping.
func (s *screen) text(text string) {
	for l := range strings.Lines(text) {
		for _, part := range wrap(margin+strings.TrimRight(l, "\n"), s.width) {
			s.line(part)
		}
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

// cell is one field of a table.
type cell struct {
	text  string
	style style
}

// table prints aligned columns. head may be nil, and right says which columns are numbers. The last column is cut where
// the screen ends.
func (s *screen) table(head []string, right []bool, rows [][]cell) {
	if head != nil {
		first := make([]cell, len(head))
		for i, h := range head {
			first[i] = cell{h, faint}
		}
		rows = append([][]cell{first}, rows...)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		used := len(margin)
		for i, c := range row {
			if i == len(row)-1 {
				c.text = shorten(c.text, max(8, s.width-used))
			}
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c.text)))
			if i < len(right) && right[i] {
				b.WriteString(pad + s.styled(c.text, c.style) + "  ")
			} else {
				b.WriteString(s.styled(c.text, c.style) + pad + "  ")
			}
			used += widths[i] + 2
		}
		s.line(margin + strings.TrimRight(b.String(), " "))
	}
}

// shorten cuts a text to a number of characters.
func shorten(text string, length int) string {
	runes := []rune(oneLine(text))
	if len(runes) <= length {
		return string(runes)
	}
	return string(runes[:length-3]) + "..."
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
