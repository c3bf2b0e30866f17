package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

func (s *screen) progress(what string, total int) progress {
	s.bar = progressbar.NewOptions(total,
		progressbar.OptionSetVisibility(s.terminal),
		progressbar.OptionSetWriter(s),
		progressbar.OptionSetDescription(fmt.Sprintf("%s%-14s", margin, what)),
		progressbar.OptionSetWidth(min(40, s.width-40)), // beside some 40 characters of text
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return progress{s.bar}
}

// add counts one. It may be called by several goroutines.
func (p progress) add() { _ = p.bar.Add(1) } // the screen keeps the error

// clear takes the bar off the screen, also one that is not full.
func (s *screen) clear() {
	if s.bar != nil {
		_ = s.bar.Clear() // the screen keeps the error
	}
	s.bar = nil
}
