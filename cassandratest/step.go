package cassandratest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
)

// Step is one action on a request.
type Step struct {
	name  string
	delay time.Duration // before do
	do    func(*turn)
	wrong func(*Cluster) error // says why the step cannot be meant; nil where it can

	answers bool // the client
	ends    bool // the request, so that nothing can answer it after
}

// String returns the name of the step, as in [Request.Steps].
func (s Step) String() string { return s.name }

var (
	// Apply executes the request, without answering.
	Apply = Step{name: "apply", do: func(t *turn) { t.apply(coordinator.Course{}) }}
	// Answer executes the request, unless that has been done, and answers.
	Answer = Step{name: "answer", do: (*turn).reply, answers: true, ends: true}
	// Drop leaves the client without an answer.
	Drop = Step{name: "drop", do: func(t *turn) { t.answered = true }, ends: true}
	// Cut cuts the connection, without an answer.
	Cut = Step{name: "cut", do: func(t *turn) { t.send(chunk{cut: true}) }, ends: true}
)

// ApplyAt applies a write at some of its replicas only, without answering, like a coordinator that dies midway. Of a
// batch of several partitions it sends half. There are no hints for the other replicas. A read finds the write only if
// it asks one of these replicas. The rest of a logged batch follows when the batchlog is replayed.
func ApplyAt(nodes ...int) Step {
	if len(nodes) == 0 {
		panic("cassandratest: ApplyAt without a node")
	}
	return Step{
		name: fmt.Sprintf("apply at %v", nodes), do: func(t *turn) { t.apply(coordinator.Course{Replicas: nodes}) },
		wrong: func(s *Cluster) error { return s.lacks("rule with ApplyAt", nodes) },
	}
}

// The steps that execute part of a write, without answering, like a coordinator that dies midway.
var (
	// StoreBatch writes a logged batch into the batchlog only: it is applied when the batchlog is replayed, 4 to 14
	// seconds later. Writes other than logged batches of several partitions are applied.
	StoreBatch = stage("store batch", coordinator.Stored)
	// Promise gets promises for a lightweight transaction, and proposes nothing. Other writes are applied.
	Promise = stage("promise", coordinator.Promised)
	// Propose makes one replica accept a lightweight transaction. The next transaction for the partition, or a read at
	// SERIAL, either completes it or never learns of it. Other writes are applied.
	Propose = stage("propose", coordinator.Proposed)
	// Accept makes a majority accept a lightweight transaction, and does not commit it. The next transaction for the
	// partition, or a read at SERIAL, completes it. Other writes are applied.
	Accept = stage("accept", coordinator.Accepted)
)

func stage(name string, stage coordinator.Stage) Step {
	return Step{name: name, do: func(t *turn) { t.apply(coordinator.Course{Stage: stage}) }}
}

// Delay waits. The steps after it are done even if the client has cut the connection meanwhile, but not if the node was
// stopped, or is silent. A number without a unit means nanoseconds: Do rejects less than a millisecond, except 0.
func Delay(d time.Duration) Step {
	return Step{
		name: "delay " + d.String(), delay: d, do: func(*turn) {}, wrong: func(*Cluster) error { return short("Delay", d) },
	}
}

// short rejects a time that was not meant.
func short(what string, d time.Duration) error {
	if d == 0 || d >= time.Millisecond {
		return nil
	}
	return fmt.Errorf("a rule with %s of %v: less than a millisecond: give a time.Duration, such as 100 * time.Millisecond", what, d)
}

// part rejects a number of bytes that is negative.
func part(what string, bytes int) error {
	if bytes >= 0 {
		return nil
	}
	return fmt.Errorf("a rule with %s of %d bytes: give 0 or more", what, bytes)
}

// Fail answers with an error.
func Fail(e Error) Step {
	return Step{
		name: e.name, do: func(t *turn) { t.send(chunk{bytes: e.frame(t.request)}) }, answers: true, ends: true,
		wrong: func(*Cluster) error {
			if e.name == "" {
				return errors.New("a rule with Fail of Error{}: give one of the package, such as Overloaded, or Code")
			}
			return e.wrong
		},
	}
}

// CutAfter executes the request, unless that has been done, sends the given number of bytes of the answer, and cuts the
// connection. A frame has a header of 9 bytes; the answer to a write is 13 bytes long.
func CutAfter(bytes int) Step {
	return Step{name: fmt.Sprintf("cut after %d bytes", bytes), do: func(t *turn) {
		t.send(chunk{bytes: t.head(bytes), cut: true})
	}, wrong: func(*Cluster) error { return part("CutAfter", bytes) }}
}

// StallAfter executes the request, unless that has been done, and sends the given number of bytes of the answer. The
// rest, and all further answers on the connection, follow after d, or never if d is 0. Do rejects a d of less than a
// millisecond, as for [Delay].
func StallAfter(bytes int, d time.Duration) Step {
	return Step{name: fmt.Sprintf("stall after %d bytes", bytes), do: func(t *turn) {
		t.done()
		stall := d
		if stall == 0 {
			stall = -1
		}
		head := t.head(bytes)
		t.send(chunk{bytes: head, stall: stall})
		t.send(chunk{bytes: t.frame()[len(head):]})
	}, wrong: func(*Cluster) error { return cmp.Or(part("StallAfter", bytes), short("StallAfter", d)) }}
}

// turn is the handling of one request.
type turn struct {
	conn     *conn
	request  *Request
	result   *answer // of applying it; nil before
	answered bool
}

// take does the steps, and what they leave open. From the first delay on they are done on a goroutine of their own.
func (t turn) take(steps []Step) {
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.delay > 0 }) {
		t.steps(steps)
		return
	}
	t.conn.node.cluster.wg.Go(func() { t.steps(steps) })
}

func (t *turn) steps(steps []Step) {
	s := t.conn.node.cluster
	for _, step := range steps {
		if step.delay > 0 && !wait(step.delay, s.done) || !t.conn.node.thawed(s.done) {
			return
		}
		if step.delay > 0 && !t.conn.heard() {
			s.note(t.request, "lost with the node")
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

func (t *turn) apply(course coordinator.Course) {
	a := t.conn.process(t.request, course)
	t.result = &a
}

// done carries the request out, unless that has been done.
func (t *turn) done() {
	if t.result == nil {
		t.apply(coordinator.Course{})
	}
}

func (t *turn) frame() []byte {
	t.done()
	if t.result.message == nil {
		return nil
	}
	return encode(t.request.Stream, t.result.message)
}

// head is the begin of the answer.
func (t *turn) head(bytes int) []byte {
	f := t.frame()
	return f[:max(0, min(bytes, len(f)))]
}

// reply answers, when the node would.
func (t *turn) reply() {
	f := t.frame()
	if t.result.after == 0 {
		t.send(chunk{bytes: f})
		return
	}
	t.answered = true
	after, conn := t.result.after, t.conn
	conn.node.cluster.wg.Go(func() {
		if wait(after, conn.node.cluster.done) {
			conn.send(chunk{bytes: f})
		}
	})
}

func (t *turn) send(c chunk) {
	t.answered = true
	t.conn.send(c)
}
