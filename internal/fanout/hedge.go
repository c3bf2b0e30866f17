package fanout

import (
	"context"
	"errors"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
)

// hedged sends the request, and when no answer has come for a while sends it once more, to another replica. The first
// success wins; an error waits for the other request, which may still succeed.
func (t *task) hedged(ctx context.Context) error {
	if limit := t.current.Limit; limit != nil {
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
		r := &try{attempt: t.current.attempt}
		t.current.Fork(&r.Attempt)
		if rival != nil {
			r.Avoid(rival)
		}
		t.sent.Add(1)
		go func() {
			r.Begin(ctx)
			answers <- answer{r, r.End(t.flight.sender.Exec.Execute(&r.Request, &r.attempt))} //nolint:contextcheck // r is ctx now
		}()
		return &r.Attempt
	}
	first := send(nil)
	timer := time.NewTimer(t.flight.sender.Hedge)
	defer timer.Stop()
	var failures []error
	var second *hosts.Attempt
	for under > 0 {
		select {
		case a := <-answers:
			under--
			t.request.Host = session.HostOf(a.from.attempt.Host)
			if a.err == nil {
				return nil
			}
			failures = append(failures, t.note(a.err))
		case <-timer.C:
			if len(failures) == 0 && t.flight.sender.Retrier.Spend() {
				second = send(first)
				t.hedges++
			}
		}
	}
	t.current.Avoid(first) // the request's next attempt
	if second == nil {
		return failures[0]
	}
	t.current.Avoid(second)
	return errors.Join(failures...)
}
