package wire

import (
	"fmt"
	"slices"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
)

// Step is one thing that is done with a request.
type Step struct {
	name  string
	delay time.Duration // before do
	do    func(*turn)
}

// String names the step, as [Request.Steps] does.
func (s Step) String() string { return s.name }

var (
	// Apply carries the request out, without answering.
	Apply = Step{name: "apply", do: (*turn).apply}
	// Answer carries the request out, unless that has been done, and answers.
	Answer = Step{name: "answer", do: (*turn).reply}
	// Drop leaves the client without an answer.
	Drop = Step{name: "drop", do: func(t *turn) { t.answered = true }}
	// Cut cuts the connection, without an answer.
	Cut = Step{name: "cut", do: func(t *turn) { t.send(chunk{cut: true}) }}
)

// Delay waits. What comes after it happens also if the client has cut the connection meanwhile.
func Delay(d time.Duration) Step {
	return Step{name: "delay " + d.String(), delay: d, do: func(*turn) {}}
}

// Fail answers with an error.
func Fail(e Error) Step {
	return Step{name: e.name, do: func(t *turn) { t.send(chunk{bytes: e.frame(t.request)}) }}
}

// CutAfter carries the request out, unless that has been done, sends so many bytes of the answer, and cuts the
// connection. A frame has a header of 9 bytes; the answer to a write is 13 bytes long.
func CutAfter(bytes int) Step {
	return Step{name: fmt.Sprintf("cut after %d bytes", bytes), do: func(t *turn) {
		t.send(chunk{bytes: t.head(bytes), cut: true})
	}}
}

// StallAfter carries the request out, unless that has been done, and sends so many bytes of the answer. The rest, and all
// further answers on the connection, follow after d, or never if it is 0.
func StallAfter(bytes int, d time.Duration) Step {
	return Step{name: fmt.Sprintf("stall after %d bytes", bytes), do: func(t *turn) {
		t.apply()
		stall := d
		if stall == 0 {
			stall = -1
		}
		t.send(chunk{bytes: t.head(bytes), stall: stall})
		t.send(chunk{bytes: t.frame()[bytes:]})
	}}
}

// turn is the handling of one request.
type turn struct {
	conn     *conn
	request  *Request
	result   message.Message // of applying it; nil before
	answered bool
}

// take does the steps, and what they leave open. From the first delay on they are done on a goroutine of their own.
func (t turn) take(steps []Step) {
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.delay > 0 }) {
		t.steps(steps)
		return
	}
	t.conn.node.server.wg.Go(func() { t.steps(steps) })
}

func (t *turn) steps(steps []Step) {
	s := t.conn.node.server
	for _, step := range steps {
		if step.delay > 0 && !wait(step.delay, s.done) || !t.conn.node.thawed(s.done) {
			return
		}
		s.note(t.request, step.name)
		step.do(t)
	}
	if !t.answered {
		s.note(t.request, Answer.name)
		t.reply()
	}
}

func (t *turn) apply() { t.result = t.conn.process(t.request) }

func (t *turn) frame() []byte {
	if t.result == nil {
		t.apply()
	}
	return encode(t.request.Stream, t.result)
}

// head is the begin of the answer.
func (t *turn) head(bytes int) []byte {
	f := t.frame()
	return f[:min(bytes, len(f))]
}

func (t *turn) reply() { t.send(chunk{bytes: t.frame()}) }

func (t *turn) send(c chunk) {
	t.answered = true
	t.conn.send(c)
}
