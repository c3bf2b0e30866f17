package hosts

import (
	"context"

	"github.com/gocql/gocql"
)

// Observe gives an observer for the session of the policy, and passes on what it sees to next, unless that is nil: each
// header of a frame is a sign of life. If next is such an observer, of another session, what that passes on to takes its
// place.
func (p *Policy) Observe(next gocql.FrameHeaderObserver) gocql.FrameHeaderObserver {
	if other, ok := next.(*observer); ok {
		next = other.next
	}
	return &observer{policy: p, next: next}
}

type observer struct {
	policy *Policy
	next   gocql.FrameHeaderObserver
}

// ObserveFrameHeader implements [gocql.FrameHeaderObserver].
func (o *observer) ObserveFrameHeader(ctx context.Context, header gocql.ObservedFrameHeader) {
	if !o.policy.observed.Load() {
		o.policy.observed.Store(true)
	}
	if m := o.policy.find(header.Host); m != nil {
		m.breaker.hear()
	}
	if o.next != nil {
		o.next.ObserveFrameHeader(ctx, header)
	}
}
