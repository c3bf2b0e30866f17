package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and elsewhere a line from time to time.
type progress struct {
	out   *screen
	what  string
	total int
	bar   *progressbar.ProgressBar // nil if this is no terminal

	mu       sync.Mutex
	done     int
	lastLine time.Time
}

const betweenLines = 2 * time.Second

func (s *screen) progress(what string, total int) *progress {
	p := &progress{out: s, what: what, total: total, lastLine: time.Now()}
	if s.terminal {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(s),
			progressbar.OptionSetDescription(fmt.Sprintf("%s%-14s", margin, what)),
			progressbar.OptionSetWidth(min(40, s.width-40)), // beside some 40 characters of text
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionUseANSICodes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	s.bar = p
	return p
}

// add counts one. It may be called by several goroutines.
func (p *progress) add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	switch {
	case p.bar != nil:
		_ = p.bar.Add(1) // the screen keeps the error
	case time.Since(p.lastLine) >= betweenLines && p.done < p.total:
		p.lastLine = time.Now()
		p.out.say("%-14s %s of %s", p.what, number(p.done), number(p.total))
	}
}

// clear takes the bar off the screen, also one that is not full.
func (s *screen) clear() {
	if s.bar != nil && s.bar.bar != nil {
		_ = s.bar.bar.Clear() // the screen keeps the error
	}
	s.bar = nil
}
