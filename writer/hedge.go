package writer

import (
	"context"
	"errors"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
)

// hedged sends the request, and when no answer has come for a while sends it once more, to another replica. The first success wins;
// an error waits for the other request, which may still succeed.
func (f *sender) hedged(ctx context.Context) error {
	if limit := f.current.Limit; limit != nil {
		ctx = &req.Request{Attempt: hosts.Attempt{Context: ctx}, Limit: limit} //nolint:contextcheck // ctx is in it
	}
	ctx, cancel := context.WithCancel(ctx) // the loser has nothing to add
	defer cancel()
	type answer struct {
		from *try
		err  error
	}
	answers := make(chan answer, 2)
	under := 0
	send := func(rival *hosts.Attempt) *hosts.Attempt {
		under++
		// Its own: the loser may still be at work when the request makes its next attempt.
		r := &try{attempt: f.current.attempt}
		r.Silence = leastSilence
		f.current.Fork(&r.Attempt)
		if rival != nil {
			r.Avoid(rival)
		}
		f.sent.Add(1)
		go func() {
			r.Begin(ctx)
			answers <- answer{r, r.End(f.s.w.exec.execute(&r.Request, &r.attempt))} //nolint:contextcheck // r is ctx now
		}()
		return &r.Attempt
	}
	first := send(nil)
	timer := time.NewTimer(f.s.w.hedge)
	defer timer.Stop()
	var failures []error
	var second *hosts.Attempt
	for under > 0 {
		select {
		case a := <-answers:
			under--
			f.request.host = session.HostOf(a.from.attempt.host)
			if a.err == nil {
				return nil
			}
			failures = append(failures, f.note(a.err))
		case <-timer.C:
			if len(failures) == 0 && f.s.w.retrier.Spend() {
				second = send(first)
				f.hedges++
			}
		}
	}
	f.current.Avoid(first) // the request's next attempt
	if second == nil {
		return failures[0]
	}
	f.current.Avoid(second)
	return errors.Join(failures...)
}
