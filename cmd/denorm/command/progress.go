package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"

	"github.com/denorm-go/denorm/reconcile"
)

// progressLine says how far a run is: one line that is written again on a terminal, otherwise a line every 10 s. A wait
// is said once.
type progressLine struct {
	out      io.Writer
	terminal bool
	what     string
	began    time.Time
	last     time.Time // when a line was written
	waits    string    // why nothing was read then
}

const betweenLines = 10 * time.Second

func newProgressLine(out io.Writer, terminal func(io.Writer) bool, what string) *progressLine {
	now := time.Now()
	return &progressLine{out: out, terminal: terminal(out), what: what, began: now, last: now}
}

// show is for [reconcile.OnProgress].
func (l *progressLine) show(p reconcile.Progress) {
	now := time.Now()
	switch {
	case l.terminal:
		fmt.Fprint(l.out, "\r", fitting(l.out, l.text(p, now.Sub(l.began))), "\x1b[K") //nolint:errcheck // nobody may be looking
	case now.Sub(l.last) >= betweenLines && (p.Waits == "" || p.Waits != l.waits):
		l.last, l.waits = now, p.Waits
		fmt.Fprintln(l.out, l.text(p, now.Sub(l.began))) //nolint:errcheck // as above
	}
}

// end takes the line from the terminal.
func (l *progressLine) end() {
	if l.terminal {
		fmt.Fprint(l.out, "\r\x1b[K") //nolint:errcheck // as above
	}
}

func (l *progressLine) text(p reconcile.Progress, passed time.Duration) string {
	out := fmt.Sprintf("%s  %.1f %%  %s rows  found %d  suspects %d  limit %d",
		l.what, p.Done*100, grouped(p.Rows), p.Findings, p.Waiting, p.InFlight)
	if p.Waits != "" {
		return out + "  waits: " + p.Waits
	}
	if seconds := passed.Seconds(); p.Done < 1 && seconds >= 1 {
		out += "  " + grouped(int(float64(p.Rows)/seconds)) + "/s"
		if p.Done > 0.01 {
			out += "  left " + time.Duration(float64(passed)/p.Done*(1-p.Done)).Round(time.Second).String()
		}
	}
	return out
}

// grouped writes a number with a comma between thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// fitting cuts a line to the width of the terminal, as the end of one that is longer would stay there.
func fitting(out io.Writer, line string) string {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return line[:min(len(line), width-1)]
		}
	}
	return line
}
