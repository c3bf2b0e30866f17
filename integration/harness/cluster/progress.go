package cluster

import (
	"fmt"
	"io"
	"time"
)

// progress tells a developer what takes long and how long it took.
type progress struct{ out io.Writer }

func (p *progress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, "cluster: "+format+"\n", args...)
}

// step says what begins, and the function it returns says how it ended and after what time.
func (p *progress) step(format string, args ...any) (done func(result string)) {
	start := time.Now()
	p.say(format+" ...", args...)
	return func(result string) {
		p.say("%s after %.1f s", result, time.Since(start).Seconds())
	}
}
