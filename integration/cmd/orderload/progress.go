package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and elsewhere a line from time to time.
type progress struct {
	out   *os.File
	total int
	bar   *progressbar.ProgressBar // nil if this is no terminal
	line  time.Time                // of the last one
}

const betweenLines = 5 * time.Second

func newProgress(out *os.File, total int) *progress {
	p := &progress{out: out, total: total, line: time.Now()}
	if term.IsTerminal(int(out.Fd())) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription("orders"),
			progressbar.OptionSetWidth(40),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionUseANSICodes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// set is called by one goroutine at a time.
func (p *progress) set(done int) {
	switch {
	case p.bar != nil:
		_ = p.bar.Set(done) // what a terminal does not show is no reason to stop
	case time.Since(p.line) >= betweenLines:
		p.line = time.Now()
		_, _ = fmt.Fprintf(p.out, "orders: %d of %d at most\n", done, p.total)
	}
}

// clear takes the bar off the screen.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // the summary follows all the same
	}
}
