package versioned_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// What a request of the model can end with. Of one that is lost nothing is known, one that is rejected has not been
// done.
var (
	errLost    = errors.New("lost")
	errRefused = errors.New("refused")
	errDead    = errors.New("the client has crashed")
)

// process is a client. Its code is the protocol's own; it stands still in each request until the world lets it go on.
type process struct {
	w      *world
	number int
	skew   int64
	last   int64 // timestamp given
	left   int   // changes to begin
	images [entities]image

	deadline int64 // of the call under way
	dead     bool  // it does nothing any more until the call under way has returned
	calm     bool  // it meets no faults and does not wait
	idle     bool  // it has no changes left

	step func() (struct{}, bool)
	stop func()
	wait func(struct{}) bool
}

// image is what a process remembers of a base row, right or wrong.
type image struct {
	known   bool
	version gocql.UUID
	columns *columns
}

// stored is a change that is kept in order to be sent again, perhaps much later, by any process, several times, and by
// two at the same time. It survives a crash.
type stored struct {
	e             int
	kind          string
	swap          versioned.Swap
	before, after *columns

	id   decide.IDClaim // after the first call, what that knew
	held []decide.Held

	outcome    retry.Outcome // that the call was told which has kept it
	deliveries int
	busy       int // processes that have it in hand
}

// newProcess makes a client that lives as long as the tests, and has a program in each run.
func newProcess(w *world, number int) *process {
	p := &process{w: w, number: number}
	p.step, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.wait = yield
		for {
			for ; p.left > 0 && !p.dead; p.left-- {
				p.operate()
				if p.dead && w.wrong == "" {
					p.dead, p.images = false, [entities]image{} // it starts again
				}
			}
			p.idle = true
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return p
}

func (p *process) reset(skew int64, changes int) {
	p.skew, p.last, p.left, p.images = skew, 0, changes, [entities]image{}
	p.dead, p.calm, p.idle = false, false, false
}

// next is a version of this process's clock, above a timestamp.
func (p *process) next(above int64) gocql.UUID {
	if p.w.plan.id != nil { // entities with one ID are ordered by clocks
		for _, other := range p.w.processes {
			p.last = max(p.last, other.last)
		}
	}
	p.last = max(p.w.now+p.skew, p.last+1)
	t := p.last
	if above >= t {
		t = above + 1 + p.w.rand.Int64N(1000)
	}
	p.w.tokens++
	return entity.Owned(entity.Version(t, p.w.tokens), uint8(p.number%p.w.numbers))
}

// request sends something that does do when it arrives.
func (p *process) request(name string, do func()) error {
	w := p.w
	switch {
	case p.dead:
		return errDead
	case p.calm:
		w.logf("client %d: %s", p.number, name)
		do()
		return nil
	case w.now > p.deadline:
		return context.DeadlineExceeded
	}
	sent := w.now
	p.wait(struct{}{})
	if w.chance(w.chaos.stall) {
		for range 1 << w.rand.IntN(8) {
			p.wait(struct{}{})
		}
	}
	if p.crash() {
		if w.chance(512) {
			w.later(sent, name, do)
		}
		return errDead
	}
	n := w.rand.IntN(1024)
	n -= w.chaos.refused
	if n < 0 {
		w.logf("client %d: %s: refused", p.number, name)
		return errRefused
	}
	n -= w.chaos.delayed
	if n < 0 {
		w.logf("client %d: %s: no answer, still under way", p.number, name)
		w.coverage.delayed = true
		w.later(sent, name, do)
		return errLost
	}
	n -= w.chaos.lost
	if n < 0 && n%2 == 0 || w.now-sent > delay {
		w.logf("client %d: %s: no answer, never arrives", p.number, name)
		return errLost
	}
	do()
	if n < 0 {
		w.logf("client %d: %s: done, no answer", p.number, name)
		return errLost
	}
	w.logf("client %d: %s: done", p.number, name)
	if w.chance(256) {
		p.wait(struct{}{})
		if p.crash() {
			return errDead
		}
		if w.now > p.deadline {
			w.logf("client %d: waits no longer for %s", p.number, name)
			return errLost
		}
	}
	return nil
}

func (p *process) crash() bool {
	if p.dead || p.w.chance(p.w.chaos.crash) {
		p.w.logf("client %d: crashes", p.number)
		p.w.coverage.crash = true
		p.dead = true
	}
	return p.dead
}

// try repeats requests as often as it likes.
func (p *process) try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	for range 1 + p.w.rand.IntN(4) {
		if err = attempt(ctx); err == nil || p.dead || errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if errors.Is(err, errLost) {
			failed = retry.Unknown
		}
	}
	return failed, err
}

// Deadline, Done, Err and Value make the process the context of its call.
func (*process) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*process) Done() <-chan struct{}       { return nil }
func (*process) Value(any) any               { return nil }
func (p *process) Err() error {
	switch {
	case p.dead:
		return errDead
	case p.w.now > p.deadline && !p.calm:
		return context.DeadlineExceeded
	}
	return nil
}
